import { expect } from "chai";
import { describe, it } from "mocha";
import { createManualClock } from "../../testkit/clock.ts";
import { createBatchingLimiter } from "./batching-limiter.ts";
import { LocalBuckets } from "./local-buckets.ts";
import { createRule, type LimitRule } from "./rule.ts";
import { type SharedBuckets, takeForWorkers } from "./shared-buckets.ts";

/** So slow that nothing drains while a test runs. */
const slow = (burst: number, dailyQuota: number | null = null) =>
  createRule({ ratePerSecond: 0.001, burst, dailyQuota });

/** Two workers, and the parent with the buckets of both; its responses take a turn of the event loop. */
function setUp() {
  const clock = createManualClock();
  const buckets = new LocalBuckets(clock);
  let batches = 0;
  const shared: SharedBuckets = {
    async take(requests) {
      batches += 1;
      const responses = takeForWorkers(buckets, requests);
      await new Promise((resolve) => setImmediate(resolve));
      return responses;
    },
    raiseUsage: (usage) => buckets.raiseUsage(usage),
  };
  const workers = [0, 1].map(() => createBatchingLimiter({ shared, buckets: new LocalBuckets(clock) }));
  return {
    batches: () => batches,
    take: async (worker: number, rule: LimitRule) =>
      (workers[worker % 2] as (typeof workers)[number]).take({ kind: "key", subject: "a", rule }),
    raiseUsage: (used: number) =>
      workers[0]?.raiseUsage({ subject: "a", day: Math.floor(clock.nowMs() / 86_400_000), used }),
  };
}

describe("limits that workers share", () => {
  it("let 5 requests pass, and not the 6th, whichever worker gets it", async () => {
    const { take } = setUp();
    const rule = slow(5);
    const decisions = await Promise.all(Array.from({ length: 12 }, (_, turn) => take(turn, rule)));
    expect(decisions.filter(({ isAllowed }) => isAllowed)).to.have.length(5);
  });

  it("send one batch for all requests that arrive while another is in flight", async () => {
    const { take, batches } = setUp();
    const rule = slow(100_000);
    const decisions = await Promise.all(Array.from({ length: 600 }, () => take(0, rule)));
    expect(decisions.every(({ isAllowed }) => isAllowed)).to.equal(true);
    expect(batches()).to.equal(2);
  });

  it("report what remains as if all requests had come one after the other", async () => {
    const { take } = setUp();
    const rule = slow(50_000);
    const remaining: number[] = [];
    for (let turn = 0; turn < 300; turn += 1) remaining.push((await take(0, rule)).remaining.burst);
    expect(remaining).to.deep.equal(remaining.map((_, turn) => 49_999 - turn));
  });

  it("are used up to the last request by both workers", async () => {
    const { take } = setUp();
    const rule = slow(11_000);
    for (let round = 0; round < 110; round += 1) {
      const decisions = await Promise.all(Array.from({ length: 100 }, (_, turn) => take(turn, rule)));
      expect(
        decisions.every(({ isAllowed }) => isAllowed),
        `round ${round}`,
      ).to.equal(true);
    }
    for (const worker of [0, 1]) expect((await take(worker, rule)).isAllowed).to.equal(false);
  });

  it("keep a daily quota to the request", async () => {
    const { take } = setUp();
    const rule = slow(50_000, 10_500);
    let passed = 0;
    for (let round = 0; round < 120; round += 1) {
      const decisions = await Promise.all(Array.from({ length: 100 }, (_, turn) => take(turn, rule)));
      passed += decisions.filter(({ isAllowed }) => isAllowed).length;
    }
    expect(passed).to.equal(10_500);
  });

  it("count usage that one worker reads from the store against all", async () => {
    const { take, raiseUsage } = setUp();
    const rule = slow(100, 50);
    raiseUsage(47);
    const decisions = await Promise.all([1, 1, 1, 1, 0].map((worker) => take(worker, rule)));
    expect(decisions.filter(({ isAllowed }) => isAllowed)).to.have.length(3);
  });

  it("apply a changed rule to what was taken under the old one", async () => {
    const { take } = setUp();
    for (let turn = 0; turn < 50; turn += 1) await take(0, slow(100_000));
    const tight = slow(60);
    const decisions = await Promise.all(Array.from({ length: 30 }, () => take(0, tight)));
    expect(decisions.filter(({ isAllowed }) => isAllowed).length).to.equal(10);
  });
});
