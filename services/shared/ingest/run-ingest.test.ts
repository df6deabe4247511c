import { expect } from "chai";
import { describe, it } from "mocha";
import { pino } from "pino";
import { createLog } from "../logging/log.ts";
import { leases } from "../storage/lease.ts";
import { put, type Store, StoreAwayError } from "../storage/port.ts";
import { openSqliteStore } from "../storage/sqlite/store.ts";
import { closeOnAbort, retryUntilAborted, runAsLeader, runIngest } from "./run-ingest.ts";

const log = createLog({ name: "test", level: "silent" });

/** Of a connection that the other side has ended. */
function socketError(): Error {
  return Object.assign(new Error("This socket has been ended by the other party"), { code: "EPIPE" });
}

/** A log, and what was written to it. */
function listen() {
  const lines: Record<string, unknown>[] = [];
  const heard = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { heard, lines };
}

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

describe("a leader whose store goes away", () => {
  it("takes the lease again when the store is back, and does not end", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const stop = new AbortController();
    const { heard, lines } = listen();
    const gone = new StoreAwayError(socketError());
    let turns = 0;
    await runAsLeader({ store, name: "chain", ttlMs: 60_000, log: heard, signal: stop.signal }, async () => {
      turns += 1;
      if (turns === 1) throw new Error("Cannot read the checkpoint", { cause: gone });
      stop.abort();
    });
    await store.close();
    expect(turns).to.equal(2);
    expect(lines.map(({ msg }) => msg)).to.include("the store cannot be reached; waiting for the lease");
  });

  it("throws the same error of anybody else's socket: an RPC endpoint that is away is no reason to wait", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const { signal } = new AbortController();
    const failure = new Error("No RPC endpoint answers", { cause: socketError() });
    const error = await runAsLeader({ store, name: "chain", ttlMs: 60_000, log, signal }, () =>
      Promise.reject(failure),
    ).catch((caught: unknown) => caught);
    expect(error).to.equal(failure);
    await store.close();
  });
});

describe("leadership", () => {
  it("says who leads, that a lease is lost, and shows both to metrics", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const stop = new AbortController();
    const { heard, lines } = listen();
    const changes: (number | undefined)[] = [];
    const onChange = (token: number | undefined) => void changes.push(token);
    const name = "chain";
    await store.declare([leases]);
    await store.write([put(leases, [{ name, holder: "other", token: 4, expiresAtMs: 9 }])]);
    const options = { store, name, ttlMs: 200, log: heard, signal: stop.signal, onChange };
    await runAsLeader(options, async ({ signal }) => {
      if (changes.length > 2) return stop.abort();
      const row = await store.get(leases, { name });
      if (row === undefined) throw new Error("There is no lease.");
      await store.write([put(leases, [{ ...row, holder: "thief", token: 9, expiresAtMs: 0 }])]);
      // Ends without an error: a lost lease is said all the same.
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    await store.close();
    expect(changes).to.deep.equal([undefined, 5, undefined, 10, undefined]);
    const said = lines.map(({ level, msg, holder, token }) => [level, msg, token ?? holder]);
    expect(said).to.deep.equal([
      [30, "another process leads; waiting for its lease", "other"],
      [30, "holding the lease", 5],
      [40, "the lease is lost; waiting for it", 5],
      [30, "holding the lease", 10],
    ]);
  });

  it("outlives a store that cannot be reached, and says so once", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const stop = new AbortController();
    const { heard, lines } = listen();
    let [asked, declared] = [0, 0];
    const away: Store = new Proxy(store, {
      get(target, property) {
        const member = Reflect.get(target, property);
        if (property === "declare")
          return async (...args: Parameters<Store["declare"]>) => {
            if (++declared <= 2) throw new Error("Topology is closed");
            return target.declare(...args);
          };
        if (property === "get")
          return async (...args: Parameters<Store["get"]>) => {
            if (++asked <= 3) throw new Error("connect ECONNREFUSED");
            return target.get(...args);
          };
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const options = { store: away, name: "chain", ttlMs: 40, log: heard, signal: stop.signal };
    await runAsLeader(options, async () => stop.abort());
    await store.close();
    expect([declared, asked]).to.deep.equal([3, 4]);
    expect(lines.map(({ msg }) => msg)).to.deep.equal([
      "the lease cannot be read; trying again",
      "holding the lease",
    ]);
  });

  it("ends where the store's file is damaged: no retry helps", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const malformed = Object.assign(new Error("database disk image is malformed"), {
      errcode: 11,
    });
    const damaged: Store = Object.assign(Object.create(store), {
      declare: async () => {},
      get: () => Promise.reject(malformed),
    });
    const { signal } = new AbortController();
    const options = { store: damaged, name: "chain", ttlMs: 40, log, signal };
    const error = await runAsLeader(options, async () => {}).catch((caught: unknown) => caught);
    await store.close();
    expect(error).to.equal(malformed);
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

  it("throws what says that the store's file is damaged", async () => {
    const { signal } = new AbortController();
    const damaged = Object.assign(new Error("malformed"), { errcode: 267 });
    const error = await retryUntilAborted(signal, { log, isFatal: () => false }, () =>
      Promise.reject(new Error("a write failed", { cause: damaged })),
    ).catch((caught: unknown) => caught);
    expect(error).to.include({ message: "a write failed" });
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
