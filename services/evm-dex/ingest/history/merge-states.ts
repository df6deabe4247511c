import { TimeSlices } from "../../../shared/process/time-slices.ts";
import { put, remove, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { inactivePools, type PoolStateRow, poolStates } from "../../store/collections.ts";
import { lastEventUpTo } from "../../store/queries.ts";
import { type LpPositionRow, lpEvents, lpPositions } from "../../store/v2-collections.ts";
import type { MergedStores } from "./merge-buckets.ts";

/** A look-up a pool: of all pools they take seconds. */
const SLICE_MS = 20;

/**
 * Steps that move the beginning of pools' and positions' rows to the chunk's first block: what was before their first
 * indexed event is now earlier, and pools without an event since are now known by their last one.
 */
export async function mergeStates(at: MergedStores): Promise<WriteStep[]> {
  const { main, past, chunk } = at;
  const { chainId } = chunk;
  const touched = (await past.find(poolStates, { filter: { chainId } })).filter(
    ({ lastBlock }) => lastBlock >= chunk.from.number,
  );
  const keys = touched.map(({ poolAddress }) => ({ chainId, poolAddress }));
  const known = new Map((await main.getMany(poolStates, keys)).map((row) => [row.poolAddress, row]));
  const states: PoolStateRow[] = [];
  const slices = new TimeSlices(SLICE_MS);
  for (const row of touched) {
    if (slices.due()) await slices.pause();
    const anchor = await anchorAt(at, row);
    states.push({ ...(known.get(row.poolAddress) ?? row), anchor });
  }
  const fresh = keys.filter(({ poolAddress }) => !known.has(poolAddress));
  return [
    put(inactivePools, await past.find(inactivePools, { filter: { chainId } })),
    put(poolStates, states),
    remove(inactivePools, fresh),
    put(lpPositions, await mergePositions(at)),
  ];
}

/** A pool's state before its first event that is merged. */
async function anchorAt({ past, chunk }: MergedStores, row: PoolStateRow): Promise<string> {
  const { chainId, poolAddress } = row;
  const before = await lastEventUpTo(past, {
    ...{ chainId, poolAddress, block: chunk.from.number - 1 },
    // Not after it: else every event of the chunk would be passed over.
    time: chunk.from.time,
  });
  return before?.state ?? row.anchor;
}

async function mergePositions({ main, past, chunk }: MergedStores): Promise<LpPositionRow[]> {
  const { chainId } = chunk;
  const touched = (await past.find(lpPositions, { filter: { chainId } })).filter(
    ({ lastBlock }) => lastBlock >= chunk.from.number,
  );
  const keys = touched.map(({ wallet, poolAddress }) => ({ chainId, wallet, poolAddress }));
  const known = new Map((await main.getMany(lpPositions, keys)).map((row) => [keyOf(row), row]));
  return Promise.all(
    touched.map(async (row) => {
      const first = await firstEvents(past, { row, from: chunk.from.number });
      const later = known.get(keyOf(row));
      return { ...(later ?? row), anchor: first.anchor, firstTime: first.time };
    }),
  );
}

/** The position before its first event that is merged, and that event's time. */
async function firstEvents(
  past: Store,
  { row, from }: { row: LpPositionRow; from: number },
): Promise<{ anchor: string; time: number }> {
  const { chainId, wallet, poolAddress } = row;
  const events = await past.find(lpEvents, {
    filter: { chainId, wallet, poolAddress },
    order: [
      { field: "time", direction: "asc" },
      { field: "blockNumber", direction: "asc" },
      { field: "logIndex", direction: "asc" },
    ],
    fields: ["blockNumber", "time", "position"],
  });
  const first = events.findIndex(({ blockNumber }) => blockNumber >= from);
  return { anchor: events[first - 1]?.position ?? row.anchor, time: events[first]?.time ?? row.firstTime };
}

function keyOf({ wallet, poolAddress }: Pick<LpPositionRow, "wallet" | "poolAddress">): string {
  return `${wallet}:${poolAddress}`;
}
