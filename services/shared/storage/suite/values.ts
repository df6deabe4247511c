import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { Collection } from "../collection.ts";
import { put, type Store } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { allOf, anySample, ODD_TEXTS, sample, samples } from "./sample.ts";

export function describeValues(options: SuiteOptions): void {
  describe("values", () => {
    const fixture = useStore(options, [samples]);

    it("come back as they were, whatever type and null", async () => {
      const { store } = fixture;
      await fc.assert(
        fc.asyncProperty(anySample, async (row) => {
          await store.write([put(samples, [row])]);
          expect(await store.get(samples, { chainId: row.chainId, address: row.address })).to.deep.equal(row);
        }),
        { numRuns: 60 },
      );
    });

    it("keep every bit of a double", async () => {
      const { store } = fixture;
      const doubles = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
      const values = fc.sample(doubles, { numRuns: 500, seed: 7 });
      await store.write([
        put(
          samples,
          values.map((price, i) => sample(i, { price })),
        ),
      ]);
      expect((await allOf(store)).map((row) => row.price)).to.deep.equal(values);
    });

    it("keep integers exact up to ±(2^53 − 1) and big integers up to ±2^256", async () => {
      const { store } = fixture;
      const edge = {
        blockTime: Number.MAX_SAFE_INTEGER,
        tick: Number.MIN_SAFE_INTEGER,
        liquidity: 2n ** 256n,
        amount: -(2n ** 256n),
      };
      await store.write([put(samples, [sample(1, edge)])]);
      expect(await allOf(store)).to.deep.equal([sample(1, edge)]);
      const { blockTime, tick, liquidity, amount } = edge;
      expect(await store.count(samples, { blockTime, tick, liquidity, amount })).to.equal(1);
      expect(await store.count(samples, { blockTime: blockTime - 1 })).to.equal(0);
      expect(await store.count(samples, { amount: amount + 1n })).to.equal(0);
    });

    it("take zero for zero, whatever its sign", async () => {
      const { store } = fixture;
      await store.write([put(samples, [sample(1, { price: -0, blockTime: -0, tvlUsd: 0 })])]);
      expect(await allOf(store)).to.deep.equal([sample(1, { price: 0, blockTime: 0, tvlUsd: 0 })]);
      expect(await store.count(samples, { tvlUsd: -0 })).to.equal(1);
    });

    it("may be any text, as key and as value, found again and never taken for syntax", async () => {
      const { store } = fixture;
      const rows = ODD_TEXTS.map((text, i) => sample(i, { address: text, symbol: text, dex: text }));
      await store.write([put(samples, rows)]);
      expect(await store.count(samples, {})).to.equal(ODD_TEXTS.length);
      for (const [i, text] of ODD_TEXTS.entries()) {
        expect(
          await store.get(samples, { chainId: 8453, address: text }),
          JSON.stringify(text),
        ).to.deep.equal(rows[i]);
        expect(await store.find(samples, { filter: { dex: text } }), JSON.stringify(text)).to.deep.equal([
          rows[i],
        ]);
        expect(await store.find(samples, { filter: { symbol: { in: [text] } } })).to.deep.equal([rows[i]]);
      }
      const byBytes = [...ODD_TEXTS].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect((await allOf(store)).map((row) => row.address)).to.deep.equal(byBytes);
    });

    it("may be large", async () => {
      const { store } = fixture;
      const large = sample(1, {
        symbol: "x".repeat(300_000),
        tags: Array.from({ length: 100_000 }, (_, i) => `item ${i}`),
      });
      await store.write([put(samples, [large, sample(2)])]);
      expect(await store.get(samples, { chainId: 8453, address: large.address })).to.deep.equal(large);
    });

    it("are refused when they are not of their type: nothing is written", async () => {
      const { store } = fixture;
      const wrong: [field: string, value: unknown][] = [
        ["blockTime", 1.5],
        ["blockTime", 2 ** 53],
        ["blockTime", "1"],
        ["blockTime", 1n],
        ["price", Number.NaN],
        ["price", Number.POSITIVE_INFINITY],
        ["price", null],
        ["verified", 1],
        ["liquidity", 1],
        ["liquidity", 2n ** 256n + 1n],
        ["dex", undefined],
        ["dex", { $gt: "" }],
        ["symbol", ["a"]],
        ["tags", undefined],
        ["tags", { big: 1n }],
      ];
      for (const [field, value] of wrong) {
        const row = { ...sample(2), [field]: value };
        await expectRefusal(store, samples, { rows: [sample(1), row], field });
      }
      if (options.traits.atomicWrites) expect(await allOf(store)).to.deep.equal([]);
    });

    it("are refused in a filter when they are not of their type", async () => {
      const { store } = fixture;
      await store.write([put(samples, [sample(1)])]);
      const filters: Record<string, unknown>[] = [
        { dex: { $ne: "" } },
        { dex: { gt: { $gt: "" } } },
        { dex: { in: [["a"]] } },
        { dex: { in: "abc" } },
        { dex: 1 },
        { dex: undefined },
        { dex: {} },
        { tick: { gte: null } },
        { blockTime: { gte: 0.5 } },
        { tags: "x" },
        { $where: "1" },
        { nothing: 1 },
      ];
      for (const filter of filters) {
        const error = await store.count(samples, filter as never).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error, JSON.stringify(filter)).to.be.instanceOf(TypeError);
      }
    });
  });
}

async function expectRefusal(
  store: Store,
  target: Collection,
  { rows, field }: { rows: unknown[]; field: string },
): Promise<void> {
  const error = await store.write([put(target, rows as never)]).then(
    () => undefined,
    (reason: unknown) => reason as Error,
  );
  expect(error, field).to.be.instanceOf(TypeError);
  expect(error?.message).to.contain(`${target.name}.${field}`);
}
