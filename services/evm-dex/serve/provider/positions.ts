import type { TimeSlices } from "../../../shared/process/time-slices.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { EMPTY_POSITION, type LpPosition, positionText } from "../../metrics/lp-position.ts";
import { findPositionNumbers, getPositionNumbers, type PositionNumbers } from "../../store/v2-queries.ts";
import { findLpAnchors } from "../../store/wallet-queries.ts";

/** Rows a read: SQLite blocks the event loop for as long as it reads. */
const ROWS_A_READ = 400;

/** A wallet's position in a pool, now and before its first indexed event. */
export interface Position {
  readonly poolAddress: string;
  readonly now: LpPosition;
  readonly anchor: LpPosition;
  /** Unix seconds of its first and last indexed events, and the block of the last; undefined without any. */
  readonly events:
    | { readonly firstTime: number; readonly lastTime: number; readonly lastBlock: number }
    | undefined;
}

/** All positions with events, and those that are as they were before the index. */
export async function readPositions(
  store: Store,
  query: { chainId: number; wallet: string; slices: TimeSlices },
): Promise<Position[]> {
  const positions = new Map<string, Position>();
  // Anchors first: they only grow, so that no position is missing from both reads.
  for await (const page of pagesOf(query.slices, (page) => findLpAnchors(store, { ...query, ...page }))) {
    for (const { poolAddress, balance, staked } of page) {
      // Fees are differences of the pool's index: from which one they count has no effect.
      const anchor = { ...EMPTY_POSITION, balance, staked };
      positions.set(poolAddress, { poolAddress, now: anchor, anchor, events: undefined });
    }
  }
  for await (const page of pagesOf(query.slices, (page) =>
    findPositionNumbers(store, { ...query, ...page }),
  )) {
    for (const row of page) positions.set(row.poolAddress, toPosition(row));
  }
  return [...positions.values()];
}

/** Positions in some pools with events. */
export async function readSomePositions(
  store: Store,
  query: { chainId: number; wallet: string; pools: readonly string[] },
): Promise<Position[]> {
  if (query.pools.length === 0) return [];
  return (await getPositionNumbers(store, query)).map(toPosition);
}

async function* pagesOf<R extends { poolAddress: string }>(
  slices: TimeSlices,
  read: (page: { after: string; limit: number }) => Promise<R[]>,
): AsyncGenerator<R[]> {
  for (let after = ""; ; ) {
    const page = await read({ after, limit: ROWS_A_READ });
    await slices.pause();
    yield page;
    if (page.length < ROWS_A_READ) return;
    after = page.at(-1)?.poolAddress as string;
    await slices.pause();
  }
}

function toPosition({
  poolAddress,
  position,
  anchor,
  firstTime,
  lastTime,
  lastBlock,
}: PositionNumbers): Position {
  return {
    poolAddress,
    now: positionText.read(position),
    anchor: positionText.read(anchor),
    events: { firstTime, lastTime, lastBlock },
  };
}

/** A position that was empty before the longest window began has neither value nor fees. */
export function isOfInterest({ now, events }: Position, since: number): boolean {
  return now.balance > 0n || now.staked > 0n || (events !== undefined && events.lastTime >= since);
}
