import { expect } from "chai";
import { describe, it } from "mocha";
import { ingestStatus } from "../ingest-status/status-row.ts";
import { statusRow } from "../ingest-status/testkit/status-row.ts";
import { createLog } from "../logging/log.ts";
import { put, requireRow, type Store } from "../storage/port.ts";
import { openSqliteStore } from "../storage/sqlite/store.ts";
import { until } from "../testkit/fixture.ts";
import { createReporter, storeMissingSource } from "./reporter.ts";

async function setUp() {
  const store = await openSqliteStore({ path: ":memory:" });
  await store.declare([ingestStatus]);
  const lines: { level: string; msg: string }[] = [];
  const log = createLog({
    name: "ingest",
    level: "info",
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  const clock = { ms: 0 };
  const given: Pick<Store, "write"> = { write: store.write.bind(store) };
  const shown: { share: number | undefined; isFailing: boolean }[] = [];
  const reporter = createReporter({
    ...{ store: given, chainId: 8453, hosts: ["rpc.test"], log },
    words: { chain: "Base", discovered: "pools", blockNoun: "block", events: "events" },
    gauges: { showProgress: (progress) => void shown.push(progress) },
    now: () => clock.ms,
  });
  const stored = () => store.get(ingestStatus, { chainId: 8453 });
  return { store, given, reporter, lines, log, clock, shown, stored };
}

const LEAD = { guard: () => [], readHead: () => new Promise<never>(() => {}) };

describe("IngestReporter", () => {
  it("says why the work fails and since when, until it goes on", async () => {
    const { reporter, clock, store } = await setUp();
    expect(reporter.row().state).to.equal("starting");
    clock.ms = 10_000;
    reporter.reportFailure(
      new Error("Cannot reach mongodb://user:hunter2@db.test:27017/x (refused)\n    at somewhere"),
    );
    const failing = reporter.row();
    expect(failing).to.include({ state: "failing", why: "Cannot reach mongodb://db.test:27017 (refused)" });
    expect(Date.now() - failing.sinceMs).to.be.within(0, 1_000);
    // It fails again and again: the first time counts.
    clock.ms = 60_000;
    reporter.setHead({ number: 100, timestamp: 1_000 });
    reporter.reportFailure(new Error("refused"));
    expect(reporter.row()).to.include({ state: "failing", why: "refused", sinceMs: failing.sinceMs });
    reporter.setHead({ number: 100, timestamp: 1_000 });
    clock.ms = 64_999;
    expect(reporter.row().state, "it may fail again at once").to.equal("failing");
    clock.ms = 65_000;
    expect(reporter.row()).to.include({ state: "starting", why: null });
    reporter.reportFailure(new Error("refused"));
    reporter.setIndexedBlock({ number: 100, time: 1_000 });
    expect(reporter.row()).to.include({ state: "following", share: 1, block: 100, head: 100 });
    await store.close();
  });

  it("says that no endpoint answers before any work has given up", async () => {
    const { reporter, clock, store } = await setUp();
    const event = {
      host: "rpc.test",
      fault: "transient",
      method: "eth_chainId",
      message: "ECONNREFUSED",
    } as const;
    reporter.onEvent({ kind: "fault", ...event });
    clock.ms = 10_000;
    expect(reporter.row()).to.include({
      state: "failing",
      why: "No RPC endpoint can be used: rpc.test (ECONNREFUSED)",
    });
    const request = { host: "rpc.test", method: "eth_chainId", calls: 1, ms: 3, ok: true } as const;
    reporter.onEvent({ kind: "request", ...request });
    expect(reporter.row().state).to.equal("starting");
    await store.close();
  });

  it("publishes row, line and metrics of one state while the work runs", async () => {
    const { reporter, store, stored, lines, shown } = await setUp();
    await reporter.publishDuring(LEAD, async () => {
      await until(async () => (await stored())?.state === "starting");
      reporter.setHead({ number: 1_099, timestamp: 100_000 });
      const scans = [{ name: "a", from: 0, at: -1, to: 999 }];
      reporter.report({ stage: "plan", scans, backfill: { from: 1_000, at: 999 } });
      reporter.report({ stage: "discovery", scan: "a", from: 0, at: 499, to: 999, events: 3 });
      await until(async () => (await stored())?.state === "discovering");
    });
    const row = await stored();
    expect(row).to.include({ head: 1_099, block: null, why: null });
    expect(row?.share).to.be.closeTo(500 / (1_000 + 100 * 200), 1e-9);
    expect(shown.at(-1)).to.include({ share: row?.share, isFailing: false });
    expect(lines.map(({ msg }) => msg).join("\n"))
      .to.contain("Base discovery ")
      .and.contain("500 of 1,000 blocks");
    await store.close();
  });

  it("goes on while its row cannot be stored, says so once, and stores it later", async () => {
    const { reporter, given, store, lines, stored } = await setUp();
    let failures = 0;
    given.write = () => {
      failures += 1;
      return Promise.reject(new Error("the store is down"));
    };
    const answer = await reporter.publishDuring(LEAD, async () => {
      await until(() => failures >= 2);
      given.write = (steps) => store.write(steps);
      await until(async () => (await stored()) !== undefined);
      return 7;
    });
    expect(answer).to.equal(7);
    expect(lines.filter(({ msg }) => msg === "the ingest's status cannot be stored")).to.have.length(1);
    await store.close();
  }).timeout(10_000);

  it("does not stop the work when reporting fails", async () => {
    const { reporter, given, store, lines } = await setUp();
    given.write = () => {
      throw new TypeError("the store is closed");
    };
    const said = () => lines.filter(({ msg }) => msg === "the ingest's status cannot be stored");
    expect(
      await reporter.publishDuring(LEAD, () => until(() => said().length === 1).then(() => "done")),
    ).to.equal("done");
    await store.close();
  });

  it("does not wait for a store that hangs when the work has ended", async () => {
    const { reporter, given, store } = await setUp();
    given.write = () => new Promise(() => {});
    const startedMs = performance.now();
    await reporter.publishDuring(LEAD, async () => {});
    expect(performance.now() - startedMs).to.be.below(3_000);
    await store.close();
  });

  it("writes nothing over the row of another process that leads by now, and logs nothing", async () => {
    const { reporter, store, lines, stored } = await setUp();
    const other = statusRow({ state: "following", block: 77 });
    await store.write([put(ingestStatus, [other])]);
    let tries = 0;
    // What a lease's guard is for one that was replaced.
    const guard = () => {
      tries += 1;
      return [requireRow(ingestStatus, { chainId: 8453 }, { block: 76 })];
    };
    await reporter.publishDuring({ ...LEAD, guard }, () => until(() => tries >= 2));
    expect(await stored()).to.deep.equal(other);
    expect(lines).to.deep.equal([]);
    await store.close();
  });

  it("looks at the chain's head itself where the stage does not", async () => {
    const { reporter, store, clock } = await setUp();
    clock.ms = 1;
    await reporter.publishDuring(
      { ...LEAD, readHead: async () => ({ number: 4_711, timestamp: 9 }) },
      async () => until(() => reporter.row().head === 4_711),
    );
    await store.close();
  });
});

describe("storeMissingSource", () => {
  it("notes chains without an endpoint, but not over an ingest that has one", async () => {
    const { store, log } = await setUp();
    const alive = statusRow({ chainId: 8453, state: "following" });
    const gone = statusRow({ chainId: 1, state: "following", updatedAtMs: Date.now() - 60_000 });
    await store.write([put(ingestStatus, [alive, gone])]);
    await storeMissingSource(store, { chainIds: [1, 8453, 10], log });
    const states = (await store.find(ingestStatus, {})).map(({ chainId, state }) => [chainId, state]);
    expect(states).to.deep.equal([
      [1, "no_source"],
      [10, "no_source"],
      [8453, "following"],
    ]);
    await store.close();
  });
});
