import { expect } from "chai";
import fc from "fast-check";
import { after, before, it } from "mocha";
import { put, removeWhere, type Store } from "../../shared/storage/port.ts";
import { describeOnEngines } from "../../shared/storage/testkit/engines.ts";
import { BucketBook } from "../ingest/state/bucket-book.ts";
import { metricsOf, type RangeMetrics } from "../metrics/pool-windows.ts";
import { COLLECTIONS, poolEvents, poolUsers, rollups } from "../store/collections.ts";
import { rangesOf } from "../test/kit/pool-expectation.ts";
import { address, CHAIN_ID, eventRow } from "../test/kit/rows.ts";
import { ANN, anyHead, BOB, CID, type ModelSwap, swapsBefore } from "../test/kit/swap-model.ts";
import { readBuckets } from "./v3-buckets.ts";

const DAY = 86_400;
const TVL_USD = 1_000;
/** 2023-11-14T15:37:41Z: ranges begin with the 42nd second of a minute. */
const HEAD = 1_699_976_261;

describeOnEngines(
  (engine) => `v3 ranges read from ${engine}`,
  {},
  ({ open }) => {
    let store: Store;
    let remove: () => Promise<void>;
    let poolCount = 0;
    let block = 0;
    before(async () => {
      ({ store, remove } = await open());
      await store.declare(COLLECTIONS);
    });
    after(() => remove?.());

    /** Stores swaps of a new pool as the ingest does, between events of other kinds. */
    async function storePool(swaps: readonly ModelSwap[]): Promise<string> {
      const poolAddress = address(0x900 + poolCount++);
      const book = new BucketBook(store, CHAIN_ID);
      const placed = swaps.map((swap) => ({ ...swap, poolAddress }));
      await book.prepare(placed);
      for (const swap of placed) book.add(swap);
      const { rollups: rollupRows, users } = book.flush();
      const events = placed.flatMap(({ user, time, valueUsd, feeUsd, tickTravel }) => {
        block += 1;
        const at = { poolAddress, blockNumber: block, time, sender: user };
        return [
          eventRow({ ...at, kind: "swap", valueUsd, feeUsd, tickTravel }),
          eventRow({ ...at, kind: "burn", logIndex: 1 }),
        ];
      });
      await store.write([put(poolEvents, events), put(rollups, rollupRows), put(poolUsers, users)]);
      return poolAddress;
    }

    async function rangesAt(poolAddress: string, headTime: number): Promise<RangeMetrics[]> {
      const buckets = await readBuckets(store, { pool: { chainId: CHAIN_ID, poolAddress }, headTime });
      const coverage = { createdAt: 1, indexedFrom: 0 };
      return metricsOf(buckets, { headTime, coverage, tvlUsd: TVL_USD });
    }

    const swapAt = (age: number, user: string): ModelSwap => ({
      ...{ time: HEAD - age, user, valueUsd: 100, feeUsd: 1 },
      ...{ tickTravel: 2, closePrice: 1 },
    });

    it("equal a calculation over all swaps", async () => {
      const headAndSwaps = anyHead.chain((head) =>
        fc.tuple(fc.constant(head), swapsBefore(head, { age: 400 * DAY, unpriced: true })),
      );
      await fc.assert(
        fc.asyncProperty(headAndSwaps, async ([headTime, swaps]) => {
          const actual = await rangesAt(await storePool(swaps), headTime);
          const expected = rangesOf(swaps, { headTime, tvlUsd: TVL_USD });
          for (const [i, range] of expected.entries()) {
            const { feeApr, priceVolatilityPct: _, meanAdjustedVolatilityPct: __, ...sums } = range;
            expect(actual[i]).to.include(sums);
            if (feeApr === null) expect(actual[i]?.feeApr).to.equal(null);
            else expect(actual[i]?.feeApr).to.be.closeTo(feeApr, 1e-12 * feeApr);
          }
        }),
        { numRuns: 40 },
      );
    });

    it("count a swap 299 s ago in five minutes, and none 300 s ago", async () => {
      const swaps = [swapAt(301, ANN), swapAt(300, BOB), swapAt(300, CID), swapAt(299, CID)];
      const [fiveMinutes, hour] = await rangesAt(await storePool(swaps), HEAD);
      // 1 USD of fees on 1,000 USD in 300 s.
      expect(fiveMinutes).to.include({
        swapCount: 1,
        swapVolumeUsd: 100,
        uniqueUserCount: 1,
        feeApr: 105.12,
      });
      expect(hour).to.include({ swapCount: 4, swapVolumeUsd: 400, uniqueUserCount: 3 });
    });

    it("do not count a user of the edge whose latest swap came later twice", async () => {
      const swaps = [swapAt(299, ANN), swapAt(290, BOB), swapAt(200, ANN), swapAt(0, ANN)];
      const [fiveMinutes] = await rangesAt(await storePool(swaps), HEAD);
      expect(fiveMinutes).to.include({ swapCount: 4, uniqueUserCount: 2 });
    });

    it("begin with a whole minute where single swaps are no longer stored", async () => {
      const swaps = [
        swapAt(7 * DAY - 1, ANN),
        swapAt(7 * DAY - 30, BOB),
        swapAt(DAY - 1, CID),
        swapAt(9, CID),
      ];
      const poolAddress = await storePool(swaps);
      const before = await rangesAt(poolAddress, HEAD);
      expect(before.map(({ swapCount }) => swapCount)).to.deep.equal([1, 1, 2, 4, 4, 4]);
      await store.write([
        removeWhere(poolEvents, { chainId: CHAIN_ID, poolAddress, time: { lt: HEAD - 2 * DAY } }),
      ]);
      const after = await rangesAt(poolAddress, HEAD);
      expect(after.map(({ swapCount }) => swapCount)).to.deep.equal([1, 1, 2, 3, 4, 4]);
      expect(after.map(({ uniqueUserCount }) => uniqueUserCount)).to.deep.equal([1, 1, 1, 2, 3, 3]);
      // The week lacks the 18 seconds up to its first whole minute.
      expect(after[3]?.feeApr).to.equal(((3 / TVL_USD) * 365 * DAY) / (7 * DAY - 18));
      expect([...after.slice(0, 3), ...after.slice(4)]).to.deep.equal([
        ...before.slice(0, 3),
        ...before.slice(4),
      ]);
    });

    it("begin a year with a whole hour where its minutes are no longer stored", async () => {
      const YEAR = 365 * DAY;
      const ages = [YEAR - 1, YEAR - 100, YEAR - 2_000, YEAR - 9_000, 30 * DAY - 1, 9];
      const poolAddress = await storePool(ages.map((age, i) => swapAt(age, address(0x1000 + i))));
      const before = await rangesAt(poolAddress, HEAD);
      expect(before.map(({ swapCount }) => swapCount)).to.deep.equal([1, 1, 1, 1, 2, 6]);
      const old = { chainId: CHAIN_ID, poolAddress };
      await store.write([
        removeWhere(poolEvents, { ...old, time: { lt: HEAD - 8 * DAY } }),
        removeWhere(rollups, { ...old, span: 60, start: { lt: HEAD - 40 * DAY } }),
      ]);
      const after = await rangesAt(poolAddress, HEAD);
      expect(after.map(({ swapCount }) => swapCount)).to.deep.equal([1, 1, 1, 1, 1, 4]);
      expect(after[5]).to.include({ uniqueUserCount: 4, swapVolumeUsd: 400 });
      // The year lacks the 22 minutes and 18 seconds up to its first whole hour.
      expect(after[5]?.feeApr).to.equal(((4 / TVL_USD) * YEAR) / (YEAR - 1_338));
    });

    it("keep an exact year where nothing was removed in its first hour", async () => {
      const quiet = await storePool([swapAt(365 * DAY - 4_000, ANN), swapAt(9, BOB)]);
      await store.write([
        removeWhere(rollups, { chainId: CHAIN_ID, poolAddress: quiet, span: 60, start: { lt: HEAD - DAY } }),
      ]);
      const [, , , , , year] = await rangesAt(quiet, HEAD);
      expect(year).to.include({ swapCount: 2, feeApr: 2 / TVL_USD });
    });
  },
);
