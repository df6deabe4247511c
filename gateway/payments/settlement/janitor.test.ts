import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { createLog } from "../../../services/shared/logging/log.ts";
import { openSqliteStore } from "../../../services/shared/storage/sqlite/store.ts";
import { createManualClock } from "../../testkit/clock.ts";
import { until } from "../../testkit/until.ts";
import { openLedger } from "../ledger/ledger.ts";
import { createMemoryLocks } from "../ledger/locks.ts";
import type { PaymentRecord } from "../ledger/payment-record.ts";
import type { Transfer } from "./chain.ts";
import { createJanitor, type JanitorDeps } from "./janitor.ts";

type Fate = "paid" | "expired" | "unused" | "unreachable";

/** Payments in a real ledger, and a chain that knows what became of each by its nonce. */
async function setUp(fates: Readonly<Record<string, Fate>>, changes: Partial<JanitorDeps> = {}) {
  const clock = createManualClock();
  const store = await openSqliteStore({ path: ":memory:" });
  const ledger = await openLedger(store, { clock, answersKeptMs: 1_000 });
  for (const nonce of Object.keys(fates)) {
    const validBefore = fates[nonce] === "expired" ? 100 : 1_000;
    await ledger.open({
      ...{ key: nonce, nonce, validBefore, state: "open", createdAt: clock.nowMs() },
      ...{ payer: "0xa", resource: "r", path: "/p", network: "n", asset: "0xc", payTo: "0xt", amount: "1" },
      ...{ identifier: null, payload: {}, requirements: {}, fromBlock: 1, transaction: null, reason: null },
      ...{ session: "s", settledAt: null, deliveredAt: null },
    } as unknown as PaymentRecord);
  }
  const lookedUp: string[] = [];
  const resolved: string[] = [];
  let isAway = false;
  const chain = {
    async readStates(transfers: readonly Transfer[]) {
      if (isAway) throw new Error("no node answers");
      lookedUp.push(...transfers.map(({ nonce }) => nonce));
      return transfers.map(({ nonce }) => ({
        isUsed: fates[nonce] === "paid" || fates[nonce] === "unreachable",
        time: 500,
      }));
    },
  };
  const settlement = {
    async resolve(record: PaymentRecord) {
      resolved.push(record.key);
      if (fates[record.nonce] === "unreachable") throw new Error("no node answers");
      return ledger.markSettled(record, "0xdd");
    },
  };
  let open: number | undefined;
  const deps: JanitorDeps = {
    ...{ ledger, settlement, chain, clock, locks: createMemoryLocks(), everyMs: 5 },
    metrics: { setOpen: (count: number) => (open = count) } as never,
    log: createLog({ name: "test", level: "silent" }),
    ...changes,
  };
  const stateOf = async (key: string) => (await ledger.find(key))?.state;
  const setAway = (value: boolean): void => {
    isAway = value;
  };
  const janitor = createJanitor(deps);
  return { clock, store, ledger, deps, janitor, lookedUp, resolved, stateOf, setAway, open: () => open };
}

describe("payment janitor", () => {
  let world: Awaited<ReturnType<typeof setUp>>;
  /** Advances the clock: a round lasts as long as the clock says. */
  let ticking: NodeJS.Timeout | undefined;
  const tick = () => {
    ticking = setInterval(() => world.clock.advance(10), 2);
  };
  afterEach(async () => {
    clearInterval(ticking);
    await world.janitor.stop();
    await world.store.close();
  });

  it("finds the outcome of payments that are old enough, and counts those it cannot resolve", async () => {
    world = await setUp({ "0x01": "paid", "0x02": "expired", "0x03": "unused" });
    const { clock, janitor, lookedUp, stateOf, open } = world;
    janitor.start();
    await until(() => open() === 0);
    expect(lookedUp).to.deep.equal([]);
    clock.advance(31_000);
    tick();
    await until(() => open() === 1);
    expect(await Promise.all(["0x01", "0x02", "0x03"].map(stateOf))).to.deep.equal([
      "settled",
      "void",
      "open",
    ]);
  });

  it("reaches a payment behind 650 that stay open, within a budget of calls, and to all of them in turn", async () => {
    const fates: Record<string, Fate> = {};
    for (let at = 0; at < 650; at += 1) fates[`0x${String(at).padStart(4, "0")}`] = "unused";
    world = await setUp({ ...fates, "0xffff": "paid" }, { maxCalls: 10 });
    const { clock, janitor, lookedUp, stateOf } = world;
    clock.advance(31_000);
    tick();
    janitor.start();
    await until(async () => (await stateOf("0xffff")) === "settled");
    expect(lookedUp.slice(0, 500)).to.deep.equal(Object.keys(fates).slice(0, 500));
    // The first round had no calls left for the second page.
    expect(new Set(lookedUp)).to.have.length(651);
  });

  it("leaves used ones that a round cannot afford to the next, which begins there", async () => {
    const fates = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`0x0${at}`, "paid" as const]));
    world = await setUp(fates, { maxCalls: 22 });
    world.clock.advance(31_000);
    tick();
    world.janitor.start();
    await until(async () => (await world.ledger.countOpen(world.clock.nowMs())) === 0);
    expect(world.resolved).to.deep.equal(Object.keys(fates));
  });

  it("skips one that cannot be looked up, and continues after outages", async () => {
    world = await setUp({ "0x01": "unreachable", "0x02": "paid" });
    world.setAway(true);
    world.clock.advance(31_000);
    tick();
    world.janitor.start();
    await new Promise((resolve) => setTimeout(resolve, 30));
    world.setAway(false);
    await until(async () => (await world.stateOf("0x02")) === "settled");
    expect(await world.stateOf("0x01")).to.equal("open");
    expect(await world.deps.locks.acquire("0x01", { waitMs: 100 })).not.to.equal(undefined);
  });

  it("skips a payment that a request is processing", async () => {
    world = await setUp({ "0x01": "paid" });
    const lock = await world.deps.locks.acquire("0x01", { waitMs: 0 });
    world.clock.advance(31_000);
    tick();
    world.janitor.start();
    await until(() => world.lookedUp.length > 1);
    expect(world.resolved).to.deep.equal([]);
    await lock?.release();
    await until(() => world.resolved.includes("0x01"));
  });

  it("does each round once, however many gateways share the ledger, and continues where another one has died", async () => {
    world = await setUp({ "0x01": "unused" });
    const { clock, deps, ledger, janitor, lookedUp, open } = world;
    clock.advance(31_000);
    const others = Array.from({ length: 5 }, () => createJanitor(deps));
    for (const one of [janitor, ...others]) one.start();
    await until(() => open() === 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    // The clock stands still: there was one round.
    expect(lookedUp).to.have.length(1);
    clock.advance(100);
    const dead = await ledger.takeRound({ nowMs: clock.nowMs(), untilMs: clock.nowMs() + 60_000 });
    if (dead === undefined) clock.advance(100);
    clock.advance(60_001);
    await until(() => lookedUp.length > 1);
    await Promise.all(others.map((one) => one.stop()));
  });
});
