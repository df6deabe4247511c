import { type EvmSource, UpstreamError } from "../../../shared/evm/port.ts";
import type { Guard } from "../../../shared/storage/lease.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { protocolOf } from "../../protocols/index.ts";
import { type InactivePoolRow, inactivePools, type PoolRow, pools } from "../../store/collections.ts";
import { getInactivePools, getPoolStates } from "../../store/queries.ts";
import { GaugeBook } from "../state/gauge-book.ts";
import { type PoolAtBlock, readPastStates } from "./past-states.ts";

/** Pools looked up at once; those without events are read in groups that fit one JSON-RPC batch. */
const PAGE = 1_000;
const BATCH = 25;
const RETRY_MS = 5_000;

interface InactivePoolsOptions {
  readonly store: Store;
  readonly source: EvmSource;
  /** First indexed block. */
  readonly fromBlock: number;
  /** Most pools read per second. */
  readonly perSecond: number;
  readonly guard: Guard;
  readonly signal: AbortSignal;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Reads, once, the state of inactive pools: those without an event since the index began, whose state is the one just
 * before it. A later event has its own anchor (anchors.ts), which makes the row obsolete. These rows are only shown
 * and price nothing: a price at a block must not depend on when this job reached a pool, and those with the depth to
 * price a token were read before the first block (../start/). Where nodes have pruned that
 * block, the head has the same state but for gifts to the pool. After a restart it skips pools that are done. Returns
 * the number of pools read.
 */
export async function readInactivePools(options: InactivePoolsOptions): Promise<number> {
  const { store, signal } = options;
  const gauges = new GaugeBook();
  await gauges.load(store, options.source.chainId);
  let read = 0;
  for await (const batch of listUnreadPools(options)) {
    while (!signal.aborted) {
      try {
        const rows = await readPoolStates(options, { batch, gauges });
        if (rows.length > 0) await store.write([...options.guard(), put(inactivePools, rows)]);
        read += rows.length;
        break;
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        await options.pause(RETRY_MS, signal);
      }
    }
    await options.pause((batch.length / options.perSecond) * 1_000, signal);
  }
  return read;
}

/** Pools older than the index that have had no event and are not read yet, in batches. */
async function* listUnreadPools({
  store,
  fromBlock,
  signal,
  source,
}: InactivePoolsOptions): AsyncGenerator<PoolRow[]> {
  const { chainId } = source;
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
        ...(await getInactivePools(store, { chainId, addresses })),
      ].map((row) => row.poolAddress),
    );
    const silent = older.filter((row) => !known.has(row.poolAddress));
    for (let at = 0; at < silent.length && !signal.aborted; at += BATCH) yield silent.slice(at, at + BATCH);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.poolAddress;
  }
}

async function readPoolStates(
  { fromBlock, source }: InactivePoolsOptions,
  { batch, gauges }: { batch: readonly PoolRow[]; gauges: GaugeBook },
): Promise<InactivePoolRow[]> {
  const before = fromBlock - 1;
  const pools = batch.map((row) => ({ row, gauge: gauges.at(row.poolAddress, before) }));
  const rows = await readStatesAt(source, { pools, block: before });
  const missed = pools.filter(({ row }) => !rows.has(row.poolAddress));
  if (missed.length > 0) {
    const { number } = await source.head();
    for (const [pool, row] of await readStatesAt(source, { pools: missed, block: number }))
      rows.set(pool, row);
  }
  return [...rows.values()];
}

async function readStatesAt(
  source: EvmSource,
  { block, pools }: { pools: readonly Omit<PoolAtBlock, "block">[]; block: number },
): Promise<Map<string, InactivePoolRow>> {
  const states = await readPastStates(
    source,
    pools.map((pool) => ({ ...pool, block })),
  );
  const rows = new Map<string, InactivePoolRow>();
  for (const [i, { row }] of pools.entries()) {
    const found = states[i];
    if (found === undefined) continue;
    rows.set(row.poolAddress, {
      chainId: row.chainId,
      poolAddress: row.poolAddress,
      state: protocolOf(row.protocol).write(found.state),
      balance0: found.balances.amount0,
      balance1: found.balances.amount1,
      balanceBlock: block,
      priced: false,
    });
  }
  return rows;
}
