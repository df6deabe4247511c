import { expect } from "chai";
import { describe, it } from "mocha";
import { createManualClock } from "../../testkit/clock.ts";
import { createRateLimitError, formatLimit, setLimitHeaders } from "./headers.ts";
import type { LimitDecision } from "./limiter.ts";
import { createMemoryLimiter } from "./local-limiter.ts";
import { createRule } from "./rule.ts";

/** Lists of strings with integer parameters, as RFC 9651 allows and the draft requires. */
const LIST = /^"[a-z]+"(;[a-z]=\d+)+(, "[a-z]+"(;[a-z]=\d+)+)*$/;

describe("limit headers", () => {
  const clock = createManualClock(Date.UTC(2026, 4, 1, 23, 59, 50, 250));
  const rule = createRule({ ratePerSecond: 0.4, burst: 2, dailyQuota: 3 });
  const limiter = createMemoryLimiter(clock);
  const take = () => limiter.take({ kind: "key", subject: "a", rule });
  const shown = (decision: LimitDecision) => {
    const headers: Record<string, unknown> = {};
    setLimitHeaders(
      { setHeader: (name: string, value: unknown) => (headers[name] = value) } as never,
      decision,
    );
    for (const value of Object.values(headers)) expect(value).to.match(LIST);
    return headers;
  };

  it("show the policy, what remains and for how long, on every response", () => {
    expect(shown(take())).to.deep.equal({
      "RateLimit-Policy": '"burst";q=2;w=5, "daily";q=3;w=86400',
      RateLimit: '"burst";r=1;t=3, "daily";r=2;t=10',
    });
    expect(shown(take()).RateLimit).to.equal('"burst";r=0;t=3, "daily";r=1;t=10');
  });

  it("show the true wait of a refused request as Retry-After and t, in whole seconds rounded up", () => {
    clock.advance(499);
    const decision = take();
    expect(decision).to.include({ isAllowed: false, waitUs: 2_001_000 });
    expect(formatLimit(decision)).to.equal('"burst";r=0;t=3, "daily";r=1;t=10');
    const error = createRateLimitError(decision, "requests with this key");
    expect(error).to.include({ code: "rate_limited", retryAfterSeconds: 3 });
    expect(error.message).to.contain("2 at once and 0.4 a second").and.contain("3 s");
  });

  it("show when the day ends if its quota is used up", () => {
    clock.advance(2_001);
    expect(take().isAllowed).to.equal(true);
    const refused = take();
    expect(shown(refused).RateLimit).to.equal('"burst";r=0;t=3, "daily";r=0;t=8');
    expect(createRateLimitError(refused, "requests with this key")).to.include({ retryAfterSeconds: 8 });
    expect(createRateLimitError(refused, "requests").message).to.contain("3 a UTC day");
    clock.advance(7_250);
    expect(shown(take()).RateLimit).to.equal('"burst";r=1;t=3, "daily";r=2;t=86400');
  });
});
