import type { Collection, RowOf } from "../../../shared/storage/collection.ts";
import { type Filter, type OrderBy, removeWhere, type WriteStep } from "../../../shared/storage/port.ts";
import { DAY, HOUR, MINUTE } from "../../metrics/bucket.ts";
import { KEPT_SECONDS, KEPT_TVL_HOURS_SECONDS } from "../../metrics/kept.ts";
import { rollups } from "../../store/collections.ts";
import { listPoolsSince } from "../../store/pool-lists.ts";
import { poolTvls } from "../../store/pool-tvls.ts";
import { v2LargeSwaps, v2Rollups } from "../../store/v2-collections.ts";
import type { RemoveDeps } from "./remove-raw.ts";

/** Rows of a pool by time. */
export interface TimedRows {
  /** Their name in `retentions`. */
  readonly name: string;
  readonly collection: Collection;
  /** Conditions beside the pool. */
  readonly where: Readonly<Record<string, number>>;
  /** Unix seconds. */
  readonly time: string;
  /** Whether a pool's last row before the bound stays. */
  readonly keepsLast: boolean;
  readonly seconds: number;
}

/** Largest swaps of v2 pools are served of 24 hours. */
const LARGE_SWAPS_SECONDS = 8 * DAY;

export const TIMED_ROWS: readonly TimedRows[] = [
  ...[MINUTE, HOUR].map((span) => ({
    name: `${rollups.name}/${span}`,
    collection: rollups,
    where: { span },
    time: "start",
    keepsLast: true,
    seconds: KEPT_SECONDS[span as typeof MINUTE],
  })),
  {
    name: `${v2Rollups.name}/${HOUR}`,
    collection: v2Rollups,
    where: { span: HOUR },
    time: "start",
    keepsLast: false,
    seconds: KEPT_SECONDS[HOUR],
  },
  {
    name: `${poolTvls.name}/${HOUR}`,
    collection: poolTvls,
    where: { span: HOUR },
    time: "start",
    keepsLast: false,
    seconds: KEPT_TVL_HOURS_SECONDS,
  },
  {
    name: v2LargeSwaps.name,
    collection: v2LargeSwaps,
    where: {},
    time: "start",
    keepsLast: false,
    seconds: LARGE_SWAPS_SECONDS,
  },
];

type Row = Record<string, unknown>;

/**
 * Removes a kind of rows before a time, pool by pool. Only pools with an event since `goneTime` can have any: rows of
 * the others went before. Repeating it is harmless. Yields the number of removed rows after every write and page.
 */
export async function* removeTimed(
  deps: RemoveDeps,
  { rows, before, goneTime }: { rows: TimedRows; before: number; goneTime: number },
): AsyncGenerator<number, void, undefined> {
  const { chainId, guard, rowsAtOnce, store } = deps;
  for await (const addresses of listPoolsSince(store, { chainId, time: goneTime })) {
    const steps: WriteStep[] = [];
    let count = 0;
    for (const poolAddress of addresses) {
      for await (const part of partsOf(deps, { rows, poolAddress, before })) {
        steps.push(part.step);
        count += part.count;
        if (count < rowsAtOnce) continue;
        await store.write([...guard(), ...steps.splice(0)]);
        yield count;
        count = 0;
      }
    }
    if (count > 0) await store.write([...guard(), ...steps]);
    yield count;
  }
}

/** The steps that remove a pool's old rows, the newest first; a full one must be done before the next is asked for. */
async function* partsOf(
  { chainId, rowsAtOnce, store }: Pick<RemoveDeps, "store" | "chainId" | "rowsAtOnce">,
  { rows, poolAddress, before }: { rows: TimedRows; poolAddress: string; before: number },
): AsyncGenerator<{ step: WriteStep; count: number }> {
  const { collection, keepsLast, time, where } = rows;
  const filterOf = (bounds: Row) =>
    ({ chainId, poolAddress, ...where, [time]: bounds }) as Filter<RowOf<Collection>>;
  const limit = rowsAtOnce + Number(keepsLast);
  for (;;) {
    const found: Row[] = await store.find(collection, {
      filter: filterOf({ lt: before }),
      order: [{ field: time, direction: "desc" }] as OrderBy<RowOf<Collection>>[],
      limit,
      fields: [time],
    });
    const count = found.length - Number(keepsLast);
    if (count <= 0) return;
    const [from, to] = [found.at(-1)?.[time], found[0]?.[time]];
    const bounds = keepsLast ? { gte: from, lt: to } : { gte: from, lte: to };
    yield { step: removeWhere(collection, filterOf(bounds) as never), count };
    if (found.length < limit) return;
  }
}
