import { put, type WriteStep } from "../../../shared/storage/port.ts";
import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import { type PriceLinkRow, poolEvents, priceLinks } from "../../store/collections.ts";
import { poolTvls } from "../../store/pool-tvls.ts";
import { lastEventsUpTo } from "../../store/queries.ts";
import { readDayTvls, withoutStored } from "../retention/keep-tvls.ts";
import type { MergedStores } from "./merge-buckets.ts";
import { ROWS_A_WRITE } from "./newest-rows.ts";

/** Pools whose last event is looked up at once. */
const POOLS_A_READ = 500;
const MAX_TIME = Number.MAX_SAFE_INTEGER;

/**
 * What stays of an old chunk's links, and the TVL that is made of its rows.
 * @param isStartTold then the last block's links follow (releaseStart)
 */
export async function* oldRows(
  at: MergedStores,
  { ended, isStartTold }: { ended: ReadonlyMap<string, PriceLinkRow>; isStartTold: boolean },
): AsyncGenerator<WriteStep> {
  const links = [...ended.values()].filter(({ blockNumber }) => !isStartTold || blockNumber < at.chunk.to);
  for (let i = 0; i < links.length; i += ROWS_A_WRITE)
    yield put(priceLinks, links.slice(i, i + ROWS_A_WRITE));
  yield* oldTvls(at);
}

/** A pool's last event tells its state, however old it is. */
export async function* lastEvents(
  { past, chunk }: MergedStores,
  pools: readonly string[],
): AsyncGenerator<WriteStep> {
  for (let i = 0; i < pools.length; i += POOLS_A_READ) {
    const keys = { chainId: chunk.chainId, pools: pools.slice(i, i + POOLS_A_READ), time: MAX_TIME };
    yield put(poolEvents, [...(await lastEventsUpTo(past, keys)).values()]);
  }
}

/** As retention keeps it before rows go, from the chunk's own rows. What the index has of the same hours stays. */
async function* oldTvls({ main, past, chunk, fromTime, keptFrom }: MergedStores): AsyncGenerator<WriteStep> {
  const { chainId, from } = chunk;
  for (let day = startOf(from.time, DAY); day < fromTime; day += DAY) {
    const end = Math.min(day + DAY, fromTime);
    const part = { chainId, start: Math.max(day, from.time), end, firstHour: startOf(from.time, HOUR) };
    for await (const { rows } of readDayTvls(past, { ...part, hasHours: end > keptFrom.tvlHours })) {
      const fresh = await withoutStored(main, rows);
      if (fresh.length > 0) yield put(poolTvls, fresh);
    }
  }
}
