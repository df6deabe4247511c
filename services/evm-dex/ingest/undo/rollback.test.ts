import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import { headers } from "../../../shared/index/evm/headers.ts";
import { parallelGroups, put, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { describeOnEngines } from "../../../shared/storage/testkit/engines.ts";
import { storeWith } from "../../../shared/storage/within.ts";
import { leastCases, randomRuns } from "../../../shared/testkit/describe.ts";
import { type CheckpointRow, COLLECTIONS, poolEvents, poolUsers, rollups } from "../../store/collections.ts";
import { getCheckpoint } from "../../store/queries.ts";
import { knownWallets, lpAnchors, lpEvents } from "../../store/v2-collections.ts";
import { address, CHAIN_ID, openTestStore } from "../../test/kit/rows.ts";
import {
  type BlockPlan,
  blockPlans,
  growChain,
  indexBlocks,
  type SmallBlock,
  startCheckpoint,
} from "../../test/kit/small-chain.ts";
import { rollbackTo } from "./rollback.ts";

const guard = () => [];

async function dump(store: Store): Promise<Record<string, unknown[]>> {
  const all: Record<string, unknown[]> = {};
  for (const collection of COLLECTIONS) all[collection.name] = await store.find(collection, {});
  return all;
}

async function dumpFresh(chain: readonly SmallBlock[]): Promise<Record<string, unknown[]>> {
  const store = await openTestStore();
  await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
  const all = await dump(store);
  await store.close();
  return all;
}

/** Compared without what a run from the start sees otherwise, and collection by collection for a short report. */
function expectSame(
  actual: Record<string, unknown[]>,
  expected: Record<string, unknown[]>,
  options: { without?: readonly string[] } = {},
): void {
  const plain = (name: string, rows: unknown[]) =>
    name === "checkpoints" ? rows.map((row) => ({ ...(row as CheckpointRow), chainHead: 0 })) : rows;
  for (const [name, rows] of Object.entries(expected)) {
    if (options.without?.includes(name)) continue;
    expect(plain(name, actual[name] ?? []), name).to.deep.equal(plain(name, rows));
  }
}

function targetOf(chain: readonly SmallBlock[], number: number) {
  const block = chain[number - 1]?.block;
  const start = startCheckpoint();
  if (block === undefined) return { number: 0, hash: start.blockHash, time: start.blockTime };
  return { number, hash: block.hash, time: block.time };
}

/**
 * Where a write fails: at the n-th step on a collection, some of whose rows are written, since a server promises no
 * order; of the steps that are done beside it, all or some.
 */
interface Kill {
  readonly collection: string;
  readonly step: number;
  /** By turns. */
  readonly isDone: readonly boolean[];
}
const isDone = fc.array(fc.boolean(), { minLength: 1, maxLength: 5 });
const anyKill: fc.Arbitrary<Kill> = fc.oneof(
  // The rows that all else is derived from.
  fc.record({
    collection: fc.constantFrom(poolEvents.name, lpEvents.name),
    step: fc.constant(0),
    isDone,
  }),
  // Who was seen last when, and how many in which bucket: two rows that change together.
  fc.record({
    collection: fc.constantFrom(poolUsers.name, rollups.name),
    step: fc.constantFrom(0, 1, 2, 3, 4, 5),
    isDone,
  }),
  fc.record({
    collection: fc.constantFrom(...COLLECTIONS.map(({ name }) => name)),
    step: fc.constantFrom(0, 1, 2, 5),
    isDone,
  }),
);

const story = fc.record({
  plan: blockPlans(14),
  keep: fc.nat(14),
  other: blockPlans(6),
  batch: fc.integer({ min: 1, max: 5 }),
});

/** Three blocks with a swap each: among few random cases there may be none with anything to undo. */
const SWAPS = [0, 1, 2].map((user) => ({
  seconds: 12,
  events: [{ pool: 0, kind: 4, size: 5, user }],
}));
const CERTAIN_ROLLBACK = { plan: SWAPS, keep: 1, other: SWAPS, batch: 2 };
const CERTAIN_KILL = {
  plan: SWAPS,
  before: 1,
  kill: { collection: poolEvents.name, step: 0, isDone: [true, false] },
  deeper: 0 as const,
};

/** What rows tell since decision 128. */
const untold = (row: unknown) => ({ ...(row as Record<string, unknown>), previousUsers: null });

/** As an earlier version has written it: no row tells who was seen where its swap took its sender away from. */
async function makeUntold(store: Store): Promise<void> {
  const rows = await store.find(poolEvents, {});
  await store.write([put(poolEvents, rows.map(untold) as typeof rows)]);
}

function withoutTold(all: Record<string, unknown[]>): Record<string, unknown[]> {
  return { ...all, [poolEvents.name]: (all[poolEvents.name] ?? []).map(untold) };
}

describeOnEngines(
  (engine) => `rollbackTo on ${engine}`,
  { rounds: 40 },
  ({ name, open }) => {
    /** A database of MongoDB takes a second to make. */
    const runs = (thorough: number) => (name === "SQLite" ? randomRuns(thorough) : randomRuns(16));
    const least = (thorough: number) => (name === "SQLite" ? leastCases(thorough) : 1);
    const opened = async () => {
      const made = await open();
      await made.store.declare(COLLECTIONS);
      return made;
    };

    it("leaves what an index up to that block has, and another branch can continue from it", async () => {
      let undone = 0;
      await fc.assert(
        fc.asyncProperty(story, async ({ plan, keep, other, batch }) => {
          const chain = growChain(plan);
          const kept = chain.slice(0, Math.min(keep, chain.length - 1));
          const { store, remove } = await opened();
          const checkpoint = await indexBlocks(store, { chain, checkpoint: startCheckpoint(), batch });
          const target = targetOf(chain, kept.length);
          undone += await rollbackTo(store, { checkpoint, target, guard });
          if (kept.length > 0) expectSame(await dump(store), await dumpFresh(kept));
          const branch = growChain(other, { after: kept, branch: 1 });
          const back = (await getCheckpoint(store, CHAIN_ID)) as CheckpointRow;
          await indexBlocks(store, { chain: branch, checkpoint: back, batch });
          expectSame(await dump(store), await dumpFresh(branch));
          await remove();
        }),
        { numRuns: runs(20), examples: [[CERTAIN_ROLLBACK]] },
      );
      expect(undone, "rollbacks that undo nothing prove nothing").to.be.at.least(least(25));
    });

    it("changes nothing where it rolls back to the checkpoint itself, however often", async () => {
      const chain = growChain(fc.sample(blockPlans(14), { numRuns: 1, seed: 5 })[0] as BlockPlan[]);
      const { store, remove } = await opened();
      const checkpoint = await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
      const all = await dump(store);
      for (let i = 0; i < 2; i++) {
        const target = targetOf(chain, chain.length);
        expect(await rollbackTo(store, { checkpoint, target, guard })).to.equal(0);
        expectSame(await dump(store), all);
      }
      await remove();
    });

    it("keeps what wallets held before the index, unless it goes back to before that", async () => {
      const chain = growChain(fc.sample(blockPlans(14), { numRuns: 1, seed: 5 })[0] as BlockPlan[]);
      const { store, remove } = await opened();
      const checkpoint = await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
      const key = { chainId: CHAIN_ID, wallet: address(0xa) };
      await store.write([
        put(knownWallets, [{ ...key, contracts: 1, readAtBlock: chain.length }]),
        put(lpAnchors, [{ ...key, poolAddress: address(0x900), balance: 1n, staked: 0n }]),
      ]);
      const count = async () => [await store.count(knownWallets, {}), await store.count(lpAnchors, {})];
      await rollbackTo(store, { checkpoint, target: targetOf(chain, checkpoint.fromBlock), guard });
      expect(await count()).to.deep.equal([1, 1]);
      await rollbackTo(store, { checkpoint, target: targetOf(chain, checkpoint.fromBlock - 1), guard });
      expect(await count()).to.deep.equal([0, 0]);
      await remove();
    });

    it("repairs a write that was killed at any step, on a store that applies each step by itself", async () => {
      const killed = fc.record({
        plan: blockPlans(10),
        before: fc.nat(9),
        kill: anyKill,
        // A fork that is found before the rows beyond the checkpoint are gone.
        deeper: fc.constantFrom(0, 0, 1, 3),
      });
      let partial = 0;
      await fc.assert(
        fc.asyncProperty(killed, async ({ plan, before, kill, deeper }) => {
          const chain = growChain(plan);
          const first = chain.slice(0, Math.min(before, chain.length - 1));
          const { store, remove } = await opened();
          const at = await indexBlocks(store, { chain: first, checkpoint: startCheckpoint(), batch: 2 });
          const dying = killedAt(store, kill);
          const died = await indexBlocks(dying, { chain, checkpoint: at, batch: chain.length }).then(
            () => false,
            () => true,
          );
          if (died) partial += 1;
          const checkpoint = (await getCheckpoint(store, CHAIN_ID)) ?? startCheckpoint();
          const target = targetOf(chain, Math.max(0, checkpoint.blockNumber - deeper));
          await rollbackTo(store, { checkpoint, target, guard });
          const back = (await getCheckpoint(store, CHAIN_ID)) ?? startCheckpoint();
          await indexBlocks(store, { chain, checkpoint: back });
          expectSame(await dump(store), await dumpFresh(chain));
          await remove();
        }),
        { numRuns: runs(30), examples: [[CERTAIN_KILL]] },
      );
      expect(partial).to.be.at.least(least(5));
    });

    it("ends the same when it is itself killed at any step and repeated, to the same block or a lower one", async () => {
      const killed = fc.record({
        plan: blockPlans(12),
        keep: fc.nat(11),
        kills: fc.array(fc.tuple(anyKill, fc.constantFrom(0, 0, 1, 3)), { minLength: 1, maxLength: 2 }),
        /** Whether an earlier version has written the rows. */
        isUntold: fc.constantFrom(false, false, true),
      });
      await fc.assert(
        fc.asyncProperty(killed, async ({ plan, keep, kills, isUntold }) => {
          const chain = growChain(plan);
          let left = Math.min(keep, chain.length - 1);
          const { store, remove } = await opened();
          await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
          if (isUntold) await makeUntold(store);
          for (const [kill, deeper] of kills) {
            const checkpoint = (await getCheckpoint(store, CHAIN_ID)) as CheckpointRow;
            const dying = killedAt(store, kill);
            const target = targetOf(chain, left);
            await rollbackTo(dying, { checkpoint, target, guard }).catch(rethrowUnlessKilled);
            left = Math.max(0, left - deeper);
          }
          const checkpoint = (await getCheckpoint(store, CHAIN_ID)) as CheckpointRow;
          const target = targetOf(chain, left);
          await rollbackTo(store, { checkpoint, target, guard });
          const [all, fresh] = [await dump(store), await dumpFresh(chain.slice(0, left))];
          const without = left > 0 ? [] : [headers.name];
          if (isUntold) expectSame(withoutTold(all), withoutTold(fresh), { without });
          else expectSame(all, fresh, { without });
          await remove();
        }),
        { numRuns: runs(40) },
      );
    });

    it("gives users back to minutes, hours and days, though a kill has left only some of the swaps that took them", async () => {
      const swapsOf = (users: readonly number[], seconds: number): BlockPlan => ({
        seconds,
        events: users.map((user) => ({ pool: 0, kind: 4, size: 5, user })),
      });
      // The bucket that two users return to: a closed minute of the open hour, a closed hour of the open day, a closed day.
      for (const gap of [61, 3_700, 90_000]) {
        const chain = growChain([swapsOf([0, 1, 2], 0), swapsOf([0], gap), swapsOf([1, 2], 1)]);
        const fresh = await dumpFresh(chain.slice(0, 2));
        const target = targetOf(chain, 2);
        for (const done of [undefined, [true, false], [false, true]]) {
          const kill = { collection: poolEvents.name, step: 0, isDone: done ?? [] };
          const [undone, unwritten] = [await opened(), await opened()];
          const checkpoint = await indexBlocks(undone.store, { chain, checkpoint: startCheckpoint() });
          if (done !== undefined)
            await rollbackTo(killedAt(undone.store, kill), { checkpoint, target, guard }).catch(
              rethrowUnlessKilled,
            );
          await rollbackTo(undone.store, { checkpoint, target, guard });
          expectSame(await dump(undone.store), fresh);
          const { store } = unwritten;
          const first = await indexBlocks(store, { chain: chain.slice(0, 2), checkpoint: startCheckpoint() });
          const dying = done === undefined ? store : killedAt(store, kill);
          await indexBlocks(dying, { chain, checkpoint: first }).catch(rethrowUnlessKilled);
          const at = (await getCheckpoint(store, CHAIN_ID)) as CheckpointRow;
          await rollbackTo(store, { checkpoint: at, target, guard });
          expectSame(await dump(store), fresh);
          await Promise.all([undone.remove(), unwritten.remove()]);
        }
      }
    });

    it("reads no users: a pool may have millions", async () => {
      const swap = { pool: 0, kind: 4, size: 5 };
      const days = [0, 90_000, 90_000, 90_000].map((seconds) => ({
        seconds,
        events: [0, 1, 2].map((user) => ({ ...swap, user })),
      }));
      const chain = growChain(days);
      const { store, remove } = await opened();
      const checkpoint = await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
      const target = targetOf(chain, 3);
      const watched = Object.create(store) as Store;
      for (const method of ["find", "get", "getMany", "getLast", "count", "sum", "write"] as const) {
        Object.defineProperty(watched, method, {
          value: (from: unknown, ...rest: unknown[]) => {
            if (from === poolUsers) throw new Error(`${method} of users`);
            return (store[method] as (...args: unknown[]) => unknown).call(store, from, ...rest);
          },
        });
      }
      await rollbackTo(watched, { checkpoint, target, guard });
      expectSame(await dump(store), await dumpFresh(chain.slice(0, 3)));
      await remove();
    });
  },
);

class Killed extends Error {}

function rethrowUnlessKilled(error: unknown): void {
  if (!(error instanceof Killed)) throw error;
}

/** A store whose writes fail there. */
function killedAt(store: Store, kill: Kill): Store {
  let left = kill.step;
  return storeWith(store, {
    write: async (steps: readonly WriteStep[]) => {
      for (const group of parallelGroups(steps)) {
        const isLast = group.some(({ collection }) => collection.name === kill.collection && left-- <= 0);
        if (!isLast) {
          await store.write(group);
          continue;
        }
        for (const [i, step] of group.entries()) {
          const isWhole = step.collection.name !== kill.collection && isDoneAt(kill, i);
          await store.write([isWhole ? step : await partOf(store, { step, kill })]);
        }
        throw new Killed();
      }
    },
  });
}

function isDoneAt({ isDone }: Kill, i: number): boolean {
  return isDone[i % isDone.length] === true;
}

async function partOf(store: Store, { step, kill }: { step: WriteStep; kill: Kill }): Promise<WriteStep> {
  const isDone = (_: unknown, i: number) => isDoneAt(kill, i);
  if (step.kind === "put") return { ...step, rows: [...step.rows].filter(isDone) };
  if (step.kind === "remove") return { ...step, keys: step.keys.filter(isDone) };
  if (step.kind === "require" || step.kind === "claim") return step;
  const rows: Record<string, unknown>[] = await store.find(step.collection, { filter: step.filter });
  const keys = rows.map((row) => Object.fromEntries(step.collection.key.map((field) => [field, row[field]])));
  return { kind: "remove", collection: step.collection, keys: keys.filter(isDone) };
}
