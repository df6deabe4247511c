import { expect } from "chai";
import { describe, it } from "mocha";
import { createManualClock } from "../../testkit/clock.ts";
import type { LimitKind } from "./limiter.ts";
import { LocalBuckets } from "./local-buckets.ts";
import { createLocalLimiter, createMemoryLimiter } from "./local-limiter.ts";
import { createRule } from "./rule.ts";

const rule = createRule({ ratePerSecond: 0.001, burst: 2, dailyQuota: null });

describe("local buckets", () => {
  it("stay bounded in a flood: the one unused for longest is evicted, and none of another kind", () => {
    const limiter = createLocalLimiter(new LocalBuckets(createManualClock(), 3));
    const take = (kind: LimitKind, subject: string) => limiter.take({ kind, subject, rule }).remaining.burst;
    expect(take("key", "k")).to.equal(1);
    expect(take("refusal", "a")).to.equal(1);
    for (let i = 0; i < 50; i += 1) {
      take("refusal", `x${i}`);
      take("refusal", `y${i}`);
      if (i === 0) expect(take("refusal", "a")).to.equal(0);
    }
    expect(take("key", "k")).to.equal(0);
    // Evicted, and started empty.
    expect(take("refusal", "a")).to.equal(1);
  });

  it("drain by the monotonic clock, whatever the wall clock does", () => {
    const clock = createManualClock();
    let wallShiftMs = 0;
    const limiter = createMemoryLimiter({
      monotonicMs: clock.monotonicMs,
      nowMs: () => clock.nowMs() + wallShiftMs,
    });
    const second = createRule({ ratePerSecond: 1, burst: 1, dailyQuota: null });
    const take = () => limiter.take({ kind: "key", subject: "a", rule: second });
    expect(take().isAllowed).to.equal(true);
    for (const shift of [-86_400_000, 86_400_000, 0]) {
      wallShiftMs = shift;
      expect(take()).to.include({ isAllowed: false, waitUs: 1_000_000 });
    }
    clock.advance(1_000);
    wallShiftMs = -3_600_000;
    expect(take().isAllowed).to.equal(true);
  });

  it("raise the usage of a day for unknown keys and for keys with less, and never lower it", () => {
    const clock = createManualClock(Date.UTC(2026, 4, 1, 12));
    const limiter = createMemoryLimiter(clock);
    const daily = createRule({ ratePerSecond: 100, burst: 100, dailyQuota: 5 });
    const day = Math.floor(clock.nowMs() / 86_400_000);
    const remaining = () => limiter.peek({ kind: "key", subject: "a", rule: daily }).remaining.daily;
    limiter.raiseUsage({ subject: "a", day, used: 3 });
    expect(remaining()).to.equal(2);
    limiter.raiseUsage({ subject: "a", day, used: 1 });
    limiter.raiseUsage({ subject: "a", day: day - 1, used: 5 });
    expect(remaining()).to.equal(2);
    limiter.raiseUsage({ subject: "a", day: day + 1, used: 5 });
    expect(remaining()).to.equal(0);
  });
});
