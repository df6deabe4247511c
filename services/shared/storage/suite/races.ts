import { expect } from "chai";
import { describe, it } from "mocha";
import { collection } from "../collection.ts";
import { put, type Store } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { allOf, sample, samples } from "./sample.ts";

const counters = collection({
  name: "counters",
  fields: { name: "text", value: "int", holder: "text?" },
  key: ["name"],
  indexes: [],
  shardKey: ["name"],
});

export function describeRaces(options: SuiteOptions): void {
  describe("races", () => {
    const fixture = useStore(options, [samples, counters]);
    /** Several connections where the engine has them, the one there is otherwise. */
    const connections = async (): Promise<Store[]> =>
      options.traits.shared
        ? [fixture.store, await fixture.connect(), await fixture.connect()]
        : [fixture.store];
    const each = (stores: Store[], i: number): Store => stores[i % stores.length] as Store;

    it("compareAndSet writes only where the row is as expected", async () => {
      const { store } = fixture;
      const row = { name: "a", value: 1, holder: null };
      expect(await store.compareAndSet(counters, row, { value: 0 })).to.equal(false);
      expect(await store.compareAndSet(counters, row, null)).to.equal(true);
      expect(await store.compareAndSet(counters, { ...row, value: 2 }, null)).to.equal(false);
      expect(await store.compareAndSet(counters, { ...row, value: 2 }, { value: 0 })).to.equal(false);
      expect(await store.get(counters, { name: "a" })).to.deep.equal(row);
      expect(
        await store.compareAndSet(
          counters,
          { ...row, value: 2, holder: "x" },
          { value: { lte: 1 }, holder: null },
        ),
      ).to.equal(true);
      expect(await store.compareAndSet(counters, { ...row, value: 3 }, { holder: { in: ["y"] } })).to.equal(
        false,
      );
      expect(await store.compareAndSet(counters, { ...row, value: 3 }, {})).to.equal(true);
      expect(await store.find(counters, {})).to.deep.equal([{ name: "a", value: 3, holder: null }]);
    });

    it("compareAndSet has exactly one winner among many who create a row", async () => {
      const stores = await connections();
      for (let round = 0; round < 5; round++) {
        const name = `round ${round}`;
        const won = await Promise.all(
          Array.from({ length: 12 }, (_, i) =>
            each(stores, i).compareAndSet(counters, { name, value: i, holder: null }, null),
          ),
        );
        expect(won.filter(Boolean)).to.have.length(1);
        expect((await fixture.store.get(counters, { name }))?.value).to.equal(won.indexOf(true));
      }
    });

    it("compareAndSet has exactly one winner among many who change a row", async () => {
      const stores = await connections();
      await fixture.store.write([put(counters, [{ name: "a", value: 0, holder: null }])]);
      for (let round = 0; round < 5; round++) {
        const next = (i: number) => ({ name: "a", value: round + 1, holder: `contender ${i}` });
        const won = await Promise.all(
          Array.from({ length: 12 }, (_, i) =>
            each(stores, i).compareAndSet(counters, next(i), { value: round }),
          ),
        );
        expect(won.filter(Boolean)).to.have.length(1);
        expect(await fixture.store.get(counters, { name: "a" })).to.deep.equal(next(won.indexOf(true)));
      }
    });

    it("parallel writes of different keys all arrive", async () => {
      const stores = await connections();
      const batches = Array.from({ length: 12 }, (_, b) =>
        Array.from({ length: 100 }, (_, i) => sample(b * 100 + i)),
      );
      await Promise.all(batches.map((rows, i) => each(stores, i).write([put(samples, rows)])));
      expect(await allOf(fixture.store)).to.deep.equal(batches.flat());
    });

    it("parallel writes of the same new keys leave one row each", async () => {
      const stores = await connections();
      const rows = Array.from({ length: 200 }, (_, i) => sample(i));
      await Promise.all(Array.from({ length: 6 }, (_, i) => each(stores, i).write([put(samples, rows)])));
      expect(await allOf(fixture.store)).to.deep.equal(rows);
    });
  });
}
