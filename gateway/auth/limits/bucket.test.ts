import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import {
  type Bucket,
  type ClockReading,
  computeRemaining,
  computeWaitUs,
  DAY_US,
  takeFromBucket,
} from "./bucket.ts";
import { createRule, type LimitRule } from "./rule.ts";

const rules = fc
  .record({
    thousandths: fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 1_000_000_000 })),
    burst: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 1_000_000 })),
  })
  .map(({ thousandths, burst }) =>
    createRule({ ratePerSecond: thousandths / 1000, burst, dailyQuota: null }),
  );
/** Steps around those that matter to a rule of a few requests a second, and far longer ones. */
const stepsUs = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: 2_000 }),
  fc.integer({ min: 0, max: 3_000_000 }),
  fc.integer({ min: 0, max: 1e12 }),
);
const at = (nowUs: number): ClockReading => ({ nowUs, wallUs: nowUs });

/** Takes one after the other, `count` each; returns what each was granted and the bucket afterwards. */
function runThrough(
  rule: LimitRule,
  requests: readonly { readonly clocks: ClockReading; readonly count: number }[],
) {
  let bucket: Bucket | undefined;
  const granted = requests.map(({ clocks, count }) => {
    const result = takeFromBucket(bucket, clocks, { rule, count });
    bucket = result.bucket;
    return result.granted;
  });
  return { granted, bucket: bucket as unknown as Bucket };
}

/**
 * The definition of the limit: a request passes if no window that ends with it has more than burst + rate × length.
 * Exact, in thousandths of a request per second and microseconds.
 */
function passesByDefinition(passed: readonly number[], nowUs: number, rule: LimitRule): boolean {
  const scale = 1_000_000_000n;
  const perUs = BigInt(Math.round(rule.ratePerSecond * 1000));
  for (const [index, fromUs] of [...passed, nowUs].entries()) {
    const inWindow = BigInt(passed.length - index + 1);
    if (inWindow * scale > BigInt(rule.burst) * scale + perUs * BigInt(nowUs - fromUs)) return false;
  }
  return true;
}

describe("bucket", () => {
  it("lets exactly the requests of its definition pass: no window has more than burst + rate × length", () => {
    const small = fc
      .record({ thousandths: fc.integer({ min: 1, max: 20_000 }), burst: fc.integer({ min: 1, max: 8 }) })
      .map(({ thousandths, burst }) =>
        createRule({ ratePerSecond: thousandths / 1000, burst, dailyQuota: null }),
      );
    fc.assert(
      fc.property(small, fc.array(stepsUs, { maxLength: 60 }), (rule, steps) => {
        let nowUs = 1_790_000_000_000_000;
        let bucket: Bucket | undefined;
        const passed: number[] = [];
        for (const step of steps) {
          nowUs += step;
          const expected = passesByDefinition(passed, nowUs, rule);
          const result = takeFromBucket(bucket, at(nowUs), { rule, count: 1 });
          bucket = result.bucket;
          expect(result.granted === 1).to.equal(expected);
          if (expected) passed.push(nowUs);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("allows a burst of 5 and refuses the 6th with its true wait, to the microsecond", () => {
    fc.assert(
      fc.property(rules, fc.integer({ min: 0, max: 2e15 }), (rule, nowUs) => {
        const { bucket, granted } = takeFromBucket(undefined, at(nowUs), { rule, count: rule.burst });
        expect(granted).to.equal(rule.burst);
        const refused = takeFromBucket(bucket, at(nowUs), { rule, count: 1 });
        expect(refused.granted).to.equal(0);
        const waitUs = computeWaitUs(computeRemaining(refused.bucket, rule, nowUs));
        expect(takeFromBucket(bucket, at(nowUs + waitUs), { rule, count: 1 }).granted).to.equal(1);
        expect(takeFromBucket(bucket, at(nowUs + waitUs - 1), { rule, count: 1 }).granted).to.equal(0);
      }),
    );
    const five = createRule({ ratePerSecond: 0.5, burst: 5, dailyQuota: null });
    const { granted, bucket } = runThrough(
      five,
      Array.from({ length: 6 }, () => ({ clocks: at(7), count: 1 })),
    );
    expect(granted).to.deep.equal([1, 1, 1, 1, 1, 0]);
    expect(computeWaitUs(computeRemaining(bucket, five, 7))).to.equal(2_000_000);
  });

  it("reports truly how many requests remain and when there is one more", () => {
    fc.assert(
      fc.property(rules, fc.array(stepsUs, { minLength: 1, maxLength: 20 }), (rule, steps) => {
        let nowUs = 0;
        let bucket: Bucket | undefined;
        for (const step of steps) {
          nowUs += step;
          ({ bucket } = takeFromBucket(bucket, at(nowUs), { rule, count: 1 }));
        }
        const remaining = computeRemaining(bucket as Bucket, rule, nowUs);
        const most = (laterUs: number) =>
          takeFromBucket(bucket, at(nowUs + laterUs), { rule, count: Number.MAX_SAFE_INTEGER }).granted;
        expect(most(0)).to.equal(remaining.burst);
        if (remaining.burst === rule.burst) return;
        expect(most(remaining.nextUs)).to.be.greaterThan(remaining.burst);
        expect(most(remaining.nextUs - 1)).to.equal(remaining.burst);
      }),
    );
  });

  it("grants a batch what it would grant its requests one by one", () => {
    const quotas = fc.option(fc.integer({ min: 1, max: 30 }), { nil: null });
    const requests = fc.array(fc.tuple(stepsUs, fc.integer({ min: 0, max: 12 })), { maxLength: 12 });
    fc.assert(
      fc.property(rules, quotas, requests, (given, dailyQuota, list) => {
        const rule = createRule({ ratePerSecond: given.ratePerSecond, burst: given.burst, dailyQuota });
        let nowUs = 0;
        const batches = list.map(([step, count]) => {
          nowUs += step;
          return { clocks: at(nowUs), count };
        });
        const batched = runThrough(rule, batches);
        const single = runThrough(
          rule,
          batches.flatMap(({ clocks, count }) =>
            count === 0 ? [{ clocks, count }] : Array.from({ length: count }, () => ({ clocks, count: 1 })),
          ),
        );
        const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
        expect(sum(single.granted)).to.equal(sum(batched.granted));
        expect(single.bucket).to.deep.equal(batched.bucket);
      }),
    );
  });

  it("applies a changed rule at once: earlier requests count as requests", () => {
    const wide = createRule({ ratePerSecond: 10, burst: 100, dailyQuota: null });
    const narrow = createRule({ ratePerSecond: 1, burst: 5, dailyQuota: null });
    const { bucket } = takeFromBucket(undefined, at(0), { rule: wide, count: 3 });
    expect(takeFromBucket(bucket, at(0), { rule: narrow, count: 9 }).granted).to.equal(2);
    const full = takeFromBucket(undefined, at(0), { rule: wide, count: 50 }).bucket;
    const refused = takeFromBucket(full, at(0), { rule: narrow, count: 1 });
    expect(refused.granted).to.equal(0);
    expect(computeWaitUs(computeRemaining(refused.bucket, narrow, 0))).to.equal(46_000_000);
  });

  it("drains nothing and blocks nothing for ever when the clock goes back", () => {
    const rule = createRule({ ratePerSecond: 1, burst: 3, dailyQuota: null });
    const hourUs = 3_600_000_000;
    const { bucket } = takeFromBucket(undefined, at(2 * hourUs), { rule, count: 3 });
    const back = takeFromBucket(bucket, at(hourUs), { rule, count: 1 });
    expect(back.granted).to.equal(0);
    expect(computeWaitUs(computeRemaining(back.bucket, rule, hourUs))).to.equal(1_000_000);
    expect(takeFromBucket(back.bucket, at(hourUs + 1_000_000), { rule, count: 2 }).granted).to.equal(1);
  });
});

describe("bucket: daily quota", () => {
  const rule = createRule({ ratePerSecond: 1_000_000, burst: 1_000, dailyQuota: 10 });
  const midnight = 20_000 * DAY_US;
  /** The draining clock is another one: it counts from the start of the process. */
  const on = (wallUs: number): ClockReading => ({ nowUs: 5_000_000, wallUs });

  it("lets its number of requests pass on a UTC day, and again from midnight on", () => {
    const before = takeFromBucket(undefined, on(midnight - 1), { rule, count: 15 });
    expect(before.granted).to.equal(10);
    const remaining = computeRemaining(before.bucket, rule, midnight - 1);
    expect(remaining).to.include({ daily: 0, dayEndsInUs: 1 });
    expect(computeWaitUs(remaining)).to.equal(1);
    expect(takeFromBucket(before.bucket, on(midnight - 1), { rule, count: 1 }).granted).to.equal(0);
    const after = takeFromBucket(before.bucket, on(midnight), { rule, count: 4 });
    expect(after.granted).to.equal(4);
    expect(computeRemaining(after.bucket, rule, midnight)).to.include({ daily: 6, dayEndsInUs: DAY_US });
  });

  it("grants no second quota to a day that comes again", () => {
    const spent = takeFromBucket(undefined, on(midnight + 5), { rule, count: 10 }).bucket;
    const again = takeFromBucket(spent, on(midnight - 60_000_000), { rule, count: 1 });
    expect(again.granted).to.equal(0);
    expect(takeFromBucket(again.bucket, on(midnight + 6), { rule, count: 1 }).granted).to.equal(0);
    expect(takeFromBucket(again.bucket, on(midnight + DAY_US), { rule, count: 1 }).granted).to.equal(1);
  });

  it("does not count what the burst refuses, nor does the burst count what the quota refuses", () => {
    const tight = createRule({ ratePerSecond: 1, burst: 2, dailyQuota: 3 });
    const first = takeFromBucket(undefined, on(midnight), { rule: tight, count: 9 });
    expect(first.granted).to.equal(2);
    expect(computeRemaining(first.bucket, tight, midnight)).to.include({ burst: 0, daily: 1 });
    const later = { nowUs: 100_000_000, wallUs: midnight };
    const second = takeFromBucket(first.bucket, later, { rule: tight, count: 9 });
    expect(second.granted).to.equal(1);
    expect(computeRemaining(second.bucket, tight, midnight)).to.include({ burst: 1, daily: 0 });
    expect(computeWaitUs(computeRemaining(second.bucket, tight, midnight))).to.equal(DAY_US);
  });
});
