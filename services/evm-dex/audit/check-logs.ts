import type { Hex } from "../../shared/evm/port.ts";
import { type LpPosition, positionText } from "../metrics/lp-position.ts";
import type { TokenPrice } from "../price/link.ts";
import { protocolOf } from "../protocols/index.ts";
import type { PoolEvent } from "../protocols/protocol.ts";
import type { PancakeSwapEvent } from "../protocols/v3/events.ts";
import { type PoolEventRow, type PoolRow, poolEvents } from "../store/collections.ts";
import { readPrices } from "../store/price-links.ts";
import { getPoolState, lastEventUpTo, OLDEST_FIRST } from "../store/queries.ts";
import { lpEvents, lpPositions } from "../store/v2-collections.ts";
import { lastLpEventBefore } from "../store/v2-queries.ts";
import { amountsOf, type PricedSwap, rounded, USD_STEP, valuedWith, valueInOf } from "./check-values.ts";
import { compareRows } from "./compare-rows.ts";
import type { Finding } from "./finding.ts";
import { type Replayed, replay, type TimedLog } from "./replay.ts";
import type { AuditRpc } from "./rpc.ts";
import type { PoolScope } from "./scope.ts";
import { chooseStretches, type Stretch } from "./stretches.ts";

/** feeUsd of PancakeSwap: what came in × fee, less what the protocol took of it. Source: PancakeV3Pool.swap. */
function pancakeFeeUsd(pool: PoolRow, swap: PricedSwap, event: PoolEvent): number | null {
  const { amount0, amount1, protocolFees } = event as PancakeSwapEvent;
  const [amountIn, taken] = amount0 > 0n ? [amount0, protocolFees.amount0] : [amount1, protocolFees.amount1];
  const fee = (Number(amountIn) * pool.fee) / 1e6;
  const kept = fee > 0 ? Math.max(0, 1 - Number(taken) / fee) : 1;
  const valueIn = valueInOf(swap);
  return rounded(valueIn === null ? null : ((valueIn * pool.fee) / 1e6) * kept);
}

/** The stored events of a stretch of blocks against those that its logs lead to: none missing, none too many. */
function compareEvents(
  pool: PoolRow,
  stored: readonly PoolEventRow[],
  replayed: Replayed["events"],
  /** By block, for pools whose fees only logs tell. */
  prices: ReadonlyMap<number, ReadonlyMap<string, TokenPrice>>,
): Finding[] {
  const rowOf = new Map(stored.map((row) => [`${row.blockNumber}:${row.logIndex}`, row]));
  const expected = replayed.map(({ event, ...row }) => {
    const there = rowOf.get(`${row.blockNumber}:${row.logIndex}`);
    const usd = there === undefined ? undefined : prices.get(there.blockNumber);
    if (event.kind !== "swap" || there === undefined || usd === undefined) return row;
    const [price0Usd, price1Usd] = valuedWith(pool, there, usd);
    const swap = { ...amountsOf(pool, there), price0Usd, price1Usd };
    return { ...row, feeUsd: pancakeFeeUsd(pool, swap, event) };
  });
  const step = USD_STEP;
  return compareRows({ collection: poolEvents, pool: pool.poolAddress, stored, expected, step });
}

/** Every event and LP event of some stretches of blocks against the node's logs. */
export async function* checkLogs(scope: PoolScope, rpc: AuditRpc): AsyncGenerator<Finding[]> {
  const { pool, store } = scope;
  const { chainId, poolAddress } = pool;
  for (const stretch of await chooseStretches(scope)) {
    const { fromBlock, toBlock } = stretch;
    const ends = await rpc.times([fromBlock, toBlock]);
    const time = { gte: ends.get(fromBlock) as number, lte: ends.get(toBlock) as number };
    const blockNumber = { gte: fromBlock, lte: toBlock };
    const logs = await logsOf(scope, rpc, stretch);
    const stored = await store.find(poolEvents, {
      filter: { chainId, poolAddress, time, blockNumber },
      order: OLDEST_FIRST,
    });
    const before = await lastEventUpTo(store, { chainId, poolAddress, block: fromBlock - 1, time: time.gte });
    const start = { state: before?.state ?? (await anchorOf(scope)), gauges: scope.gauges };
    // Once for the wallets, whose positions before it the second time starts from.
    const { positions: moved } = replay(pool, logs, { ...start, positions: new Map() });
    const wallets = new Set(moved.map(({ wallet }) => wallet));
    const positions = await positionsBefore(scope, wallets, time.gte);
    const replayed = replay(pool, logs, { ...start, positions });
    yield compareEvents(pool, stored, replayed.events, await pancakePrices(scope, stored));
    if (protocolOf(pool.protocol).lpTokens === undefined) continue;
    yield compareRows({
      collection: lpEvents,
      pool: poolAddress,
      stored: await store.find(lpEvents, { filter: { chainId, blockNumber, poolAddress } }),
      expected: replayed.positions,
    });
  }
}

/** Prices at the ends of blocks with swaps of a PancakeSwap pool; of no other. */
async function pancakePrices(
  { pool, store }: PoolScope,
  rows: readonly PoolEventRow[],
): Promise<Map<number, ReadonlyMap<string, TokenPrice>>> {
  const prices = new Map<number, ReadonlyMap<string, TokenPrice>>();
  const tokens = [pool.token0Address, pool.token1Address];
  for (const { blockNumber: block, kind } of pool.protocol === "pancake-v3" ? rows : [])
    if (kind === "swap" && !prices.has(block))
      prices.set(block, await readPrices(store, { chainId: pool.chainId, tokens, block }));
  return prices;
}

async function logsOf(
  { deployments, gauges, pool }: PoolScope,
  rpc: AuditRpc,
  stretch: Stretch,
): Promise<TimedLog[]> {
  const protocol = protocolOf(pool.protocol);
  const factory = deployments?.factories.find(({ address }) => address === pool.dexAddress);
  const voters = [factory?.rewards?.voter, ...gauges.map(({ voter }) => voter)];
  const addresses = new Set([pool.poolAddress, ...gauges.map(({ gauge }) => gauge)]);
  if (protocol.factoryDecoders !== undefined) addresses.add(pool.dexAddress);
  if (protocol.gauges !== undefined)
    for (const voter of voters) if (voter !== undefined) addresses.add(voter);
  const { decoders, factoryDecoders = [], gauges: ofGauges, lpTokens } = protocol;
  const topics: Hex[] = [
    ...[...decoders, ...factoryDecoders].map(({ topic }) => topic),
    ...(ofGauges === undefined
      ? []
      : [ofGauges.created, ...ofGauges.voter, ...ofGauges.own].map(({ topic }) => topic)),
    ...(lpTokens === undefined ? [] : [lpTokens.transfer.topic]),
  ];
  const logs = await rpc.logs({ addresses: [...addresses], topics: [...new Set(topics)], ...stretch });
  const times = await rpc.times(logs.map((log) => Number(log.blockNumber)));
  return logs.map((log) => ({ log, time: times.get(Number(log.blockNumber)) as number }));
}

/** The pool's state before its first indexed event. */
async function anchorOf({ pool, state, store }: PoolScope): Promise<string> {
  if (state !== undefined) return state.anchor;
  const protocol = protocolOf(pool.protocol);
  return (await getPoolState(store, pool))?.state ?? protocol.write(protocol.initialState(pool));
}

async function positionsBefore(
  { pool, store }: PoolScope,
  wallets: ReadonlySet<string>,
  time: number,
): Promise<Map<string, LpPosition>> {
  const { chainId, poolAddress } = pool;
  const positions = new Map<string, LpPosition>();
  for (const wallet of wallets) {
    const last = await lastLpEventBefore(store, { chainId, wallet, poolAddress, time });
    const text = last?.position ?? (await store.get(lpPositions, { chainId, wallet, poolAddress }))?.anchor;
    if (text !== undefined) positions.set(wallet, positionText.read(text));
  }
  return positions;
}
