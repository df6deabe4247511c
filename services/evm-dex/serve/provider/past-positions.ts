import type { TimeSlices } from "../../../shared/process/time-slices.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { EMPTY_POSITION, type LpPosition, positionText } from "../../metrics/lp-position.ts";
import { findLpEvents, lastLpEventBefore } from "../../store/v2-queries.ts";
import type { Position } from "./positions.ts";

/** Positions and events a read: SQLite blocks the event loop for as long as it reads. */
const POSITIONS_A_READ = 25;
const EVENTS_A_READ = 1_000;

interface WalletKey {
  readonly chainId: number;
  readonly wallet: string;
}

/** The positions just before some times, by pool, in the order of the times. */
export type PastPositions = ReadonlyMap<string, readonly LpPosition[]>;

/**
 * Of positions with events since the earliest of the times; any other was at all of them what it is now. Reads the
 * events between the times, or, of wallets with very many, the last one before each time.
 * @param query.times ascending
 */
export async function readPastPositions(
  store: Store,
  query: WalletKey & { positions: readonly Position[]; times: readonly number[]; slices: TimeSlices },
): Promise<PastPositions> {
  const { times, slices } = query;
  const since = times[0] ?? 0;
  const moved = query.positions.filter(({ events }) => events !== undefined && events.lastTime >= since);
  const past = new Map<string, LpPosition[]>();
  for (let from = 0; from < moved.length; from += POSITIONS_A_READ) {
    const some = moved.slice(from, from + POSITIONS_A_READ);
    for (const [pool, positions] of await readSome(store, { ...query, positions: some }))
      past.set(pool, positions);
    await slices.pause();
  }
  return past;
}

async function readSome(
  store: Store,
  query: WalletKey & { positions: readonly Position[]; times: readonly number[] },
): Promise<(readonly [string, LpPosition[]])[]> {
  const { chainId, wallet, positions, times } = query;
  const [since, until] = [times[0] ?? 0, times.at(-1) ?? 0];
  const pools = positions.map(({ poolAddress }) => poolAddress);
  const events = await findLpEvents(store, { chainId, wallet, pools, since, until, limit: EVENTS_A_READ });
  const isWhole = events.length < EVENTS_A_READ;
  return Promise.all(
    positions.map(async (position) => {
      if (!isWhole) {
        const each = times.map((time) => positionBefore(store, { chainId, wallet, position, time }));
        return [position.poolAddress, await Promise.all(each)] as const;
      }
      const own = events.filter(({ poolAddress }) => poolAddress === position.poolAddress);
      const first = await positionBefore(store, { chainId, wallet, position, time: since });
      const each = times.map((time) => {
        const last = own.findLast((event) => event.time < time);
        return last === undefined ? first : positionText.read(last.position);
      });
      return [position.poolAddress, each] as const;
    }),
  );
}

async function positionBefore(
  store: Store,
  { position, time, ...key }: WalletKey & { position: Position; time: number },
): Promise<LpPosition> {
  const { poolAddress, events, now, anchor } = position;
  if (events === undefined || events.lastTime < time) return now;
  if (events.firstTime >= time) return anchor;
  const event = await lastLpEventBefore(store, { ...key, poolAddress, time });
  return event === undefined ? EMPTY_POSITION : positionText.read(event.position);
}
