import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { collection } from "../collection.ts";
import { ConflictError, inParallel, put, remove, removeWhere, requireRow, type Store } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { referenceFind, referenceMatch } from "./reference.ts";
import { allOf, anyQuery, anySample, type Sample, sample, samples } from "./sample.ts";

/** Only a key, and a unique index beside a key. */
const seen = collection({
  name: "seen",
  fields: { hash: "text" },
  key: ["hash"],
  indexes: [],
  shardKey: ["hash"],
});
const names = collection({
  name: "names",
  fields: { id: "int", name: "text" },
  key: ["id"],
  indexes: [{ fields: ["name"], unique: true }],
  shardKey: ["id"],
});

const undeclared = collection({
  name: "undeclared",
  fields: { id: "int" },
  key: ["id"],
  indexes: [],
  shardKey: ["id"],
});

export function describeWrites(options: SuiteOptions): void {
  describe("writes", () => {
    const fixture = useStore(options, [samples, seen, names]);
    const keyOf = ({ chainId, address }: Sample): { chainId: number; address: string } => ({
      chainId,
      address,
    });
    const failure = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => undefined,
        (error: unknown) => error,
      );

    it("replace whole rows by key: replaying batches in any order ends in the same rows", async () => {
      const { store } = fixture;
      const batches = Array.from({ length: 6 }, (_, batch) =>
        Array.from({ length: 40 }, (_, i) => sample(batch * 30 + i)),
      );
      for (const order of [
        [0, 1, 2, 3, 4, 5],
        [5, 3, 1, 0, 2, 4],
        [0, 0, 5, 5],
      ]) {
        for (const i of order) await store.write([put(samples, batches[i] as Sample[])]);
        expect(await allOf(store)).to.deep.equal(Array.from({ length: 190 }, (_, i) => sample(i)));
      }
    });

    it("replace every field, null included", async () => {
      const { store } = fixture;
      const changed = sample(1, {
        symbol: null,
        tick: null,
        tvlUsd: null,
        amount: null,
        stable: true,
        note: { a: 1 },
        dex: "x",
      });
      for (const row of [sample(1), changed, sample(1), changed]) {
        await store.write([put(samples, [row])]);
        expect(await allOf(store)).to.deep.equal([row]);
      }
      expect(await store.find(samples, { filter: { symbol: null } })).to.deep.equal([changed]);
    });

    it("let the last of two rows with one key win, within a batch too", async () => {
      const { store } = fixture;
      await store.write([
        put(samples, [sample(1), sample(2), sample(1, { price: 5 })]),
        put(samples, [sample(2, { price: 6 })]),
      ]);
      expect(await allOf(store)).to.deep.equal([sample(1, { price: 5 }), sample(2, { price: 6 })]);
      // More than an engine sends at once.
      const versions = [1, 2].map((price) => Array.from({ length: 3_000 }, (_, i) => sample(i, { price })));
      await store.write([put(samples, versions.flat())]);
      expect(await allOf(store)).to.deep.equal(versions[1]);
    });

    it("take batches of new, old and mixed rows of any size", async () => {
      const { store } = fixture;
      const batch = (from: number, to: number, price: number): Sample[] =>
        Array.from({ length: to - from }, (_, i) => sample(from + i, { price }));
      await store.write([put(samples, batch(0, 4_500, 1))]);
      await store.write([put(samples, batch(4_000, 9_000, 2))]);
      await store.write([put(samples, batch(0, 100, 3))]);
      await store.write([put(samples, batch(8_999, 9_100, 4))]);
      const prices = [3, 1, 2, 4].map((price) =>
        store
          .find(samples, { filter: { chainId: 8453 }, fields: ["price"] })
          .then((rows) => rows.filter((row) => row.price === price).length),
      );
      expect(await Promise.all(prices)).to.deep.equal([100, 3_900, 4_999, 101]);
    });

    it("may be empty", async () => {
      const { store } = fixture;
      await store.write([]);
      await store.write([put(samples, []), remove(samples, [])]);
      expect(await allOf(store)).to.deep.equal([]);
    });

    it("skip steps without rows and keys, even of a collection that was not declared", async () => {
      const { store } = fixture;
      await store.write([
        put(samples, [sample(1)]),
        put(undeclared, []),
        ...inParallel(put(samples, [sample(2)]), remove(undeclared, []), put(samples, [])),
        remove(samples, []),
      ]);
      expect(await allOf(store)).to.deep.equal([sample(1), sample(2)]);
    });

    it("hold collections that are nothing but a key", async () => {
      const { store } = fixture;
      await store.write([put(seen, [{ hash: "b" }, { hash: "a" }])]);
      await store.write([put(seen, [{ hash: "b" }])]);
      expect(await store.find(seen, {})).to.deep.equal([{ hash: "a" }, { hash: "b" }]);
    });

    it("keep a unique index, and never delete another row for it", async () => {
      const { store } = fixture;
      await store.write([put(names, [{ id: 1, name: "a" }])]);
      expect(await failure(store.write([put(names, [{ id: 2, name: "a" }])]))).to.be.instanceOf(Error);
      expect(await failure(store.compareAndSet(names, { id: 2, name: "a" }, null))).to.be.instanceOf(Error);
      expect(await store.find(names, {})).to.deep.equal([{ id: 1, name: "a" }]);
      await store.write([put(names, [{ id: 1, name: "a" }])]);
    });

    it("remove by key, present or not", async () => {
      const { store } = fixture;
      const rows = Array.from({ length: 2_500 }, (_, i) => sample(i));
      await store.write([put(samples, rows)]);
      const odd = rows.filter((_, i) => i % 2 === 1);
      await store.write([remove(samples, [...odd.map(keyOf), keyOf(sample(99_999)), keyOf(sample(1))])]);
      expect(await allOf(store)).to.deep.equal(rows.filter((_, i) => i % 2 === 0));
    });

    it("remove ranges: what matches goes, all else stays", async () => {
      const { store } = fixture;
      const population = referenceFind(
        uniqueByKey(fc.sample(anySample, { numRuns: 60, seed: 5 })),
        {},
      ) as Sample[];
      const filters = fc
        .sample(anyQuery, { numRuns: 25, seed: 9 })
        .flatMap(({ filter }) => (filter === undefined ? [] : [filter]));
      for (const filter of [{ chainId: 8453 }, { chainId: 1, address: { gt: "a" } }, {}, ...filters]) {
        await store.write([put(samples, population)]);
        await store.write([removeWhere(samples, filter)]);
        const gone = new Set(referenceMatch(population, filter));
        expect(await allOf(store), JSON.stringify(filter, bigintText)).to.deep.equal(
          population.filter((row) => !gone.has(row)),
        );
      }
    });

    it("apply steps in their order", async () => {
      const { store } = fixture;
      await store.write([
        put(samples, [sample(1), sample(2)]),
        removeWhere(samples, { chainId: 8453 }),
        put(samples, [sample(3)]),
      ]);
      expect(await allOf(store)).to.deep.equal([sample(3)]);
    });

    it("apply what needs no order after what comes before, and before what comes after", async () => {
      const { store } = fixture;
      const rows = Array.from({ length: 700 }, (_, i) => sample(i));
      await store.write([
        put(names, [{ id: 1, name: "a" }]),
        ...inParallel(put(samples, rows), put(seen, [{ hash: "b" }]), remove(names, [{ id: 1 }])),
        ...inParallel(remove(samples, rows.slice(3).map(keyOf)), put(names, [{ id: 2, name: "a" }])),
        requireRow(names, { id: 2 }, { name: "a" }),
      ]);
      expect(await allOf(store)).to.deep.equal(rows.slice(0, 3));
      expect(await store.find(seen, {})).to.deep.equal([{ hash: "b" }]);
      expect(await store.find(names, {})).to.deep.equal([{ id: 2, name: "a" }]);
    });

    it("report a failure once no write is under way, and apply no later step", async () => {
      const { store } = fixture;
      const rows = Array.from({ length: 3_000 }, (_, i) => sample(i));
      const failed = await failure(
        store.write([
          // A row without its name, which is seen before anything is sent.
          ...inParallel(put(names, [{ id: 2 } as never]), put(samples, rows)),
          put(seen, [{ hash: "b" }]),
        ]),
      );
      expect(failed).to.be.instanceOf(Error);
      expect(await store.count(samples, {})).to.equal(options.traits.atomicWrites ? 0 : rows.length);
      expect(await store.find(seen, {})).to.deep.equal([]);
    });

    it("stop with a ConflictError at a required row that is not as required", async () => {
      const { store } = fixture;
      const key = { id: 1 };
      await store.write([put(names, [{ id: 1, name: "a" }])]);
      await store.write([requireRow(names, key, { name: "a" }), put(names, [{ id: 2, name: "b" }])]);
      for (const expected of [requireRow(names, key, { name: "b" }), requireRow(names, { id: 9 }, {})]) {
        expect(await failure(store.write([expected, put(names, [{ id: 3, name: "c" }])]))).to.be.instanceOf(
          ConflictError,
        );
      }
      expect(await store.count(names, {})).to.equal(2);
    });

    if (options.traits.atomicWrites) {
      it("leave nothing of a write whose last step fails", async () => {
        const { store } = fixture;
        await store.write([put(names, [{ id: 1, name: "a" }])]);
        const steps = [
          put(samples, [sample(1)]),
          removeWhere(names, { id: 1 }),
          put(names, [{ id: 2, name: "b" }]),
        ];
        for (const last of [
          put(names, [{ id: 3, name: "b" }]),
          requireRow(names, { id: 1 }, {}),
          put(names, [{ id: 4 } as never]),
        ]) {
          expect(await failure(store.write([...steps, last]))).to.be.instanceOf(Error);
          expect(await store.count(samples, {})).to.equal(0);
          expect(await store.find(names, {})).to.deep.equal([{ id: 1, name: "a" }]);
        }
      });
    }

    it("refuse to work after close, and may be closed twice", async () => {
      const { store } = fixture;
      await store.close();
      await store.close();
      const works: ((store: Store) => Promise<unknown>)[] = [
        (closed) => closed.get(samples, keyOf(sample(1))),
        (closed) => closed.write([put(samples, [sample(1)])]),
      ];
      for (const work of works) expect(await failure(work(store))).to.be.instanceOf(Error);
    });
  });
}

function uniqueByKey(rows: readonly Sample[]): Sample[] {
  return [...new Map(rows.map((row) => [JSON.stringify([row.chainId, row.address]), row])).values()];
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}
