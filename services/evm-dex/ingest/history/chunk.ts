import { headerAt } from "../../../shared/evm/finality/genesis.ts";
import type { EvmSource } from "../../../shared/evm/port.ts";
import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import type { Detail } from "../state/detail.ts";

/** The span of a chunk grows with the history there is, so that short windows are covered first. */
const FIRST_SPANS = [HOUR, 6 * HOUR] as const;

/** A run of blocks just before the index. */
export interface HistoryChunk {
  readonly chainId: number;
  /** The first block from which on its rows are merged into the index. */
  readonly from: { readonly number: number; readonly time: number };
  /** A full hour, at which or after which `from` is the first block: buckets of hours are of one chunk only. */
  readonly start: number;
  /** The last block: the one before the index. */
  readonly to: number;
  /** The first block that is indexed: prices settle in the blocks up to `from`. */
  readonly warmFrom: number;
  /** What is written of it. */
  readonly detail: Detail;
}

/** What retention would remove at once is left out. Unix seconds: the first of what is kept (KEPT_SECONDS). */
export interface KeptFrom {
  /** Of events and prices. */
  readonly rows: number;
  readonly minutes: number;
  readonly tvlHours: number;
}

interface HistoryEdge {
  readonly chainId: number;
  /** First block of the index, and its time in Unix seconds. */
  readonly fromBlock: number;
  readonly fromTime: number;
}

/**
 * The start of the chunk before an index, Unix seconds: an hour, six hours, then days of UTC.
 * @param last time of the block before the index
 * @param covered seconds that are indexed by now
 */
export function chunkStart(last: number, covered: number): number {
  const span = FIRST_SPANS.find((seconds) => covered < seconds);
  return span === undefined ? startOf(last, DAY) : startOf(last - span, HOUR);
}

/**
 * What is written of a chunk. Events are left out where retention would remove all of them at once, as of most of a year
 * (docs/decisions/0135). A chunk that shares its last day with the index has them, for rows of a day go together.
 * @param at.last time of its last block, Unix seconds
 * @param at.begin time of the index's first block
 */
export function detailOf({ last, begin }: { last: number; begin: number }, keptFrom: KeptFrom): Detail {
  if (last >= keptFrom.rows || startOf(last, DAY) >= startOf(begin, DAY)) return "events";
  return last < keptFrom.minutes ? "hours" : "minutes";
}

const DETAILS: readonly Detail[] = ["events", "minutes", "hours"];

/** Whether a file that was begun with a detail has all that another one asks for. */
export function hasDetail(begun: Detail, wanted: Detail): boolean {
  return DETAILS.indexOf(begun) <= DETAILS.indexOf(wanted);
}

/**
 * The chunk before an index; undefined where nothing is missing.
 * @param options.since how far history goes back, Unix seconds
 * @param options.oldest the first block that can have events
 * @param options.warmUpSeconds how long prices need to settle
 */
export async function planChunk(
  source: Pick<EvmSource, "headers" | "chainId">,
  {
    edge,
    headTime,
    since,
    oldest,
    warmUpSeconds,
    keptFrom,
  }: {
    edge: HistoryEdge;
    headTime: number;
    since: number;
    oldest: number;
    warmUpSeconds: number;
    keptFrom: KeptFrom;
  },
): Promise<HistoryChunk | undefined> {
  const { chainId, fromBlock, fromTime } = edge;
  const to = fromBlock - 1;
  if (to < oldest || fromTime <= since) return undefined;
  const { timestamp: last } = await headerAt(source, to);
  if (last < since) return undefined;
  const start = chunkStart(last, headTime - fromTime);
  const top = { low: oldest, high: fromBlock, highTime: fromTime };
  const from = await firstBlockFrom(source, { time: start, ...top });
  const warm = await firstBlockFrom(source, {
    time: start - warmUpSeconds,
    ...{ low: oldest, high: from.number, highTime: from.time },
  });
  const detail = detailOf({ last, begin: fromTime }, keptFrom);
  return { chainId, from, start, to, warmFrom: warm.number, detail };
}

/** The first block at or after a time: a search by the rate of blocks, which rarely takes more than ten headers. */
async function firstBlockFrom(
  source: Pick<EvmSource, "headers" | "chainId">,
  { time, ...bounds }: { time: number; low: number; high: number; highTime: number },
): Promise<{ number: number; time: number }> {
  let { low, high, highTime } = bounds;
  let lowTime = (await headerAt(source, low)).timestamp;
  if (lowTime >= time) return { number: low, time: lowTime };
  // Blocks at `low` are before the time, blocks at `high` are not.
  for (let halve = false; high - low > 1; halve = !halve) {
    const share = (time - lowTime) / Math.max(1, highTime - lowTime);
    const guess = halve ? low + Math.floor((high - low) / 2) : low + Math.floor((high - low) * share);
    const number = Math.min(high - 1, Math.max(low + 1, guess));
    const { timestamp } = await headerAt(source, number);
    if (timestamp >= time) [high, highTime] = [number, timestamp];
    else [low, lowTime] = [number, timestamp];
  }
  return { number: high, time: highTime };
}
