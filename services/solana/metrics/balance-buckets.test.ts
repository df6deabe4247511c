import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { bucketBounds, bucketOf, changeCounts, findRank } from "./balance-buckets.ts";

const balance = fc.oneof(
  fc.bigInt({ min: 1n, max: 100n }),
  fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
  fc.nat(64).map((bits) => 2n ** BigInt(bits)),
);

describe("buckets of balances", () => {
  it("follow one another without a gap, each at most a 16th as wide as its balances are large", () => {
    for (let bucket = 1; bucket < 1_000; bucket++) {
      const { least, most } = bucketBounds(bucket);
      expect([bucketOf(least), bucketOf(most), bucketOf(most + 1n)]).to.deep.equal([
        bucket,
        bucket,
        bucket + 1,
      ]);
      expect((most - least) * 16n <= least, `${bucket}`).to.equal(true);
    }
  });

  it("hold their balances, and grow with them", () => {
    fc.assert(
      fc.property(balance, balance, (a, b) => {
        const { least, most } = bucketBounds(bucketOf(a));
        expect(least <= a && a <= most).to.equal(true);
        if (a < b) expect(bucketOf(a)).to.be.at.most(bucketOf(b));
      }),
    );
  });

  it("find every rank, after any changes", () => {
    fc.assert(
      fc.property(fc.array(fc.array(balance, { maxLength: 10 }), { maxLength: 5 }), (batches) => {
        let counts: readonly number[] = [];
        for (const batch of batches) {
          const changes = new Map<number, number>();
          for (const each of batch) changes.set(bucketOf(each), (changes.get(bucketOf(each)) ?? 0) + 1);
          counts = changeCounts(counts, changes);
        }
        const sorted = batches.flat().sort((a, b) => (a < b ? -1 : 1));
        for (const [rank, each] of sorted.entries()) {
          const found = findRank(counts, rank);
          expect(found?.bucket).to.equal(bucketOf(each));
          const { least } = bucketBounds(bucketOf(each));
          expect(found?.below).to.equal(rank - sorted.filter((other) => other < least).length);
        }
        expect(findRank(counts, sorted.length)).to.equal(undefined);
        const back = new Map(sorted.map((each) => [bucketOf(each), 0]));
        for (const each of sorted) back.set(bucketOf(each), (back.get(bucketOf(each)) as number) - 1);
        expect(changeCounts(counts, back)).to.deep.equal([]);
      }),
    );
  });
});
