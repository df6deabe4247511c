import { put, type Store } from "../../../shared/storage/port.ts";
import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import {
  type CheckpointRow,
  type PoolEventRow,
  type PoolRow,
  poolEvents,
  priceLinks,
} from "../../store/collections.ts";
import { listPoolsSince } from "../../store/pool-lists.ts";
import { type PoolTvlRow, poolTvls } from "../../store/pool-tvls.ts";
import { getPools, lastEventBlock } from "../../store/queries.ts";
import { getRetention, type RetentionRow } from "../../store/retention.ts";
import { type LastEvent, readTvlsAfter } from "../../views/past-tvls.ts";
import { nextDayBlocks } from "./days.ts";
import { mark } from "./marks.ts";
import type { RemoveDeps } from "./remove-raw.ts";

/** Pools of one step: some hundred events with their prices. */
const POOLS_A_STEP = 20;

/**
 * Keeps the TVL of pools by hour and day before the rows that it is made of go. A day is done whole before any of its rows is
 * removed, and repeating it is harmless. Yields the number of events that were read.
 *
 * In `retentions` goneTime and goneBlock say how far it is done. Where older history has been indexed, its days are done, up to
 * the block `blockNumber` from which on an earlier pass had kept all up to `time`. Of a day that both passes share, only the
 * hours up to the last event before that block are read, each once, and of later days nothing: so history that arrives in
 * many parts costs what its own events cost, not a whole day for each part. What the earlier pass has kept stays.
 */
export async function* keepTvls(
  deps: Omit<RemoveDeps, "rowsAtOnce">,
  at: { checkpoint: CheckpointRow; finalBlock: number; bound: number },
): AsyncGenerator<number, void, undefined> {
  const { chainId, store } = deps;
  const { bound, checkpoint } = at;
  const firstHour = startOf(checkpoint.fromTime, HOUR);
  let row = await openTvls(deps, checkpoint);
  while (row.goneTime < bound) {
    const day = await nextDayBlocks(store, { ...at, ...row, clock: poolEvents });
    yield 0;
    const isKept = day.toTime <= row.time;
    // What comes after that event was kept: keep-tvls.test.ts counts what is read.
    const last = isKept ? await lastEventBlock(store, { chainId, block: row.blockNumber - 1 }) : undefined;
    const end = isKept ? Math.min(day.toTime, (last?.time ?? 0) + 1) : day.toTime;
    const start = day.toTime - DAY;
    if (end > start) yield* keepDay(deps, { chainId, start, end, isKept, firstHour });
    row = { ...row, goneTime: day.toTime, goneBlock: day.toBlock };
    await mark(deps, row);
  }
}

/** How far it is done; with the first mark, what was removed before there was one is left out. */
async function openTvls(
  { chainId, store }: Pick<RemoveDeps, "store" | "chainId">,
  { fromBlock, fromTime }: CheckpointRow,
): Promise<RetentionRow> {
  const rows = poolTvls.name;
  const stored = await getRetention(store, { chainId, rows });
  if (stored !== undefined && stored.fromBlock <= fromBlock) return stored;
  const since = startOf(fromTime, DAY);
  const start = { chainId, rows, fromBlock, goneTime: since, goneBlock: 0 };
  if (stored !== undefined) {
    const isDone = stored.goneTime >= stored.time;
    const time = Math.max(stored.time, stored.goneTime);
    return { ...start, time, blockNumber: isDone ? stored.fromBlock : stored.blockNumber };
  }
  const removed = await getRetention(store, { chainId, rows: priceLinks.name });
  const { time = since, blockNumber = 0 } = removed ?? {};
  return { ...start, goneTime: time, goneBlock: blockNumber, time: 0, blockNumber: 0 };
}

/** A UTC day, or a part of it. */
export interface TvlDay {
  readonly chainId: number;
  /** Unix seconds; `end` is excluded. */
  readonly start: number;
  readonly end: number;
  /** Start of the hour in which the index begins. */
  readonly firstHour: number;
  /** Whether more hours are wanted than that of a pool's last event; default yes. */
  readonly hasHours?: boolean;
}

interface KeptDay extends TvlDay {
  /** Whether rows of the day that are stored stay. */
  readonly isKept: boolean;
}

async function* keepDay(
  { guard, store }: Omit<RemoveDeps, "rowsAtOnce">,
  { isKept, ...day }: KeptDay,
): AsyncGenerator<number, void, undefined> {
  for await (const { events, rows: found } of readDayTvls(store, day)) {
    const rows = isKept ? await withoutStored(store, found) : found;
    if (rows.length > 0) await store.write([...guard(), put(poolTvls, rows)]);
    yield events;
  }
}

/** The rows of a day that is whole in the store, some pools at a time, with the number of events that were read for them. */
export async function* readDayTvls(
  store: Store,
  day: TvlDay,
): AsyncGenerator<{ readonly events: number; readonly rows: PoolTvlRow[] }> {
  const { chainId, start, firstHour } = day;
  for await (const addresses of listPoolsSince(store, { chainId, time: start })) {
    for (let at = 0; at < addresses.length; at += POOLS_A_STEP) {
      const events: HourEvent[] = [];
      const pools = await getPools(store, { chainId, addresses: addresses.slice(at, at + POOLS_A_STEP) });
      for await (const found of lastEventsByHour(store, { ...day, pools })) events.push(...found);
      const tvls = await readTvlsAfter(store, { chainId, events });
      yield { events: events.length, rows: rowsOf(events, tvls, firstHour) };
    }
    yield { events: 0, rows: [] };
  }
}

type HourEvent = LastEvent & { readonly event: PoolEventRow };

/** The last event of each pool in each hour of a day, the latest hours first: a look-up an hour that has one. */
async function* lastEventsByHour(
  store: Store,
  { chainId, pools, start, end, hasHours = true }: TvlDay & { pools: readonly PoolRow[] },
): AsyncGenerator<HourEvent[]> {
  let open = pools.map((pool) => ({ pool, time: end - 1 }));
  while (open.length > 0) {
    const byAddress = new Map(open.map(({ pool }) => [pool.poolAddress, pool]));
    const keys = open.map(({ pool, time }) => ({ chainId, poolAddress: pool.poolAddress, time }));
    const rows = await store.getLast(poolEvents, keys, ["chainId", "poolAddress", "time"]);
    const found = rows
      .filter(({ time }) => time >= start)
      .map((event) => ({ event, pool: byAddress.get(event.poolAddress) as PoolRow }));
    if (found.length > 0) yield found;
    if (!hasHours) return;
    open = found
      .map(({ pool, event }) => ({ pool, time: startOf(event.time, HOUR) - 1 }))
      .filter(({ time }) => time >= start);
  }
}

/**
 * A row for each hour and day with events; of a day in which TVL is never known none of the hours but the index's first. Older
 * history may have events of that hour too, after which TVL was known: it must not stand for the whole hour.
 */
function rowsOf(
  events: readonly HourEvent[],
  tvls: readonly (number | null)[],
  firstHour: number,
): PoolTvlRow[] {
  const byPool = new Map<string, { time: number; tvlUsd: number | null; chainId: number }[]>();
  for (const [i, { pool, event }] of events.entries()) {
    const known = byPool.get(pool.poolAddress) ?? [];
    byPool.set(pool.poolAddress, known);
    known.push({ chainId: pool.chainId, time: event.time, tvlUsd: tvls[i] ?? null });
  }
  return [...byPool].flatMap(([poolAddress, hours]) => {
    const rowOf = (span: number) => (hour: (typeof hours)[number]) => {
      const { chainId, time, tvlUsd } = hour;
      return { chainId, poolAddress, span, start: startOf(time, span), tvlUsd };
    };
    const isKnown = hours.some(({ tvlUsd }) => tvlUsd !== null);
    const told = isKnown ? hours : hours.filter(({ time }) => startOf(time, HOUR) === firstHour);
    return [...hours.slice(0, 1).map(rowOf(DAY)), ...told.map(rowOf(HOUR))];
  });
}

/** Of a day that was kept before, what its later blocks have stays. */
export async function withoutStored(
  store: Pick<Store, "getMany">,
  rows: readonly PoolTvlRow[],
): Promise<readonly PoolTvlRow[]> {
  if (rows.length === 0) return rows;
  const nameOf = ({ poolAddress, span, start }: PoolTvlRow) => `${poolAddress} ${span} ${start}`;
  const stored = await store.getMany(poolTvls, rows);
  const known = new Set(stored.map(nameOf));
  return rows.filter((row) => !known.has(nameOf(row)));
}
