import { decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { poolAbi, positionKey } from "./contracts/uniswap.ts";
import { type Action, type Address, type Order, type Range, sendOrders } from "./desk.ts";
import type { TokenSymbol } from "./market.ts";
import type { Deployment } from "./plan.ts";
import { basePositions, type DeployedPool } from "./pools.ts";
import { createRandom, type Random } from "./random.ts";
import type { Rpc } from "./rpc.ts";
import { rangeAround } from "./ticks.ts";

export interface TradeOptions {
  /** Unix seconds of the block; absent = now. Moved up where the chain's head is not older. */
  readonly timestamp?: number;
  /** Mean number of swap transactions; absent = 2. */
  readonly swaps?: number;
}

export interface TradedBlock {
  readonly number: number;
  readonly timestamp: number;
  readonly transactions: readonly Hex[];
}

/** Traders keep no state but their dice: prices, balances and positions are read from the chain, so days and restarts do not matter. */
export interface Traders {
  /** Sends the transactions of one block, each from another account, and mines it. */
  tradeBlock(options?: TradeOptions): Promise<TradedBlock>;
}

export function createTraders(rpc: Rpc, deployment: Deployment, options: { seed?: number } = {}): Traders {
  const random = createRandom(options.seed ?? 1);
  const { pools, desk, accounts } = deployment;
  const prepared = pools.map((pool) => ({
    pool,
    positions: traderPositions(pool),
    fixed: basePositions(pool),
  }));
  const wheel = pools.flatMap((pool, i) => Array.from({ length: pool.spec.weight }, () => i));

  return {
    async tradeBlock({ timestamp, swaps = 2 } = {}) {
      const chosen = Array.from({ length: poisson(random, swaps) }, () => random.pick(wheel));
      // Live, the first pool trades in every block: whoever looks twice sees it move.
      if (timestamp === undefined) chosen.push(0);
      const dealt = random.next() < 0.12 ? random.below(prepared.length) : undefined;
      const position = random.below(TRADER_RANGES.length);
      const reads: { to: Address; data: Hex }[] = chosen.map((i) => ({
        to: (pools[i] as DeployedPool).address,
        data: SLOT0,
      }));
      if (dealt !== undefined) {
        const { pool, positions } = prepared[dealt] as (typeof prepared)[number];
        const { lower, upper } = positions[position] as Range;
        const args = [positionKey(desk, lower, upper)] as const;
        reads.push({
          to: pool.address,
          data: encodeFunctionData({ abi: poolAbi, functionName: "positions", args }),
        });
      }
      const [head, ...answers] = await rpc.batch<unknown>([
        { method: "eth_getBlockByNumber", params: ["latest", false] },
        ...reads.map((call) => ({ method: "eth_call", params: [call, "latest"] })),
      ]);
      const parent = head as { number: Hex; timestamp: Hex };
      const timeS = Math.max(timestamp ?? Math.floor(Date.now() / 1000), Number(parent.timestamp) + 1);

      const batches = chosen.map((i, at): Action[] => {
        const pool = pools[i] as DeployedPool;
        const [, tick] = decodeFunctionResult({
          abi: poolAbi,
          functionName: "slot0",
          data: answers[at] as Hex,
        });
        return [swapTowards(pool, { tick, target: targetTick(pool, timeS) }, random)];
      });
      if (dealt !== undefined) {
        const { pool, positions, fixed } = prepared[dealt] as (typeof prepared)[number];
        const data = answers.at(-1) as Hex;
        const [held] = decodeFunctionResult({ abi: poolAbi, functionName: "positions", data });
        const range = positions[position] as Range;
        batches.push(
          dealLiquidity({ pool: pool.address, range, held, base: fixed[0]?.liquidity ?? 0n }, random),
        );
      }
      if (random.next() < 0.005) batches.push([flashSome(random.pick(pools), random)]);
      if (random.next() < 0.005) batches.push(harvest(random.pick(prepared)));
      // Now and then a trade takes two pools in one transaction.
      if (batches.length > 2 && random.next() < 0.1) batches.splice(0, 2, batches.slice(0, 2).flat());

      const orders = deal(batches, accounts.slice(1), random);
      const transactions = orders.length > 0 ? await sendOrders(rpc, desk, orders) : [];
      await rpc.call("evm_setNextBlockTimestamp", [timeS]);
      await rpc.call("evm_mine");
      return { number: Number(parent.number) + 1, timestamp: timeS, transactions };
    },
  };
}

const SLOT0 = encodeFunctionData({ abi: poolAbi, functionName: "slot0" });

/** Half widths in ticks of the positions that traders open and close. */
const TRADER_RANGES = [400, 800, 1_400, 3_000] as const;

function traderPositions({ startTick, tickSpacing }: DeployedPool): Range[] {
  return TRADER_RANGES.map((halfWidth) => rangeAround(startTick, halfWidth, tickSpacing));
}

function poisson(random: Random, mean: number): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random.next(); product > limit; product *= random.next()) count++;
  return count;
}

/** Different senders within one block: the node then numbers every transaction rightly by itself. */
function deal(batches: readonly Action[][], accounts: readonly Address[], random: Random): Order[] {
  const start = random.below(accounts.length);
  const step = 1 + random.below(Math.max(1, accounts.length - 1));
  const taken = new Set<Address>();
  return batches.slice(0, accounts.length).map((actions, i) => {
    let at = (start + i * step) % accounts.length;
    while (taken.has(accounts[at] as Address)) at = (at + 1) % accounts.length;
    const from = accounts[at] as Address;
    taken.add(from);
    return { from, actions };
  });
}

const DOLLARS: ReadonlySet<TokenSymbol> = new Set(["USDC", "DAI"]);
const DAY_S = 86_400;

/** How far a token's USD price has wandered from its start, in ticks: a function of time alone, so a restart goes on in it. */
export function wanderTicks(symbol: string, timeS: number): number {
  if (DOLLARS.has(symbol as TokenSymbol)) return 0;
  const phase = [...symbol].reduce((sum, character) => sum + character.charCodeAt(0) * 1.7, 0);
  const wave = (periodS: number, amplitude: number) =>
    amplitude * Math.sin((2 * Math.PI * timeS) / periodS + phase);
  return wave(2.6 * DAY_S, 160) + wave(5.3 * 3_600, 60) + wave(41 * 60, 14);
}

function targetTick({ startTick, token0, token1 }: DeployedPool, timeS: number): number {
  return startTick + wanderTicks(token0.symbol, timeS) - wanderTicks(token1.symbol, timeS);
}

/** A swap of random size; the further the price is from its target, the likelier it leads back. */
function swapTowards(pool: DeployedPool, at: { tick: number; target: number }, random: Random): Action {
  const above = (at.tick - at.target) / 60;
  const zeroForOne = random.next() < Math.min(0.95, Math.max(0.05, 0.5 + 0.3 * above));
  const rare = random.next() < 0.02 ? 8 : 1;
  const wanted = pool.spec.swapUsd * rare * Math.exp(0.9 * random.normal());
  const usd = Math.min(wanted, pool.spec.depthUsd / 10);
  const exactOutput = random.next() < 0.1;
  const token = zeroForOne !== exactOutput ? pool.token0 : pool.token1;
  const amount = toRaw(usd, token);
  return { kind: "swap", pool: pool.address, zeroForOne, amount: exactOutput ? -amount : amount };
}

function toRaw(usd: number, token: { usd: number; decimals: number }): bigint {
  return BigInt(Math.ceil((usd / token.usd) * 10 ** token.decimals));
}

interface Held {
  readonly pool: Address;
  readonly range: Range;
  /** Liquidity that the desk has in the range now. */
  readonly held: bigint;
  /** Liquidity of the pool's narrowest lasting position, as the measure. */
  readonly base: bigint;
}

/** Opens, adds to, reduces or closes one position, so that what traders hold stays between nothing and a tenth of the pool's. */
function dealLiquidity({ pool, range, held, base }: Held, random: Random): Action[] {
  const step = (base * BigInt(5 + random.below(30))) / 1_000n;
  const full = held > base / 10n;
  if (held === 0n || (!full && random.next() < 0.5))
    return [{ kind: "mint", pool, ...range, liquidity: step }];
  const removed = full || random.next() < 0.5 || step > held ? held : step;
  return [
    { kind: "burn", pool, ...range, liquidity: removed },
    { kind: "collect", pool, ...range },
  ];
}

function flashSome(pool: DeployedPool, random: Random): Action {
  const usd = pool.spec.swapUsd * (1 + random.below(5));
  return { kind: "flash", pool: pool.address, amount0: toRaw(usd, pool.token0), amount1: 0n };
}

/** Takes the fees of a lasting position. */
function harvest({ pool, fixed }: { pool: DeployedPool; fixed: readonly Range[] }): Action[] {
  const { lower, upper } = fixed[0] as Range;
  return [
    { kind: "burn", pool: pool.address, lower, upper, liquidity: 0n },
    { kind: "collect", pool: pool.address, lower, upper },
  ];
}

export interface RunOptions {
  readonly blockTimeMs: number;
  readonly signal: AbortSignal;
  /** Called after each block. */
  readonly onBlock?: (block: TradedBlock) => void;
}

/** Trades a block every `blockTimeMs` until the signal; a pause of the machine is not made up for. Rejects if the node fails. */
export async function runTraders(
  traders: Traders,
  { blockTimeMs, signal, onBlock }: RunOptions,
): Promise<void> {
  let due = Date.now();
  while (!signal.aborted) {
    onBlock?.(await traders.tradeBlock());
    due = Math.max(due + blockTimeMs, Date.now());
    await sleep(due - Date.now(), signal);
  }
}

function sleep(timeMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, timeMs);
    signal.addEventListener("abort", wake);
  });
}
