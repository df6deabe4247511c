import { expect } from "chai";
import { describe, it } from "mocha";
import { createLog } from "../../services/shared/host/log.ts";
import { createManualClock } from "../testkit/clock.ts";
import { until } from "../testkit/until.ts";
import { createJanitor } from "./janitor.ts";
import type { Ledger } from "./ledger.ts";
import { createMemoryLocks } from "./locks.ts";
import type { PaymentRecord } from "./payment-record.ts";

/** A ledger of open payments in memory: what a janitor needs of one. */
function setUp(states: Record<string, PaymentRecord["state"] | "unreachable">) {
  const clock = createManualClock();
  const records = new Map<string, PaymentRecord>();
  for (const key of Object.keys(states)) {
    records.set(key, { key, state: "open", createdAt: clock.nowMs() } as PaymentRecord);
  }
  const cleaned: number[] = [];
  let isAway = false;
  const ledger = {
    findOpen: async (beforeMs: number) => {
      if (isAway) throw new Error("away");
      return [...records.values()].filter(({ state, createdAt }) => state === "open" && createdAt < beforeMs);
    },
    find: async (key: string) => records.get(key),
    clean: async ({ voidBeforeMs }: { voidBeforeMs: number }) => void cleaned.push(voidBeforeMs),
  } as unknown as Ledger;
  const resolved: string[] = [];
  const settlement = {
    async resolve(record: PaymentRecord) {
      resolved.push(record.key);
      const state = states[record.key];
      if (state === "unreachable") throw new Error("no node answers");
      const after = { ...record, state: state ?? "open" } as PaymentRecord;
      records.set(record.key, after);
      return after;
    },
  };
  let open: number | undefined;
  const metrics = { setOpen: (count: number) => (open = count) } as never;
  const locks = createMemoryLocks();
  const log = createLog({ name: "test", level: "silent" });
  const janitor = createJanitor({ ledger, locks, settlement, metrics, clock, log, everyMs: 5 });
  return {
    clock,
    janitor,
    locks,
    records,
    resolved,
    cleaned,
    open: () => open,
    setAway: (value: boolean) => {
      isAway = value;
    },
  };
}

describe("payment janitor", () => {
  it("finds out what became of payments that are no longer young, and counts those it cannot tell", async () => {
    const { clock, janitor, records, resolved, cleaned, open } = setUp({
      a: "settled",
      b: "void",
      c: "open",
    });
    janitor.start();
    await until(() => cleaned.length > 0);
    expect(resolved).to.deep.equal([]);
    clock.advance(31_000);
    await until(() => open() === 1);
    await janitor.stop();
    expect([...records.values()].map(({ state }) => state)).to.deep.equal(["settled", "void", "open"]);
  });

  it("leaves alone what a request is dealing with", async () => {
    const { clock, janitor, locks, resolved, cleaned } = setUp({ a: "settled" });
    const lock = await locks.acquire("a", { waitMs: 0 });
    clock.advance(31_000);
    janitor.start();
    await until(() => cleaned.length > 1);
    expect(resolved).to.deep.equal([]);
    await lock?.release();
    await until(() => resolved.includes("a"));
    await janitor.stop();
  });

  it("goes on after outages, and lets go of what it was looking at", async () => {
    const { clock, janitor, locks, resolved, cleaned, setAway } = setUp({ a: "unreachable" });
    clock.advance(31_000);
    setAway(true);
    janitor.start();
    await new Promise((resolve) => setTimeout(resolve, 20));
    setAway(false);
    await until(() => resolved.length > 1);
    await janitor.stop();
    expect(await locks.acquire("a", { waitMs: 0 })).not.to.equal(undefined);
    const rounds = cleaned.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(cleaned).to.have.length(rounds);
  });
});
