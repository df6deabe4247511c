import { randomUUID } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it } from "mocha";
import { MongoClient } from "mongodb";
import { TimeSlices } from "../../../shared/process/time-slices.ts";
import { openMongoStore } from "../../../shared/storage/mongodb/store.ts";
import { put, removeWhere, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { storeWith } from "../../../shared/storage/within.ts";
import { describeWithProcesses } from "../../../shared/testkit/describe.ts";
import type { EntitySet } from "../../protocols/protocol.ts";
import { COLLECTIONS, checkpoints, entities } from "../../store/collections.ts";
import { listEntities } from "../../store/queries.ts";
import { kindOf, vaultRow } from "../../test/fake-protocol.ts";
import {
  CHAIN_ID,
  checkpointRow,
  openTestStore,
  stepsOf,
  unitRow,
  type Written,
  writeBlock,
} from "../../test/stored.ts";
import { EntityMirror } from "./entity-mirror.ts";

const KIND = kindOf("morpho-v1");
const rows = (supply: number) => [vaultRow({ supply })];

/** The mirror's view of each entity: the supply of its one row. */
function suppliesIn(found: EntitySet): Record<string, number> {
  return Object.fromEntries(
    [...found.all<ReturnType<typeof rows>>(KIND)].map(({ id, state }) => [id, state[0]?.supply as number]),
  );
}

interface TestStore {
  readonly store: Store;
  close(): Promise<void>;
}

async function openSqlite(): Promise<TestStore> {
  const store = await openTestStore();
  return { store, close: () => store.close() };
}

/** A database of its own, which is dropped at the end. */
async function openMongo(url: string): Promise<TestStore> {
  const database = `chaintables_test_${randomUUID().replaceAll("-", "")}`;
  const store = await openMongoStore({ url, database });
  await store.declare(COLLECTIONS);
  return {
    store,
    async close() {
      await store.close();
      const client = await new MongoClient(url).connect();
      await client.db(database).dropDatabase();
      await client.close();
    },
  };
}

const mongodbUrl = process.env.MONGODB_URL;

describeMirror("EntityMirror over SQLite", { open: openSqlite, numRuns: 60 });
if (mongodbUrl === undefined) {
  describe("EntityMirror over MongoDB", () => {
    it("pending: MONGODB_URL is not set, so there is no server to run against", function () {
      this.skip();
    });
  });
} else describeMirror("EntityMirror over MongoDB", { open: () => openMongo(mongodbUrl), numRuns: 4 });

function describeMirror(name: string, engine: { open: () => Promise<TestStore>; numRuns: number }): void {
  describeWithProcesses(name, () => {
    let opened: TestStore;
    let store: Store;
    beforeEach(async () => {
      opened = await engine.open();
      store = opened.store;
    });
    afterEach(() => opened.close());

    const mirrorOf = (options: Store = store) =>
      new EntityMirror(options, { chainId: CHAIN_ID, kinds: [KIND] });
    const read = async (mirror: EntityMirror) => {
      const found = await mirror.read(new TimeSlices());
      return found && { block: found.checkpoint.blockNumber, units: suppliesIn(found.entities) };
    };

    it("knows nothing before the first block is indexed", async () => {
      const mirror = mirrorOf();
      expect(await read(mirror)).to.equal(undefined);
      await store.write([put(checkpoints, [checkpointRow({ blockNumber: 99, fromBlock: 100 })])]);
      expect(await read(mirror)).to.equal(undefined);
    });

    it("reads all once, and then only what was written since", async () => {
      await writeBlock(store, { block: 200, units: { a: rows(1), b: rows(2) } });
      const fetched: number[] = [];
      const counting = storeWith(store, {
        async find(from, query) {
          const found = await store.find(from, query);
          fetched.push(found.length);
          return found;
        },
      });
      const mirror = mirrorOf(counting);
      expect(await read(mirror)).to.deep.equal({ block: 200, units: { a: 1, b: 2 } });
      await writeBlock(store, { block: 201, units: { b: rows(3), c: rows(4) } });
      expect(await read(mirror)).to.deep.equal({ block: 201, units: { a: 1, b: 3, c: 4 } });
      await writeBlock(store, { block: 202 });
      expect(await read(mirror)).to.deep.equal({ block: 202, units: { a: 1, b: 3, c: 4 } });
      expect(fetched).to.deep.equal([2, 2, 0]);
    });

    it("reads everything again after a rollback, and for another index", async () => {
      const mirror = mirrorOf();
      await writeBlock(store, { block: 200, units: { a: rows(1) } });
      await writeBlock(store, { block: 201, units: { b: rows(2) } });
      await read(mirror);
      await writeBlock(store, { block: 200, gone: ["b"], hash: "0xother" });
      expect(await read(mirror)).to.deep.equal({ block: 200, units: { a: 1 } });
      // The same epoch, but a version long past: the index was started anew.
      await store.write([
        removeWhere(entities, { chainId: CHAIN_ID }),
        put(entities, [unitRow("z", { rows: rows(9), block: 10, version: 1 })]),
        put(checkpoints, [checkpointRow({ blockNumber: 110, version: 1, epoch: 1 })]),
      ]);
      expect(await read(mirror)).to.deep.equal({ block: 110, units: { z: 9 } });
    });

    it("leaves out entities without a state, and those of other protocols", async () => {
      const unread = { ...unitRow("u", { rows: rows(1), block: 200, version: 1 }), block: null, state: null };
      const foreign = {
        ...unitRow("f", { rows: rows(1), block: 200, version: 1 }),
        kind: "foreign",
        state: "{",
      };
      await store.write([put(entities, [unread, foreign]), put(checkpoints, [checkpointRow()])]);
      expect(await read(mirrorOf())).to.deep.equal({ block: 200, units: {} });
    });

    it("waits while a write is under way, and reads what is written under the same version in its place", async () => {
      await writeBlock(store, { block: 200, units: { a: rows(1), b: rows(2) } });
      const mirror = mirrorOf();
      await read(mirror);
      const begun = await stepsOf(store, { block: 201, units: { a: rows(10) } });
      await store.write(begun.slice(0, 1));
      expect(await read(mirror)).to.equal(undefined);
      expect(await read(mirrorOf()), "nor has a new process anything to show").to.equal(undefined);
      // The writer died; the one after it finds another block 201.
      await store.write(await stepsOf(store, { block: 201, units: { a: rows(20), c: rows(3) } }));
      expect(await read(mirror)).to.deep.equal({ block: 201, units: { a: 20, b: 2, c: 3 } });
    });

    it("reads again what is written while it reads", async () => {
      await writeBlock(store, { block: 200, units: { a: rows(1), b: rows(2) } });
      let writes = 0;
      const busy = storeWith(store, {
        async find(from, query) {
          const found = await store.find(from, query);
          if (++writes <= 3)
            await writeBlock(store, { block: 200 + writes, units: { a: rows(100 + writes) } });
          return found;
        },
      });
      expect(await read(mirrorOf(busy))).to.deep.equal({ block: 203, units: { a: 103, b: 2 } });
    });

    it("tries later where a store never stops changing", async () => {
      await writeBlock(store, { block: 200, units: { a: rows(1) } });
      let block = 200;
      const restless = storeWith(store, {
        async find(from, query) {
          await writeBlock(store, { block: ++block, units: { a: rows(block) } });
          return store.find(from, query);
        },
      });
      const mirror = mirrorOf(restless);
      expect(await read(mirror)).to.equal(undefined);
    });

    const ids = ["a", "b", "c", "d", "e"];
    const write = fc.record({
      /** Written entities, by id. */
      set: fc.dictionary(fc.constantFrom(...ids), fc.nat(1_000)),
      gone: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray(ids, { minLength: 1 })),
      /** Steps that reach the store before the writer is killed, and entities of the next write, which is complete. */
      diesAfter: fc.nat(3),
      part: fc.nat(4),
      looks: fc.boolean(),
    });

    it("is what the store is, whatever was written, taken away or left half written", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(write, { maxLength: 8 }), async (writes) => {
          const { store: fresh, close } = await engine.open();
          const mirror = mirrorOf(fresh);
          const expected: Record<string, number> = {};
          let block = 200;
          for (const { set, gone, looks, ...death } of writes) {
            const steps = await stepsOf(fresh, { block: ++block, ...writtenOf(set, gone) });
            await fresh.write(beginningOf(steps, death));
            if (looks) await read(mirror);
            await fresh.write(steps);
            Object.assign(expected, set);
            for (const id of gone) delete expected[id];
            if (looks) expect(await read(mirror)).to.deep.equal({ block, units: expected });
          }
          expect((await read(mirror))?.units ?? {}).to.deep.equal(expected);
          await close();
        }),
        { numRuns: engine.numRuns },
      );
    });
  });
}

function writtenOf(supplies: Record<string, number>, gone: readonly string[]): Omit<Written, "block"> {
  const written = Object.entries(supplies).map(([id, supply]) => [id, rows(supply)] as const);
  return { units: Object.fromEntries(written), ...(gone.length > 0 && { gone }) };
}

/** The completed steps of a killed writer: never the last one, and any part of the entities. */
function beginningOf(steps: readonly WriteStep[], options: { diesAfter: number; part: number }): WriteStep[] {
  const [first, ...others] = steps;
  if (first?.kind !== "put") throw new Error("Units are written first.");
  if (options.diesAfter === 0) return [{ ...first, rows: [...first.rows].slice(0, options.part) }];
  return [first, ...others.slice(0, Math.min(options.diesAfter, others.length) - 1)];
}

describe("listEntities", () => {
  it("lists every entity once, in order, in pages, even if many have one version", async () => {
    const store = await openTestStore();
    const written = Array.from({ length: 23 }, (_, n) => ({
      ...unitRow(`u${n % 7}`, { rows: rows(n), block: 200, version: 5 + (n % 3 === 0 ? 1 : 0) }),
      kind: `k${Math.floor(n / 7)}`,
    }));
    await store.write([put(entities, written)]);
    for (const pageSize of [1, 2, 5, 22, 23, 24]) {
      const seen: string[] = [];
      for await (const page of listEntities(store, { chainId: CHAIN_ID, after: 4, pageSize })) {
        expect(page.length).to.be.at.most(pageSize);
        seen.push(...page.map(({ version, kind, id }) => `${version} ${kind} ${id}`));
      }
      expect(seen).to.deep.equal(written.map(({ version, kind, id }) => `${version} ${kind} ${id}`).sort());
    }
    const newer: string[] = [];
    for await (const page of listEntities(store, { chainId: CHAIN_ID, after: 5 })) {
      newer.push(...page.map(({ id }) => id));
    }
    expect(newer).to.have.length(8);
    await store.close();
  });
});
