import { expect } from "chai";
import fc from "fast-check";
import { before, describe, it } from "mocha";
import { randomRuns } from "../../testkit/describe.ts";
import { collection } from "../collection.ts";
import { put, type Store } from "../port.ts";
import { MAX_IN_VALUES } from "../query.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { referenceFind, referenceSelect } from "./reference.ts";
import { allOf, anyQuery, anySample, ODD_TEXTS, type Sample, sample, samples } from "./sample.ts";

const histories = collection({
  name: "histories",
  fields: { token: "text", block: "int" },
  key: ["token", "block"],
  indexes: [],
  shardKey: ["token"],
});

const visits = collection({
  name: "visits",
  fields: { block: "int", place: "text", time: "int" },
  key: ["block"],
  indexes: [{ fields: ["place", "time"] }],
  shardKey: ["block"],
});

export function describeQueries(options: SuiteOptions): void {
  describe("queries", () => {
    const fixture = useStore(options, [samples, histories, visits]);
    const fill = async (rows: readonly Sample[]): Promise<Store> => {
      await fixture.store.write([put(samples, rows)]);
      return fixture.store;
    };

    let population: Sample[];
    before(() => {
      const byKey = new Map(
        fc.sample(anySample, { numRuns: 250, seed: 11 }).map((row) => [`${row.chainId} ${row.address}`, row]),
      );
      population = [...byKey.values()];
    });

    it("answer as the reference does: filters, orders with nulls, pages, projections", async () => {
      const store = await fill(population);
      await fc.assert(
        fc.asyncProperty(anyQuery, async (query) => {
          expect(await store.find(samples, query)).to.deep.equal(referenceFind(population, query));
          const { filter = {}, ...selection } = query;
          const count = referenceSelect(population, query).length;
          expect(await store.count(samples, filter, selection)).to.equal(count);
        }),
        { numRuns: randomRuns(150) },
      );
    });

    for (const direction of ["asc", "desc"] as const) {
      it(`put nulls last, ${direction}, on every page across the border`, async () => {
        const rows = Array.from({ length: 20 }, (_, i) =>
          sample(i, { tvlUsd: i % 4 === 0 ? null : (i * 7) % 20 }),
        );
        const store = await fill(rows);
        const order = [{ field: "tvlUsd", direction }] as const;
        const expected = referenceFind(rows, { order, fields: ["tvlUsd"] }).map((row) => row.tvlUsd);
        expect(expected.slice(-5)).to.deep.equal([null, null, null, null, null]);
        for (let skip = 0; skip <= 21; skip++) {
          for (const limit of [1, 3, 30]) {
            const page = await store.find(samples, { order, skip, limit, fields: ["tvlUsd"] });
            expect(
              page.map((row) => row.tvlUsd),
              `skip ${skip}, limit ${limit}`,
            ).to.deep.equal(expected.slice(skip, skip + limit));
          }
        }
      });
    }

    it("put nulls last in each of several fields", async () => {
      const values = [null, 1, 2];
      const rows = values.flatMap((tick, i) =>
        values.map((tvlUsd, j) => sample(3 * i + j, { tick, tvlUsd })),
      );
      const store = await fill(rows);
      for (const first of ["asc", "desc"] as const) {
        for (const second of ["asc", "desc"] as const) {
          const order = [
            { field: "tick", direction: first },
            { field: "tvlUsd", direction: second },
          ] as const;
          const expected = referenceFind(rows, { order });
          for (let skip = 0; skip < 9; skip++) {
            const page = await store.find(samples, { order, skip, limit: 2 });
            expect(page, `${first} ${second} ${skip}`).to.deep.equal(expected.slice(skip, skip + 2));
          }
        }
      }
    });

    it("order big integers as numbers and bound them", async () => {
      const amounts = [-(2n ** 200n), -17n, -16n, -1n, 0n, 1n, 9n, 10n, 2n ** 64n, 2n ** 255n];
      const store = await fill([...amounts].reverse().map((amount, i) => sample(i, { amount })));
      const order = [{ field: "amount", direction: "asc" }] as const;
      expect(
        (await store.find(samples, { order, fields: ["amount"] })).map((row) => row.amount),
      ).to.deep.equal(amounts);
      const between = await store.find(samples, {
        filter: { amount: { gt: -17n, lte: 10n } },
        order,
        fields: ["amount"],
      });
      expect(between.map((row) => row.amount)).to.deep.equal([-16n, -1n, 0n, 1n, 9n, 10n]);
    });

    it("decide every tie by the key, so that pages neither overlap nor leave a gap", async () => {
      const rows = Array.from({ length: 50 }, (_, i) => sample(i * 7919, { dex: "same" }));
      const store = await fill(rows);
      const order = [{ field: "dex", direction: "desc" }] as const;
      const seen: string[] = [];
      for (let skip = 0; skip < 50; skip += 7) {
        for (const row of await store.find(samples, { order, skip, limit: 7, fields: ["address"] }))
          seen.push(row.address);
      }
      expect(seen).to.deep.equal(rows.map((row) => row.address).reverse());
    });

    it("take lists of any length up to the limit, and nothing for an empty list", async () => {
      const store = await fill([sample(1), sample(2), sample(3)]);
      for (const length of [1, 2, 3, 100, MAX_IN_VALUES]) {
        const blockTimes = Array.from({ length }, (_, i) => sample(2).blockTime + i);
        const found = await store.find(samples, {
          filter: { blockTime: { in: blockTimes } },
          fields: ["symbol"],
        });
        expect(found.map((row) => row.symbol)).to.deep.equal(length === 1 ? ["T2"] : ["T2", "T3"]);
      }
      expect(await store.count(samples, { blockTime: { in: [] } })).to.equal(0);
      expect(await store.find(samples, { filter: { chainId: 8453, address: { in: [] } } })).to.deep.equal([]);
      const tooMany = { blockTime: { in: Array.from({ length: MAX_IN_VALUES + 1 }, (_, i) => i) } };
      expect(await store.count(samples, tooMany).catch((error: unknown) => error)).to.be.instanceOf(
        TypeError,
      );
    });

    it("find rows by key, one by one and many at once", async () => {
      const rows = Array.from({ length: 1_500 }, (_, i) => sample(7 * i));
      const store = await fill(rows);
      const keyOf = (i: number): { chainId: number; address: string } => ({
        chainId: 8453,
        address: sample(i).address,
      });
      expect(await store.get(samples, keyOf(7))).to.deep.equal(sample(7));
      expect(await store.get(samples, keyOf(8))).to.equal(undefined);
      expect(await store.getMany(samples, [])).to.deep.equal([]);
      // More than an engine looks up at a time.
      const wanted = [...Array.from({ length: 11_000 }, (_, i) => keyOf(i)), keyOf(7), keyOf(7)];
      const found = await store.getMany(samples, wanted);
      expect(found.sort((a, b) => a.blockTime - b.blockTime)).to.deep.equal(rows);
      // The same for keys of several lengths.
      const alsoLong = await store.getMany(samples, [
        ...wanted,
        { chainId: 8453, address: "longer or shorter" },
      ]);
      expect(alsoLong.sort((a, b) => a.blockTime - b.blockTime)).to.deep.equal(rows);
    });

    it("find the last rows up to many keys, each among those that differ in the key's last field alone", async () => {
      const store = await fill(population);
      const keys = ODD_TEXTS.flatMap((address) => [1, 8453, -7, 99].map((chainId) => ({ chainId, address })));
      const expected = keys.flatMap(({ chainId, address }) =>
        referenceFind(population, {
          filter: { chainId, address: { lte: address } },
          order: [{ field: "address", direction: "desc" }],
          limit: 1,
        }),
      );
      const byKey = (rows: readonly Partial<Sample>[]) =>
        new Map(rows.map((row) => [`${row.chainId} ${row.address}`, row]));
      const found = await store.getLast(samples, [...keys, ...keys.slice(0, 5)]);
      expect(found, "each row once").to.have.length(byKey(found).size);
      expect(byKey(found)).to.deep.equal(byKey(expected));
      expect(byKey(found).size).to.be.greaterThan(20);
      expect(await store.getLast(samples, [])).to.deep.equal([]);
      expect(await store.getLast(samples, [{ chainId: 99, address: "a" }])).to.deep.equal([]);
    });

    it("find the last row up to a number, however many come after it", async () => {
      await fixture.store.write([
        put(
          histories,
          [7, 8, 90, 100, 1_000].map((block) => ({ token: "a", block })),
        ),
      ]);
      const at = async (block: number) =>
        (await fixture.store.getLast(histories, [{ token: "a", block }])).map((row) => row.block);
      expect(await at(6)).to.deep.equal([]);
      for (const [block, last] of [
        [7, 7],
        [89, 8],
        [99, 90],
        [100, 100],
        [Number.MAX_SAFE_INTEGER, 1_000],
      ]) {
        expect(await at(block as number), `${block}`).to.deep.equal([last]);
      }
      expect(await fixture.store.getLast(histories, [{ token: "b", block: 100 }])).to.deep.equal([]);
    });

    it("find the last row up to a value in an index; of several, the last by key", async () => {
      const rows = [
        { block: 1, place: "a", time: 10 },
        { block: 2, place: "a", time: 20 },
        { block: 3, place: "b", time: 20 },
        { block: 4, place: "a", time: 20 },
        { block: 5, place: "a", time: 30 },
      ];
      await fixture.store.write([put(visits, rows)]);
      const at = async (...keys: { place: string; time: number }[]) =>
        (await fixture.store.getLast(visits, keys, ["place", "time"]))
          .map((row) => row.block)
          .sort((a, b) => a - b);
      expect(await at({ place: "a", time: 9 }, { place: "c", time: 99 })).to.deep.equal([]);
      expect(await at({ place: "a", time: 19 })).to.deep.equal([1]);
      expect(await at({ place: "a", time: 20 }, { place: "b", time: 99 })).to.deep.equal([3, 4]);
      expect(await at({ place: "a", time: 29 }, { place: "a", time: 20 }), "each row once").to.deep.equal([
        4,
      ]);
      expect(await at({ place: "a", time: 99 })).to.deep.equal([5]);
    });

    it("return rows in key order and all fields when nothing else is requested", async () => {
      const store = await fill([sample(30), sample(4), sample(200), sample(4, { chainId: 1 })]);
      const expected = [sample(4, { chainId: 1 }), sample(4), sample(30), sample(200)];
      expect(await allOf(store)).to.deep.equal(expected);
      expect(await store.find(samples, { limit: 0 })).to.deep.equal([]);
      expect(await store.find(samples, { skip: 4 })).to.deep.equal([]);
      expect(await store.find(samples, { skip: 3 })).to.deep.equal([sample(200)]);
    });

    it("return long lists of one text as it is, whatever it holds", async () => {
      const texts = [...ODD_TEXTS, "\0\x03", "\x01\x03", "\x03", "\x01", "\0", ","];
      const withoutNul = texts.filter((text) => !text.includes("\0"));
      for (const dexes of [texts, ODD_TEXTS, withoutNul, ["\0"], ["\x01"], ["\x03"], [""], ["plain"]]) {
        const rows = Array.from({ length: 200 }, (_, i) =>
          sample(i, { dex: dexes[i % dexes.length] as string }),
        );
        const store = await fill(rows);
        const order = [{ field: "blockTime", direction: "desc" }] as const;
        const found = await store.find(samples, { order, skip: 3, limit: 150, fields: ["dex"] });
        expect(found).to.deep.equal(
          rows
            .reverse()
            .slice(3, 153)
            .map(({ dex }) => ({ dex })),
        );
        expect(await store.find(samples, { order, skip: 200, limit: 150, fields: ["dex"] })).to.deep.equal(
          [],
        );
      }
    });

    it("refuse an index that is not declared, and a choice of nothing", async () => {
      for (const query of [{ via: ["price"] as const }, { via: [] }, { anyOf: [] }]) {
        expect(await fixture.store.find(samples, query).catch((error: unknown) => error)).to.be.instanceOf(
          TypeError,
        );
        expect(
          await fixture.store.count(samples, {}, query).catch((error: unknown) => error),
        ).to.be.instanceOf(TypeError);
      }
    });

    it("refuse a negative or fractional page", async () => {
      for (const query of [{ skip: -1 }, { limit: 1.5 }, { skip: Number.NaN }]) {
        expect(await fixture.store.find(samples, query).catch((error: unknown) => error)).to.be.instanceOf(
          TypeError,
        );
      }
    });
  });
}
