import { encodeCall, readUint } from "../../../shared/evm/abi.ts";
import { BlockUnavailable, CallTooHeavy, type EthCall, type Hex } from "../../../shared/evm/port.ts";
import type { PoolEntry } from "../state/pool-book.ts";
import { balanceBlockAt } from "./balance-turns.ts";
import type { StateSource } from "./block-states.ts";

export const BALANCE_OF = "0x70a08231";

/**
 * balanceOf(pool) of a pool's two tokens, pinned to the block's hash where that is known. A single endpoint's revert
 * does not count.
 */
export function balanceCalls(
  pool: PoolEntry["row"],
  block: number,
  blockHash?: string | undefined,
): [EthCall, EthCall] {
  const data = encodeCall(BALANCE_OF, [pool.poolAddress as Hex]);
  const at = { block, ...(blockHash !== undefined && { blockHash: blockHash as Hex }), confirmRevert: true };
  return [
    { to: pool.token0Address as Hex, data, ...at },
    { to: pool.token1Address as Hex, data, ...at },
  ];
}

/** The balance in return data; null where the call failed or returned no word. */
export function readBalance(returned: Hex | null | undefined): bigint | null {
  return returned === null || returned === undefined || returned.length < 66 ? null : readUint(returned, 0);
}

/**
 * Reads the balances of pools at the block of their last event, or of their turn after it. Both follow from the pool's
 * events and the head, which makes balances a function of the chain. The block is named by its hash where `hashOf` has
 * it. Where nodes lack that state, it reads `head`. Tokens that fail at both keep the sums of their events, as do
 * pools whose events hold their reserves.
 */
export async function observeBalances(
  source: StateSource,
  at: { pools: readonly PoolEntry[]; head: number; hashOf?: (block: number) => string | undefined },
): Promise<void> {
  const hashOf = at.hashOf ?? (() => undefined);
  const all = at.pools
    .map((entry) => ({ entry, block: balanceBlockAt(entry, at.head) }))
    .filter(({ entry, block }) => entry.balanceBlock < block);
  const [stale, ofEvents] = [
    all.filter(({ entry }) => entry.protocol.tvlSource === "balances"),
    all.filter(({ entry }) => entry.protocol.tvlSource === "reserves"),
  ];
  const missed = await observeAtHash(
    source,
    stale.map(({ entry, block }) => ({ entry, block, hash: hashOf(block) })),
  );
  const still = await observeAt(
    source,
    missed.map((entry) => ({ entry, block: at.head })),
  );
  for (const entry of [...still, ...ofEvents.map(({ entry }) => entry)]) {
    const reserves = entry.protocol.reserves(entry.state);
    entry.balance0 = reserves.amount0;
    entry.balance1 = reserves.amount1;
    entry.balanceBlock = balanceBlockAt(entry, at.head);
  }
}

interface BalanceRequest {
  readonly entry: PoolEntry;
  readonly block: number;
  readonly hash?: string | undefined;
}

/** Calls by hash fail together where one state is gone: then it reads them by number. */
async function observeAtHash(source: StateSource, wanted: readonly BalanceRequest[]): Promise<PoolEntry[]> {
  try {
    return await observeAt(source, wanted);
  } catch (error) {
    if (!(error instanceof BlockUnavailable) && !(error instanceof CallTooHeavy)) throw error;
    return observeAt(
      source,
      wanted.map(({ entry, block }) => ({ entry, block })),
    );
  }
}

async function observeAt(source: StateSource, wanted: readonly BalanceRequest[]): Promise<PoolEntry[]> {
  if (wanted.length === 0) return [];
  const results = await source.call(
    wanted.flatMap(({ entry, block, hash }) => balanceCalls(entry.row, block, hash)),
  );
  const missed: PoolEntry[] = [];
  wanted.forEach(({ entry, block }, i) => {
    const balance0 = readBalance(results[2 * i]);
    const balance1 = readBalance(results[2 * i + 1]);
    if (balance0 === null || balance1 === null) missed.push(entry);
    else Object.assign(entry, { balance0, balance1, balanceBlock: block });
  });
  return missed;
}
