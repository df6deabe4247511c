import { candleStart, INTERVAL_SECONDS, type Interval } from "../../../shared/contract/candle-params.ts";
import type { Pacer } from "../../../shared/service/pacer.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { DAY, HOUR } from "../../metrics/bucket.ts";
import { type PoolRow, poolEvents, priceLinks } from "../../store/collections.ts";
import { observations } from "../../store/observations.ts";
import { findPoolTvls } from "../../store/pool-tvls.ts";
import { listRetentions } from "../../store/retention.ts";
import { readTvlsAfter } from "../../views/past-tvls.ts";

/** Candles between two pauses: each is five look-ups or so. */
const CANDLES_PER_READ = 100;

interface TvlQuery {
  readonly pool: PoolRow;
  readonly interval: Interval;
  /** Of the candles, oldest first. */
  readonly starts: readonly number[];
  readonly pacer: Pacer;
}

/**
 * TVL after a pool's last event in each candle, by the candle's start: from single events as far as they are stored, before
 * that what was kept of them. Candles of which it cannot be told are left out.
 */
export async function readCandleTvls(store: Store, query: TvlQuery): Promise<Map<number, number | null>> {
  const wholeFrom = await readWholeFrom(store, query.pool.chainId);
  const [kept, raw] = [
    await readKept(store, { ...query, before: wholeFrom }),
    await readRaw(store, { ...query, from: wholeFrom }),
  ];
  return new Map([...kept, ...raw]);
}

/** From when on all rows that TVL is made of are stored. */
async function readWholeFrom(store: Store, chainId: number): Promise<number> {
  const kept = await listRetentions(store, chainId);
  const rows = [poolEvents.name, priceLinks.name, observations.name];
  return Math.max(...rows.map((name) => kept.get(name)?.time ?? 0));
}

async function readRaw(
  store: Store,
  { pool, interval, starts, pacer, from }: TvlQuery & { from: number },
): Promise<Map<number, number | null>> {
  const { chainId, poolAddress } = pool;
  const seconds = INTERVAL_SECONDS[interval];
  const wanted = starts.filter((start) => start + seconds > from);
  const found = new Map<number, number | null>();
  for (let at = 0; at < wanted.length; at += CANDLES_PER_READ) {
    const keys = wanted
      .slice(at, at + CANDLES_PER_READ)
      .map((start) => ({ chainId, poolAddress, time: start + seconds - 1 }));
    const rows = await store.getLast(poolEvents, keys, ["chainId", "poolAddress", "time"]);
    const events = rows.filter(({ time }) => time >= from).map((event) => ({ pool, event }));
    const tvls = await readTvlsAfter(store, { chainId, events });
    for (const [i, { event }] of events.entries())
      found.set(candleStart(event.time, interval), tvls[i] ?? null);
    await pacer.step();
  }
  return found;
}

/** Of candles of whole hours or days. */
async function readKept(
  store: Store,
  { pool, interval, starts, before }: TvlQuery & { before: number },
): Promise<Map<number, number | null>> {
  const seconds = INTERVAL_SECONDS[interval];
  const span = [DAY, HOUR].find((each) => seconds % each === 0);
  const [first] = starts;
  if (span === undefined || first === undefined) return new Map();
  const end = Math.min(before, (starts.at(-1) as number) + seconds);
  const { chainId, poolAddress } = pool;
  const rows = await findPoolTvls(store, { chainId, poolAddress, span, start: first, end });
  return new Map(rows.map(({ start, tvlUsd }) => [candleStart(start, interval), tvlUsd]));
}
