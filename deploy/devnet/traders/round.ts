import type { Hex } from "viem";
import type { Address, Transaction } from "../node/transactions.ts";
import type { Random } from "../random.ts";

/** What one block is to hold of one kind: first what must be read from the chain, then the transactions that follow from it. */
export interface Round {
  readonly reads: readonly { readonly to: Address; readonly data: Hex }[];
  /** Answers are in the reads' order; the time is the block's. */
  plan(answers: readonly Hex[], timeS: number): readonly Planned[];
}

export interface Planned {
  /** Who has to send it; absent = anybody. */
  readonly from?: Address;
  make(from: Address): Transaction;
}

/** Different senders within one block: the node then numbers every transaction rightly by itself. What finds none is left out. */
export function deal(
  planned: readonly Planned[],
  accounts: readonly Address[],
  random: Random,
): Transaction[] {
  const taken = new Set<Address>();
  const bound = planned.flatMap(({ from, make }) => {
    if (from === undefined || taken.has(from)) return [];
    taken.add(from);
    return [make(from)];
  });
  const start = random.below(accounts.length);
  const step = 1 + random.below(Math.max(1, accounts.length - 1));
  const free = planned.filter(({ from }) => from === undefined).slice(0, accounts.length - taken.size);
  const dealt = free.map(({ make }, i) => {
    let at = (start + i * step) % accounts.length;
    while (taken.has(accounts[at] as Address)) at = (at + 1) % accounts.length;
    const from = accounts[at] as Address;
    taken.add(from);
    return make(from);
  });
  return [...dealt, ...bound];
}

export function poisson(random: Random, mean: number): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random.next(); product > limit; product *= random.next()) count++;
  return count;
}

/** Indexes of items, each as often as its weight says. */
export function wheelOf(items: readonly { readonly spec: { readonly weight: number } }[]): number[] {
  return items.flatMap(({ spec }, i) => Array.from({ length: spec.weight }, () => i));
}

/** The size of one swap in USD: spread around the pool's median, now and then far larger, never more than a tenth of its depth. */
export function swapSize(
  { swapUsd, depthUsd }: { swapUsd: number; depthUsd: number },
  random: Random,
): number {
  const rare = random.next() < 0.02 ? 8 : 1;
  return Math.min(swapUsd * rare * Math.exp(0.9 * random.normal()), depthUsd / 10);
}

/** Whether token0 goes in: the further the price is above its target, the likelier. */
export function towards(distance: number, random: Random): boolean {
  return random.next() < Math.min(0.95, Math.max(0.05, 0.5 + 0.3 * distance));
}

export function toRaw(usd: number, token: { usd: number; decimals: number }): bigint {
  return BigInt(Math.ceil((usd / token.usd) * 10 ** token.decimals));
}
