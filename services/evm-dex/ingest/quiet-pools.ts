import { type EvmSource, UpstreamError } from "../../shared/evm/port.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { protocolOf } from "../protocols/index.ts";
import { type PoolRow, pools, type QuietPoolRow, quietPools } from "../store/collections.ts";
import { getPoolStates, getQuietPools } from "../store/queries.ts";
import { askStates, type PoolThen } from "./past-states.ts";
import { GaugeBook } from "./state/gauge-book.ts";

/** Pools looked up at once; of those without events, as many are asked at once as one JSON-RPC batch holds. */
const PAGE = 1_000;
const BATCH = 25;
const RETRY_MS = 5_000;

export interface QuietPoolsOptions {
  readonly store: Store;
  readonly source: EvmSource;
  /** First indexed block. */
  readonly fromBlock: number;
  /** At most so many pools a second. */
  readonly perSecond: number;
  readonly guard: Guard;
  readonly signal: AbortSignal;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Reads once where pools stand that have had no event since the index began: what they were just before it is what
 * they are. An event that comes later has its own way (anchors.ts) and makes the row idle. Nothing else stands on
 * these rows, prices least of all: a price at a block must not depend on when a pool came by here. Where nodes have
 * forgotten that block, the head tells the same but for what was given to a pool without an event. Killed and started
 * again, it passes over what is done. Answers how many pools it read.
 */
export async function readQuietPools(of: QuietPoolsOptions): Promise<number> {
  const { store, signal } = of;
  const gauges = new GaugeBook();
  await gauges.load(store, of.source.chainId);
  let read = 0;
  for await (const batch of silentPools(of)) {
    while (!signal.aborted) {
      try {
        const rows = await standingsOf(of, { batch, gauges });
        if (rows.length > 0) await store.write([...of.guard(), put(quietPools, rows)]);
        read += rows.length;
        break;
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        await of.pause(RETRY_MS, signal);
      }
    }
    await of.pause((batch.length / of.perSecond) * 1_000, signal);
  }
  return read;
}

/** Pools older than the index that neither have had an event nor are read yet, in batches. */
async function* silentPools(of: QuietPoolsOptions): AsyncGenerator<PoolRow[]> {
  const { store, fromBlock, signal } = of;
  const { chainId } = of.source;
  let after = "";
  while (!signal.aborted) {
    const page = await store.find(pools, {
      filter: { chainId, poolAddress: { gt: after } },
      limit: PAGE,
    });
    const older = page.filter((row) => row.createdBlock < fromBlock);
    const addresses = older.map((row) => row.poolAddress);
    const known = new Set(
      [
        ...(await getPoolStates(store, { chainId, addresses })),
        ...(await getQuietPools(store, { chainId, addresses })),
      ].map((row) => row.poolAddress),
    );
    const silent = older.filter((row) => !known.has(row.poolAddress));
    for (let at = 0; at < silent.length && !signal.aborted; at += BATCH) yield silent.slice(at, at + BATCH);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.poolAddress;
  }
}

async function standingsOf(
  of: QuietPoolsOptions,
  { batch, gauges }: { batch: readonly PoolRow[]; gauges: GaugeBook },
): Promise<QuietPoolRow[]> {
  const before = of.fromBlock - 1;
  const pools = batch.map((row) => ({ row, gauge: gauges.at(row.poolAddress, before) }));
  const rows = await askAt(of.source, { pools, block: before });
  const missed = pools.filter(({ row }) => !rows.has(row.poolAddress));
  if (missed.length > 0) {
    const { number } = await of.source.head();
    for (const [pool, row] of await askAt(of.source, { pools: missed, block: number })) rows.set(pool, row);
  }
  return [...rows.values()];
}

async function askAt(
  source: EvmSource,
  of: { pools: readonly Omit<PoolThen, "block">[]; block: number },
): Promise<Map<string, QuietPoolRow>> {
  const { block } = of;
  const states = await askStates(
    source,
    of.pools.map((pool) => ({ ...pool, block })),
  );
  const rows = new Map<string, QuietPoolRow>();
  for (const [i, { row }] of of.pools.entries()) {
    const found = states[i];
    if (found === undefined) continue;
    rows.set(row.poolAddress, {
      chainId: row.chainId,
      poolAddress: row.poolAddress,
      state: protocolOf(row.protocol).write(found.state),
      balance0: found.balances.amount0,
      balance1: found.balances.amount1,
      balanceBlock: block,
    });
  }
  return rows;
}
