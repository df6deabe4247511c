import { expect } from "chai";
import { it } from "mocha";
import { put, type Store } from "../../../shared/storage/port.ts";
import { describeOnEngines } from "../../../shared/storage/testkit/engines.ts";
import { DAY, emptyBucket } from "../../metrics/bucket.ts";
import { COLLECTIONS, poolStates, poolUsers, rollups } from "../../store/collections.ts";
import { address, CHAIN_ID, poolStateRow } from "../../test/kit/rows.ts";
import { removeUsers, userBound } from "./remove-users.ts";

const MIDNIGHT = 19_000 * DAY;
const BUSY = address(0x900);
/** Of which nobody is due. */
const RECENT = address(0x901);
const USERS = 5_000;

/** Which rows and how many of users were read or removed at once. */
function watched(store: Store): { store: Store; reads: Record<string, number[]>; removed: number[] } {
  const reads: Record<string, number[]> = {};
  const removed: number[] = [];
  const proxy = new Proxy(store, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name);
      if (typeof own !== "function") return own;
      return async (...args: unknown[]) => {
        const result: unknown = await own.apply(target, args);
        const { filter } = (args[1] ?? {}) as { filter?: { poolAddress: string } };
        if (name === "find" && args[0] === poolUsers && filter !== undefined) {
          reads[filter.poolAddress] ??= [];
          reads[filter.poolAddress]?.push((result as unknown[]).length);
        }
        if (name === "write")
          for (const step of args[0] as { keys?: unknown[] }[]) removed.push(step.keys?.length ?? 0);
        return result;
      };
    },
  });
  return { store: proxy, reads, removed };
}

describeOnEngines(
  (engine) => `retention of users on ${engine}`,
  { rounds: 1 },
  ({ open }) => {
    it("looks through the pools that have old ones, in small steps, and may be repeated", async () => {
      const { store, remove } = await open();
      try {
        await store.declare(COLLECTIONS);
        const userAt = (i: number, lastMinute: number, poolAddress = BUSY) => ({
          ...{ chainId: CHAIN_ID, poolAddress, user: address(i), lastMinute },
        });
        const isOld = (i: number) => i % 7 === 0 || i === USERS - 1;
        const users = Array.from({ length: USERS }, (_, i) => userAt(i, MIDNIGHT - (isOld(i) ? 60 : 0)));
        const recent = userAt(1, MIDNIGHT, RECENT);
        const dayOf = (poolAddress: string, start: number, lastSeenUsers: number) => ({
          ...{ ...emptyBucket(), chainId: CHAIN_ID, poolAddress, span: DAY, start, lastSeenUsers },
        });
        const old = users.filter(({ lastMinute }) => lastMinute < MIDNIGHT).length;
        await store.write([
          put(
            poolStates,
            [BUSY, RECENT].map((poolAddress) => poolStateRow({ poolAddress, lastTime: MIDNIGHT + 1 })),
          ),
          put(poolUsers, [...users, recent]),
          put(rollups, [
            dayOf(BUSY, MIDNIGHT - DAY, old),
            dayOf(BUSY, MIDNIGHT, USERS - old),
            dayOf(RECENT, MIDNIGHT, 1),
          ]),
        ]);
        for (const left of [old, 0]) {
          const { removed, reads, store: seen } = watched(store);
          const deps = { store: seen, guard: () => [], chainId: CHAIN_ID, rowsAtOnce: 300 };
          let steps = 0;
          for await (const _ of removeUsers(deps, { before: MIDNIGHT, goneTime: MIDNIGHT - 30 * DAY }))
            steps++;
          expect(removed.reduce((sum, count) => sum + count, 0)).to.equal(left);
          expect(Math.max(0, ...removed)).to.be.at.most(300);
          expect(Object.keys(reads)).to.deep.equal([BUSY]);
          expect(reads[BUSY]?.reduce((sum, count) => sum + count, 0)).to.equal(
            USERS - (left === 0 ? old : 0),
          );
          expect(Math.max(...(reads[BUSY] ?? []))).to.equal(2_000);
          expect(steps, "a turn after each page and write").to.be.at.least(
            (reads[BUSY]?.length ?? 0) + removed.length,
          );
          expect(await store.find(poolUsers, {})).to.deep.equal([
            ...users.filter(({ lastMinute }) => lastMinute >= MIDNIGHT),
            recent,
          ]);
        }
      } finally {
        await remove();
      }
    });

    it("is due for whole steps of 30 days", () => {
      const bounds = [0, 1, 29, 30].map((days) =>
        userBound((seconds) => (18_000 + days) * DAY + 400 * DAY - seconds),
      );
      expect(bounds.map((bound) => bound / DAY)).to.deep.equal([18_000, 18_000, 18_000, 18_030]);
    });
  },
);
