import { remove } from "../../../shared/storage/port.ts";
import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import { KEPT_SECONDS } from "../../metrics/kept.ts";
import { poolUsers } from "../../store/collections.ts";
import { listPoolsSince } from "../../store/pool-lists.ts";
import { listPoolUsers, sumRollups } from "../../store/queries.ts";
import type { RemoveDeps } from "./remove-raw.ts";

/** Whoever comes back after more than a year is new to every window. */
const USER_SECONDS = KEPT_SECONDS[HOUR];
/** Nothing finds old users but a look at all of a pool: once for so many days of them. */
const STEP_SECONDS = 30 * DAY;
/** So many rows are read in the time that one takes to be removed. */
const READ_A_REMOVED = 20;

/** Users before this time are due; `boundOf` says before when rows of an age are. */
export function userBound(boundOf: (seconds: number) => number): number {
  return startOf(boundOf(USER_SECONDS), STEP_SECONDS);
}

interface UserKey {
  readonly chainId: number;
  readonly poolAddress: string;
  readonly user: string;
}

/**
 * Removes users whose last swap in a pool was before a time, pool by pool. Repeating it is harmless. Yields the number of removed
 * rows, and for rows that were only read what that is worth, after every write and page.
 */
export async function* removeUsers(
  deps: RemoveDeps,
  due: { before: number; goneTime: number },
): AsyncGenerator<number, void, undefined> {
  const { guard, rowsAtOnce, store } = deps;
  const found: UserKey[] = [];
  const removeSome = async (): Promise<number> => {
    const taken = found.splice(0, rowsAtOnce);
    await store.write([...guard(), remove(poolUsers, taken)]);
    return taken.length;
  };
  for await (const { keys, read } of oldUsers(deps, due)) {
    found.push(...keys);
    while (found.length >= rowsAtOnce) yield await removeSome();
    yield Math.ceil(read / READ_A_REMOVED);
  }
  if (found.length > 0) yield await removeSome();
}

/** Old users, in pages by their key, of the pools alone that have any: the days since `goneTime` count them. */
async function* oldUsers(
  { chainId, store }: Pick<RemoveDeps, "store" | "chainId">,
  { before, goneTime }: { before: number; goneTime: number },
): AsyncGenerator<{ keys: UserKey[]; read: number }> {
  const days = { chainId, span: DAY, start: startOf(goneTime, DAY), end: before };
  for await (const addresses of listPoolsSince(store, { chainId, time: goneTime })) {
    for (const poolAddress of addresses) {
      const { lastSeenUsers } = await sumRollups(store, { ...days, poolAddress });
      if (lastSeenUsers === 0) continue;
      for await (const page of listPoolUsers(store, { chainId, poolAddress })) {
        const old = page.filter(({ lastMinute }) => lastMinute < before);
        yield { keys: old.map(({ user }) => ({ chainId, poolAddress, user })), read: page.length };
      }
    }
    yield { keys: [], read: 0 };
  }
}
