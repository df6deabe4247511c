import { expect } from "chai";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Store } from "../../../services/shared/storage/port.ts";
import { openSqliteStore } from "../../../services/shared/storage/sqlite/store.ts";
import { createManualClock } from "../../testkit/clock.ts";
import { until } from "../../testkit/until.ts";
import { groupUsageByDay } from "./by-day.ts";
import { createUsageCounter, type UsageCounterOptions } from "./usage-counter.ts";
import { DAY_MS, type UsageRow } from "./usage-record.ts";
import { openUsageStore, type UsageStore } from "./usage-store.ts";

const START_MS = 20_000 * DAY_MS + 3_600_000;
const event = (key = "key_1", endpoint = "/evm/chains", isPassed = true) => ({
  subject: key,
  key,
  endpoint,
  isPassed,
});

describe("usage counter", () => {
  let store: Store;
  let usage: UsageStore;
  beforeEach(async () => {
    store = await openSqliteStore({ path: ":memory:" });
    usage = await openUsageStore(store);
  });
  afterEach(() => store.close());

  const setUp = (options: Partial<UsageCounterOptions> = {}) => {
    const clock = createManualClock(START_MS);
    return { clock, counter: createUsageCounter({ store: async () => usage, clock, ...options }) };
  };

  it("counts requests and refusals by key, day and endpoint, to the last one", async () => {
    const { counter, clock } = setUp();
    for (let i = 0; i < 5; i += 1) counter.count(event());
    counter.count(event("key_1", "/evm/dexes", false));
    await counter.flush();
    clock.advance(2_000);
    for (let i = 0; i < 7; i += 1) counter.count(event());
    counter.count(event("key_2"));
    await counter.flush();
    expect(groupUsageByDay(await usage.findByKey("key_1", 0))).to.deep.equal([
      {
        day: "2024-10-04",
        requests: 12,
        limited: 1,
        endpoints: [
          { path: "/evm/chains", requests: 12, limited: 0 },
          { path: "/evm/dexes", requests: 0, limited: 1 },
        ],
      },
    ]);
    expect(await usage.findLastUse("key_1")).to.equal(START_MS / 1000 + 2);
    expect(await usage.sumTotals("key_2", 0)).to.deep.equal({ requests: 1, limited: 0 });
  });

  it("loses and doubles nothing over any flushes, failures, midnights and gateways", async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ gateway: fc.nat(2), key: fc.nat(1), times: fc.integer({ min: 1, max: 5 }) }),
        fc.record({ gateway: fc.nat(2), flush: fc.constantFrom("well", "in vain", "but unheard") }),
        fc.record({ advanceMs: fc.constantFrom(1_000, DAY_MS / 2, DAY_MS, -3_600_000) }),
      ),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const own = await openSqliteStore({ path: ":memory:" });
        const target = await openUsageStore(own);
        const clock = createManualClock(START_MS);
        let outcome = "well";
        const save = async (rows: readonly UsageRow[]) => {
          if (outcome !== "in vain") await target.save(rows);
          if (outcome !== "well") throw new Error("the answer was lost");
        };
        const gateways = Array.from({ length: 3 }, () =>
          createUsageCounter({ store: async () => ({ ...target, save }), clock }),
        );
        const expected = new Map<string, number>();
        const countTimes = (gateway: number, key: string, times: number) => {
          const name = `${key} ${Math.floor(clock.nowMs() / DAY_MS)}`;
          for (let i = 0; i < times; i += 1) gateways[gateway]?.count(event(key));
          expected.set(name, (expected.get(name) ?? 0) + times);
        };
        for (const step of list) {
          if ("advanceMs" in step) clock.advance(step.advanceMs);
          else if ("key" in step) countTimes(step.gateway, `key_${step.key}`, step.times);
          else {
            outcome = step.flush;
            await gateways[step.gateway]?.flush().catch(() => {});
          }
        }
        outcome = "well";
        for (const gateway of gateways) await gateway.stop();
        for (const [name, times] of expected) {
          const [key = "", day] = name.split(" ");
          expect(await target.countPassed(key, Number(day)), name).to.equal(times);
        }
        await own.close();
      }),
      { numRuns: 60 },
    );
  });

  it("keeps counting while a write is under way, and writes one after the other", async () => {
    let release = () => {};
    let writes = 0;
    const slow = async (rows: readonly UsageRow[]) => {
      writes += 1;
      if (writes === 1)
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      await usage.save(rows);
    };
    const { counter } = setUp({ store: async () => ({ ...usage, save: slow }) });
    counter.count(event());
    const first = counter.flush();
    await until(() => writes === 1);
    counter.count(event());
    const second = counter.flush();
    release();
    await Promise.all([first, second]);
    expect(await usage.sumTotals("key_1", 0)).to.deep.equal({ requests: 2, limited: 0 });
  });

  it("writes by itself every few seconds, and reports a store that is unreachable", async () => {
    const failures: unknown[] = [];
    let isAway = true;
    const { counter } = setUp({
      flushMs: 1,
      onFailure: (error) => failures.push(error),
      store: async () => {
        if (isAway) throw new Error("away");
        return usage;
      },
    });
    counter.count(event());
    counter.start();
    await until(() => failures.length >= 2);
    isAway = false;
    await until(async () => (await usage.sumTotals("key_1", 0)).requests === 1);
    await counter.stop();
  });

  it("deletes usage beyond its retention, once a day", async () => {
    const old = { ...event(), gateway: "before", requests: 1, limited: 0, lastAt: 0 };
    const { isPassed: _passed, ...row } = old;
    await usage.save([19_969, 19_970, 19_971].map((day) => ({ ...row, day })));
    const { counter, clock } = setUp({ keepDays: 30 });
    await counter.flush();
    const days = async () => (await usage.findByKey("key_1", 0)).map(({ day }) => day);
    expect(await days()).to.deep.equal([19_970, 19_971]);
    clock.advance(DAY_MS);
    await counter.flush();
    expect(await days()).to.deep.equal([19_971]);
  });

  it("shows what it has counted before it is written, and never twice", async () => {
    const { counter, clock } = setUp();
    const other = createUsageCounter({ store: async () => usage, clock });
    for (let i = 0; i < 3; i += 1) counter.count(event());
    for (let i = 0; i < 4; i += 1) other.count(event());
    await other.flush();
    const shown = async () =>
      groupUsageByDay(counter.mergeCurrent("key_1", await usage.findByKey("key_1", 0)))[0]?.requests;
    expect(await shown()).to.equal(7);
    await counter.flush();
    expect(await shown()).to.equal(7);
    counter.count(event());
    expect(await shown()).to.equal(8);
    clock.advance(2 * DAY_MS);
    await counter.flush();
    await counter.flush();
    expect(await shown()).to.equal(8);
    expect(counter.mergeCurrent("key_2", [])).to.deep.equal([]);
  });
});
