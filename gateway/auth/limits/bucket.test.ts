import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import {
  type Bucket,
  type ClockReading,
  computeRemaining,
  computeWaitUs,
  DAY_US,
  takeFrom,
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
/** Steps that a rule of some requests a second notices, and others. */
const stepsUs = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: 2_000 }),
  fc.integer({ min: 0, max: 3_000_000 }),
  fc.integer({ min: 0, max: 1e12 }),
);
const at = (nowUs: number): ClockReading => ({ nowUs, wallUs: nowUs });

/** One after the other, `want` each; answers what each was granted and what remains. */
function runThrough(
  rule: LimitRule,
  asks: readonly { readonly moment: ClockReading; readonly want: number }[],
) {
  let bucket: Bucket | undefined;
  const granted = asks.map(({ moment, want }) => {
    const taken = takeFrom(bucket, moment, { rule, want });
    bucket = taken.bucket;
    return taken.granted;
  });
  return { granted, bucket: bucket as unknown as Bucket };
}

/**
 * The limit by its definition: a request passes if no window that it ends would hold more than burst + rate × length.
 * In thousandths of a request a second and microseconds, exactly.
 */
function passesByDefinition(passed: readonly number[], nowUs: number, rule: LimitRule): boolean {
  const scale = 1_000_000_000n;
  const perUs = BigInt(Math.round(rule.ratePerSecond * 1000));
  for (const [place, fromUs] of [...passed, nowUs].entries()) {
    const inWindow = BigInt(passed.length - place + 1);
    if (inWindow * scale > BigInt(rule.burst) * scale + perUs * BigInt(nowUs - fromUs)) return false;
  }
  return true;
}

describe("bucket", () => {
  it("lets pass exactly what its definition does: no window has more than burst + rate × length", () => {
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
          const taken = takeFrom(bucket, at(nowUs), { rule, want: 1 });
          bucket = taken.bucket;
          expect(taken.granted === 1).to.equal(expected);
          if (expected) passed.push(nowUs);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("allows a burst of 5 and refuses the 6th with its true wait, to the microsecond", () => {
    fc.assert(
      fc.property(rules, fc.integer({ min: 0, max: 2e15 }), (rule, nowUs) => {
        const { bucket, granted } = takeFrom(undefined, at(nowUs), { rule, want: rule.burst });
        expect(granted).to.equal(rule.burst);
        const refused = takeFrom(bucket, at(nowUs), { rule, want: 1 });
        expect(refused.granted).to.equal(0);
        const waitUs = computeWaitUs(computeRemaining(refused.bucket, rule, nowUs));
        expect(takeFrom(bucket, at(nowUs + waitUs), { rule, want: 1 }).granted).to.equal(1);
        expect(takeFrom(bucket, at(nowUs + waitUs - 1), { rule, want: 1 }).granted).to.equal(0);
      }),
    );
    const five = createRule({ ratePerSecond: 0.5, burst: 5, dailyQuota: null });
    const { granted, bucket } = runThrough(
      five,
      Array.from({ length: 6 }, () => ({ moment: at(7), want: 1 })),
    );
    expect(granted).to.deep.equal([1, 1, 1, 1, 1, 0]);
    expect(computeWaitUs(computeRemaining(bucket, five, 7))).to.equal(2_000_000);
  });

  it("says how many are left and when there is one more, both true", () => {
    fc.assert(
      fc.property(rules, fc.array(stepsUs, { minLength: 1, maxLength: 20 }), (rule, steps) => {
        let nowUs = 0;
        let bucket: Bucket | undefined;
        for (const step of steps) {
          nowUs += step;
          ({ bucket } = takeFrom(bucket, at(nowUs), { rule, want: 1 }));
        }
        const left = computeRemaining(bucket as Bucket, rule, nowUs);
        const most = (laterUs: number) =>
          takeFrom(bucket, at(nowUs + laterUs), { rule, want: Number.MAX_SAFE_INTEGER }).granted;
        expect(most(0)).to.equal(left.burst);
        if (left.burst === rule.burst) return;
        expect(most(left.nextUs)).to.be.greaterThan(left.burst);
        expect(most(left.nextUs - 1)).to.equal(left.burst);
      }),
    );
  });

  it("gives a batch what it would give its requests one by one", () => {
    const quotas = fc.option(fc.integer({ min: 1, max: 30 }), { nil: null });
    const asks = fc.array(fc.tuple(stepsUs, fc.integer({ min: 0, max: 12 })), { maxLength: 12 });
    fc.assert(
      fc.property(rules, quotas, asks, (given, dailyQuota, list) => {
        const rule = createRule({ ratePerSecond: given.ratePerSecond, burst: given.burst, dailyQuota });
        let nowUs = 0;
        const batches = list.map(([step, want]) => {
          nowUs += step;
          return { moment: at(nowUs), want };
        });
        const batched = runThrough(rule, batches);
        const single = runThrough(
          rule,
          batches.flatMap(({ moment, want }) =>
            want === 0 ? [{ moment, want }] : Array.from({ length: want }, () => ({ moment, want: 1 })),
          ),
        );
        const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
        expect(sum(single.granted)).to.equal(sum(batched.granted));
        expect(single.bucket).to.deep.equal(batched.bucket);
      }),
    );
  });

  it("takes up a changed rule at once: what was asked before counts in requests", () => {
    const wide = createRule({ ratePerSecond: 10, burst: 100, dailyQuota: null });
    const narrow = createRule({ ratePerSecond: 1, burst: 5, dailyQuota: null });
    const { bucket } = takeFrom(undefined, at(0), { rule: wide, want: 3 });
    expect(takeFrom(bucket, at(0), { rule: narrow, want: 9 }).granted).to.equal(2);
    const full = takeFrom(undefined, at(0), { rule: wide, want: 50 }).bucket;
    const refused = takeFrom(full, at(0), { rule: narrow, want: 1 });
    expect(refused.granted).to.equal(0);
    expect(computeWaitUs(computeRemaining(refused.bucket, narrow, 0))).to.equal(46_000_000);
  });

  it("drains nothing and starves nobody when the clock goes back", () => {
    const rule = createRule({ ratePerSecond: 1, burst: 3, dailyQuota: null });
    const hourUs = 3_600_000_000;
    const { bucket } = takeFrom(undefined, at(2 * hourUs), { rule, want: 3 });
    const back = takeFrom(bucket, at(hourUs), { rule, want: 1 });
    expect(back.granted).to.equal(0);
    expect(computeWaitUs(computeRemaining(back.bucket, rule, hourUs))).to.equal(1_000_000);
    expect(takeFrom(back.bucket, at(hourUs + 1_000_000), { rule, want: 2 }).granted).to.equal(1);
  });
});

describe("bucket: daily quota", () => {
  const rule = createRule({ ratePerSecond: 1_000_000, burst: 1_000, dailyQuota: 10 });
  const midnight = 20_000 * DAY_US;
  /** The clock that drains is another one, which counts from the start of a process. */
  const on = (wallUs: number): ClockReading => ({ nowUs: 5_000_000, wallUs });

  it("lets its number pass on a UTC day, and again from midnight on", () => {
    const before = takeFrom(undefined, on(midnight - 1), { rule, want: 15 });
    expect(before.granted).to.equal(10);
    const left = computeRemaining(before.bucket, rule, midnight - 1);
    expect(left).to.include({ daily: 0, dayEndsInUs: 1 });
    expect(computeWaitUs(left)).to.equal(1);
    expect(takeFrom(before.bucket, on(midnight - 1), { rule, want: 1 }).granted).to.equal(0);
    const after = takeFrom(before.bucket, on(midnight), { rule, want: 4 });
    expect(after.granted).to.equal(4);
    expect(computeRemaining(after.bucket, rule, midnight)).to.include({ daily: 6, dayEndsInUs: DAY_US });
  });

  it("gives a day that comes again no second quota", () => {
    const spent = takeFrom(undefined, on(midnight + 5), { rule, want: 10 }).bucket;
    const again = takeFrom(spent, on(midnight - 60_000_000), { rule, want: 1 });
    expect(again.granted).to.equal(0);
    expect(takeFrom(again.bucket, on(midnight + 6), { rule, want: 1 }).granted).to.equal(0);
    expect(takeFrom(again.bucket, on(midnight + DAY_US), { rule, want: 1 }).granted).to.equal(1);
  });

  it("is not used up by what the burst refuses, nor the burst by what the quota refuses", () => {
    const tight = createRule({ ratePerSecond: 1, burst: 2, dailyQuota: 3 });
    const first = takeFrom(undefined, on(midnight), { rule: tight, want: 9 });
    expect(first.granted).to.equal(2);
    expect(computeRemaining(first.bucket, tight, midnight)).to.include({ burst: 0, daily: 1 });
    const later = { nowUs: 100_000_000, wallUs: midnight };
    const second = takeFrom(first.bucket, later, { rule: tight, want: 9 });
    expect(second.granted).to.equal(1);
    expect(computeRemaining(second.bucket, tight, midnight)).to.include({ burst: 1, daily: 0 });
    expect(computeWaitUs(computeRemaining(second.bucket, tight, midnight))).to.equal(DAY_US);
  });
});
