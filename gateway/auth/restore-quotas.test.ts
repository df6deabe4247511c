import { expect } from "chai";
import { describe, it } from "mocha";
import { createManualClock } from "../testkit/clock.ts";
import { createFakeDirectory } from "../testkit/keys.ts";
import { hashApiKey } from "./keys/api-key.ts";
import { createMemoryLimiter } from "./limits/local-limiter.ts";
import { createRule } from "./limits/rule.ts";
import { restoreQuotas } from "./restore-quotas.ts";
import { DAY_MS } from "./usage/usage-record.ts";

describe("quota memory", () => {
  const rule = createRule({ ratePerSecond: 1000, burst: 100, dailyQuota: 10 });

  function setUp() {
    const clock = createManualClock(20_000 * DAY_MS + 1_000);
    const limiter = createMemoryLimiter(clock);
    const directory = createFakeDirectory();
    const queries: [string, number][] = [];
    const state = { used: 7, failure: undefined as Error | undefined };
    const failures: unknown[] = [];
    const memory = restoreQuotas({
      directory,
      limiter,
      clock,
      hasQuota: (record) => record.label !== "free",
      onFailure: (error) => failures.push(error),
      usage: async () => ({
        countPassed: async (subject, day) => {
          queries.push([subject, day]);
          if (state.failure) throw state.failure;
          return state.used;
        },
      }),
    });
    const left = () => limiter.peek({ kind: "key", subject: "key_0", rule }).remaining.daily;
    return { clock, limiter, directory, memory, queries, state, failures, left };
  }

  it("lets a restarted limiter continue the day's quota", async () => {
    const { directory, memory, queries, left } = setUp();
    const hash = hashApiKey(directory.add());
    expect(left()).to.equal(10);
    expect((await memory.findByHash(hash))?.id).to.equal("key_0");
    expect(queries).to.deep.equal([["key_0", 20_000]]);
    expect(left()).to.equal(3);
  });

  it("applies usage that other gateways have written, and never less than is known here", async () => {
    const { directory, memory, limiter, state, left, clock } = setUp();
    const hash = hashApiKey(directory.add());
    for (let i = 0; i < 9; i += 1) limiter.take({ kind: "key", subject: "key_0", rule });
    await memory.findByHash(hash);
    expect(left()).to.equal(1);
    state.used = 15;
    await memory.findByHash(hash);
    expect(left()).to.equal(0);
    clock.advance(DAY_MS);
    expect(left()).to.equal(10);
    state.used = 2;
    await memory.findByHash(hash);
    expect(left()).to.equal(8);
  });

  it("reads no usage of keys without a quota, and finds keys while usage cannot be read", async () => {
    const { directory, memory, queries, state, failures } = setUp();
    const free = hashApiKey(directory.add({ label: "free" }));
    expect((await memory.findByHash(free))?.label).to.equal("free");
    expect(await memory.findByHash("nothing")).to.equal(undefined);
    expect(queries).to.deep.equal([]);
    state.failure = new Error("away");
    expect((await memory.findByHash(hashApiKey(directory.add())))?.id).to.equal("key_1");
    expect(failures).to.deep.equal([state.failure]);
  });
});
