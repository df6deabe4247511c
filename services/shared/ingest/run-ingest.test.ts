import { expect } from "chai";
import { describe, it } from "mocha";
import { createLog } from "../logging/log.ts";
import { leases } from "../storage/lease.ts";
import { put } from "../storage/port.ts";
import { openSqliteStore } from "../storage/sqlite/store.ts";
import { closeOnAbort, retryUntilAborted, runAsLeader, runIngest } from "./run-ingest.ts";

const log = createLog({ name: "test", level: "silent" });

describe("runAsLeader", () => {
  it("works while it leads, stops when another takes the lease, and works again when that one is done", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const stop = new AbortController();
    const tokens: number[] = [];
    const name = "chain";
    const run = runAsLeader(
      { store, name, ttlMs: 200, log, signal: stop.signal },
      async ({ signal, guard }) => {
        await store.write([...guard()]);
        const ended = new Promise((resolve) => signal.addEventListener("abort", resolve));
        const row = await store.get(leases, { name });
        if (row === undefined) throw new Error("There is no lease.");
        tokens.push(row.token);
        // Another process whose time is up at once.
        if (tokens.length === 1)
          await store.write([
            put(leases, [{ ...row, holder: "other", token: row.token + 1, expiresAtMs: 0 }]),
          ]);
        else stop.abort();
        await ended;
      },
    );
    await run;
    await store.close();
    expect(tokens).to.deep.equal([1, 3]);
  });

  it("throws what the work throws, and releases the lease", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const { signal } = new AbortController();
    const error = await runAsLeader({ store, name: "chain", ttlMs: 60_000, log, signal }, () =>
      Promise.reject(new Error("no")),
    ).catch((caught: unknown) => caught);
    expect(String(error)).to.equal("Error: no");
    expect(await store.get(leases, { name: "chain" })).to.include({ expiresAtMs: 0 });
    await store.close();
  });
});

describe("retryUntilAborted", () => {
  it("tries again after a failure, and ends with the signal", async () => {
    const stop = new AbortController();
    let runs = 0;
    await retryUntilAborted(stop.signal, { log, isFatal: () => false }, async () => {
      if (++runs === 1) throw new Error("the store is down");
      stop.abort();
    });
    expect(runs).to.equal(2);
  });

  it("throws what is fatal", async () => {
    const { signal } = new AbortController();
    const fatal = new TypeError("another chain");
    const isFatal = (error: unknown) => error === fatal;
    const error = await retryUntilAborted(signal, { log, isFatal }, () => Promise.reject(fatal)).catch(
      (caught: unknown) => caught,
    );
    expect(error).to.equal(fatal);
  });
});

describe("runIngest", () => {
  it("stops within three seconds though its work and its store hang", async () => {
    const ingest = runIngest({
      log,
      runs: [() => new Promise(() => {})],
      onStop: () => new Promise(() => {}),
    });
    const startedMs = performance.now();
    await ingest.stop();
    expect(performance.now() - startedMs).to.be.lessThan(2_500);
  });
});

describe("closeOnAbort", () => {
  it("closes once the signal aborts, and does not hold on to a source that was closed before", async () => {
    const stop = new AbortController();
    const closed: string[] = [];
    const source = (name: string) => ({
      name,
      async close() {
        closed.push(name);
      },
    });
    const first = closeOnAbort(stop.signal, source("first"));
    closeOnAbort(stop.signal, source("second"));
    await first.close();
    stop.abort();
    closeOnAbort(stop.signal, source("late"));
    expect(closed).to.deep.equal(["first", "second", "late"]);
  });
});
