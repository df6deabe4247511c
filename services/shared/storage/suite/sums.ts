import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { put, type Store } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { referenceMatch } from "./reference.ts";
import { anyQuery, anySample, type Sample, sample, samples } from "./sample.ts";

const STEP = 2 ** -20;
const FIELDS = ["blockTime", "tick", "tvlUsd", "price"] as const;
type Totals = Record<(typeof FIELDS)[number], number>;

export function describeSums(options: SuiteOptions): void {
  describe("sums", () => {
    const fixture = useStore(options, [samples]);
    const fill = async (rows: readonly Sample[]): Promise<Store> => {
      await fixture.store.write([put(samples, rows)]);
      return fixture.store;
    };
    const refusal = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
        (error: unknown) => error,
      );

    /** Numbers whose sums are exact in any order. */
    const exact = fc.record({
      blockTime: fc.integer({ min: 0, max: 2 ** 40 }),
      tick: fc.option(fc.integer({ min: -887_272, max: 887_272 }), { nil: null, freq: 3 }),
      tvlUsd: fc.option(
        fc.integer({ min: -(2 ** 45), max: 2 ** 45 }).map((steps) => steps * STEP),
        { nil: null, freq: 3 },
      ),
      price: fc.integer({ min: 0, max: 2 ** 45 }).map((steps) => steps * STEP),
    });

    it("are those of the matching rows, exactly, nulls adding nothing", async () => {
      const rows = fc
        .sample(fc.tuple(anySample, exact), { numRuns: 200, seed: 5 })
        .map(([row, numbers], i) => ({ ...row, ...numbers, address: `0x${i}` }));
      const store = await fill(rows);
      await fc.assert(
        fc.asyncProperty(anyQuery, async ({ filter = {} }) => {
          const expected: Totals = { blockTime: 0, tick: 0, tvlUsd: 0, price: 0 };
          for (const row of referenceMatch(rows, filter)) {
            for (const field of FIELDS) expected[field] += row[field] ?? 0;
          }
          expect(await store.sum(samples, filter, FIELDS)).to.deep.equal(expected);
        }),
        { numRuns: 100 },
      );
    });

    it("lose no millionth of a dollar beside billions, in whatever order they are stored", async () => {
      const amounts = [2 ** 33 - 1, STEP, -STEP, 3 * STEP, 2 ** 32 + 5 * STEP, STEP - (2 ** 33 - 1)];
      const total = 2 ** 32 + 9 * STEP;
      for (const order of [amounts, [...amounts].reverse()]) {
        const store = await fill(order.map((tvlUsd, i) => sample(i, { tvlUsd })));
        expect(await store.sum(samples, {}, ["tvlUsd"])).to.deep.equal({ tvlUsd: total });
      }
    });

    it("are taken of a range of the key or of an index", async () => {
      const store = await fill(Array.from({ length: 100 }, (_, i) => sample(i)));
      const byKey = { chainId: 8453, address: { gte: sample(10).address, lt: sample(20).address } };
      expect(await store.sum(samples, byKey, ["tick", "tvlUsd"])).to.deep.equal({
        tick: 145 - 500,
        tvlUsd: 145 * 1.5,
      });
      const byIndex = { dex: "dex 1", blockTime: { gte: sample(90).blockTime } };
      expect(await store.sum(samples, byIndex, ["tick"])).to.deep.equal({ tick: 91 + 94 + 97 - 150 });
    });

    it("are 0 where no row matches or all are null, and nothing of no fields", async () => {
      const store = await fill([sample(1, { tick: null, tvlUsd: null }), sample(2, { tick: null })]);
      expect(await store.sum(samples, { chainId: 1 }, FIELDS)).to.deep.equal({
        blockTime: 0,
        tick: 0,
        tvlUsd: 0,
        price: 0,
      });
      expect(await store.sum(samples, {}, ["tick", "tvlUsd"])).to.deep.equal({ tick: 0, tvlUsd: 3 });
      const [zero] = Object.values(await store.sum(samples, { chainId: 1 }, ["tick"]));
      expect(Object.is(zero, 0), "not −0").to.equal(true);
      expect(await store.sum(samples, {}, [])).to.deep.equal({});
    });

    it("count exactly up to 2^53 − 1, and refuse what they cannot say exactly", async () => {
      const most = Number.MAX_SAFE_INTEGER;
      const times = [2 ** 52, 2 ** 31, 2 ** 31 - 1, 1];
      const last = most - times.reduce((sum, time) => sum + time, 0);
      const store = await fill([...times, last].map((blockTime, i) => sample(i, { blockTime })));
      expect(await store.sum(samples, {}, ["blockTime"])).to.deep.equal({ blockTime: most });
      await fill([sample(7, { blockTime: 1 })]);
      expect(await refusal(store.sum(samples, {}, ["blockTime"])), "blockTime").to.satisfy(isTooLarge);
    });

    it("refuse what exceeds 64 bits, and floats beyond their range", async () => {
      const rows = Array.from({ length: 1_100 }, (_, i) =>
        sample(i, { blockTime: Number.MAX_SAFE_INTEGER, tvlUsd: Number.MAX_VALUE }),
      );
      const store = await fill(rows);
      expect(await refusal(store.sum(samples, {}, ["blockTime"])), "blockTime").to.satisfy(isTooLarge);
      expect(await refusal(store.sum(samples, {}, ["tvlUsd"])), "tvlUsd").to.satisfy(isTooLarge);
      expect(await store.sum(samples, {}, ["tick"])).to.deep.equal({ tick: 1_099 * 550 - 50 * 1_100 });
    });

    it("are taken of numbers only", async () => {
      for (const field of ["liquidity", "verified", "symbol", "tags", "unknown"]) {
        expect(await refusal(fixture.store.sum(samples, {}, [field as "tick"])), field).to.be.instanceOf(
          TypeError,
        );
      }
    });
  });
}

function isTooLarge(error: unknown): boolean {
  return error instanceof RangeError && /^Cannot sum .+: the total is too large$/.test(error.message);
}
