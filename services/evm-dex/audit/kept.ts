import type { Store } from "../../shared/storage/port.ts";
import { DAY, HOUR, MINUTE } from "../metrics/bucket.ts";
import { feedAnswers, poolEvents, poolUsers, priceLinks, rollups } from "../store/collections.ts";
import { listRetentions } from "../store/retention.ts";
import { lpEvents, v2LargeSwaps, v2Rollups } from "../store/v2-collections.ts";

/** A second and a block from which on all rows are stored; 0: all ever. */
export interface KeptFrom {
  readonly time: number;
  readonly block: number;
}

/** From when on rows are whole: what is older cannot be compared, and is no difference. */
export interface Kept {
  /** Events with the prices that they are checked by. */
  readonly events: KeptFrom;
  readonly lpEvents: KeptFrom;
  /** By span. */
  readonly buckets: Readonly<Record<number, number>>;
  readonly v2Hours: number;
  readonly largeSwaps: number;
  readonly users: number;
}

export async function readKept(store: Store, chainId: number): Promise<Kept> {
  const rows = await listRetentions(store, chainId);
  const timeOf = (name: string) => rows.get(name)?.time ?? 0;
  const latest = (names: readonly string[]): KeptFrom => ({
    time: Math.max(...names.map(timeOf)),
    block: Math.max(...names.map((name) => rows.get(name)?.blockNumber ?? 0)),
  });
  const events = [poolEvents.name, priceLinks.name, feedAnswers.name];
  return {
    events: latest(events),
    lpEvents: latest([lpEvents.name]),
    buckets: {
      ...Object.fromEntries([MINUTE, HOUR].map((span) => [span, timeOf(`${rollups.name}/${span}`)])),
      [DAY]: 0,
    },
    v2Hours: timeOf(`${v2Rollups.name}/${HOUR}`),
    largeSwaps: timeOf(v2LargeSwaps.name),
    users: timeOf(poolUsers.name),
  };
}

/** What an audit leaves out, in words; undefined where it leaves out nothing. */
export function describeKept({ events, lpEvents: lp, buckets }: Kept): string | undefined {
  const day = (time: number) => new Date(time * 1000).toISOString().slice(0, 10);
  const gone = [
    ["events and prices", events.time],
    ["LP events", lp.time],
    ["minutes", buckets[MINUTE] ?? 0],
    ["hours", buckets[HOUR] ?? 0],
  ].filter(([, time]) => time !== 0) as [string, number][];
  if (gone.length === 0) return undefined;
  return `Not compared, as they are no longer kept: ${gone.map(([what, time]) => `${what} before ${day(time)}`).join(", ")}.`;
}
