import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { collection } from "./collection.ts";
import { acquireLease, findLeaseHolder, type Lease, leases, tryAcquireLease } from "./lease.ts";
import { ConflictError, put, type Store } from "./port.ts";
import { openSqliteStore } from "./sqlite/store.ts";

const checkpoints = collection({
  name: "checkpoints",
  fields: { chainId: "int", block: "int" },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});

describe("lease", () => {
  let dir: string;
  let first: Store;
  let second: Store;
  let clockMs: number;
  const held: Lease[] = [];
  // A TTL of an hour on a clock that stands still: nothing runs out and nothing renews unless the test says so.
  const ttlMs = 3_600_000;
  const now = (): number => clockMs;

  const acquire = async (
    store: Store,
    holder: string,
    options: { signal?: AbortSignal; name?: string } = {},
  ): Promise<Lease> => {
    const { name = "ingest", ...rest } = options;
    const lease = await acquireLease(store, { name, holder, ttlMs, now, pollMs: 2, ...rest });
    if (lease === undefined) throw new Error("the waiting was ended");
    held.push(lease);
    return lease;
  };
  const isWaiting = async (waiting: Promise<unknown>): Promise<boolean> => {
    const pause = new Promise((resolve) => setTimeout(resolve, 30, "waiting"));
    return (await Promise.race([waiting, pause])) === "waiting";
  };

  beforeEach(async () => {
    clockMs = 1_700_000_000_000;
    dir = await mkdtemp(join(tmpdir(), "lease-"));
    first = await openSqliteStore({ path: join(dir, "store.sqlite") });
    second = await openSqliteStore({ path: join(dir, "store.sqlite") });
    for (const store of [first, second]) await store.declare([checkpoints, leases]);
  });

  afterEach(async () => {
    for (const lease of held.splice(0)) await lease.release();
    await first.close();
    await second.close();
    await rm(dir, { recursive: true, force: true });
  });

  it("has one holder at a time, and the next one follows a release with a larger token", async () => {
    const one = await acquire(first, "one");
    const waiting = acquire(second, "two");
    expect(await isWaiting(waiting)).to.equal(true);
    await one.release();
    const two = await waiting;
    expect(two.token).to.equal(one.token + 1);
    expect(one.lost.aborted).to.equal(true);
    expect(two.lost.aborted).to.equal(false);
  });

  it("goes to a waiter once it has run out, and not a millisecond earlier", async () => {
    const one = await acquire(first, "one");
    const waiting = acquire(second, "two");
    expect(await isWaiting(waiting)).to.equal(true);
    clockMs += ttlMs - 1;
    expect(await isWaiting(waiting)).to.equal(true);
    clockMs += 1;
    expect((await waiting).token).to.be.greaterThan(one.token);
  });

  it("is free after its time, though the clock of its killed holder was a year ahead", async () => {
    const yearMs = 365 * 86_400_000;
    const ahead = { name: "ingest", holder: "killed", token: 7, expiresAtMs: Date.now() + yearMs };
    await first.write([put(leases, [ahead])]);
    const waiting = acquire(second, "two");
    expect(await isWaiting(waiting)).to.equal(true);
    clockMs += ttlMs;
    expect((await waiting).token).to.equal(8);
  });

  it("stays with a holder that renews it, though its clock is a year behind", async () => {
    const yearMs = 365 * 86_400_000;
    const behind = { name: "ingest", holder: "one", token: 7, expiresAtMs: Date.now() - yearMs };
    await first.write([put(leases, [behind])]);
    const waiting = acquire(second, "two");
    for (let renewal = 1; renewal <= 3; renewal++) {
      expect(await isWaiting(waiting)).to.equal(true);
      await first.write([put(leases, [{ ...behind, expiresAtMs: behind.expiresAtMs + renewal }])]);
      // Longer than it takes to see the renewal.
      expect(await isWaiting(waiting)).to.equal(true);
      clockMs += ttlMs - 1;
    }
    expect(await isWaiting(waiting)).to.equal(true);
    clockMs += ttlMs;
    expect((await waiting).token).to.equal(8);
  });

  it("is watched by who asks for the holder, and by who takes it only if it is free", async () => {
    const ask = { name: "ingest", ttlMs, now, pollMs: 2 };
    expect(await findLeaseHolder(second, ask)).to.equal(undefined);
    const one = await acquire(first, "one");
    const asked = findLeaseHolder(second, ask);
    const tried = tryAcquireLease(second, { ...ask, holder: "two" });
    expect(await isWaiting(Promise.race([asked, tried]))).to.equal(true);
    await one.renew();
    expect([await asked, await tried]).to.deep.equal(["one", undefined]);
    const silent = tryAcquireLease(second, { ...ask, holder: "three" });
    expect(await isWaiting(silent)).to.equal(true);
    clockMs += ttlMs;
    const three = await silent;
    expect(three?.token).to.equal(one.token + 1);
    await three?.release();
  });

  it("stays with a holder that renews it", async () => {
    const one = await acquire(first, "one");
    const waiting = acquire(second, "two");
    for (let i = 0; i < 3; i++) {
      expect(await isWaiting(waiting)).to.equal(true);
      clockMs += ttlMs - 1;
      expect(await one.renew()).to.equal(true);
    }
    expect(await isWaiting(waiting)).to.equal(true);
    await one.release();
    await waiting;
  });

  it("fences a holder that slept past its time", async () => {
    const asleep = await acquire(first, "asleep");
    await first.write([asleep.guard(), put(checkpoints, [{ chainId: 1, block: 10 }])]);
    const waking = acquire(second, "awake");
    expect(await isWaiting(waking)).to.equal(true);
    clockMs += ttlMs;
    const awake = await waking;
    await second.write([awake.guard(), put(checkpoints, [{ chainId: 1, block: 12 }])]);

    // It has not noticed yet, and writes what it was about to write.
    expect(asleep.lost.aborted).to.equal(false);
    const late = first.write([put(checkpoints, [{ chainId: 1, block: 11 }]), asleep.guard()]);
    expect(await late.catch((error: unknown) => error)).to.be.instanceOf(ConflictError);
    expect(await second.get(checkpoints, { chainId: 1 })).to.deep.equal({ chainId: 1, block: 12 });

    expect(await asleep.renew()).to.equal(false);
    expect(asleep.lost.aborted).to.equal(true);
    expect(String(asleep.lost.reason)).to.contain("another process has taken the lease");
    await asleep.release();
    expect(await second.get(leases, { name: "ingest" })).to.include({ holder: "awake", token: awake.token });
  });

  it("lets a holder that slept go on if no other took the lease meanwhile", async () => {
    const lease = await acquire(first, "one");
    clockMs += 10 * ttlMs;
    expect(await lease.renew()).to.equal(true);
    expect(lease.lost.aborted).to.equal(false);
  });

  it("is won by one of many who want it at once, each token given once", async () => {
    const tokens: number[] = [];
    const contend = async (i: number): Promise<void> => {
      const lease = await acquire(i % 2 === 0 ? first : second, `contender ${i}`);
      tokens.push(lease.token);
      await lease.release();
    };
    await Promise.all(Array.from({ length: 12 }, (_, i) => contend(i)));
    expect(tokens).to.deep.equal(Array.from({ length: 12 }, (_, i) => i + 1));
  });

  it("keeps leases of different names apart", async () => {
    const one = await acquire(first, "one", { name: "a" });
    const two = await acquire(second, "two", { name: "b" });
    expect([one.lost.aborted, two.lost.aborted]).to.deep.equal([false, false]);
  });

  it("ends the waiting when the signal says so", async () => {
    await acquire(first, "one");
    const stop = new AbortController();
    const waiting = acquireLease(second, {
      name: "ingest",
      holder: "two",
      ttlMs,
      now,
      pollMs: 60_000,
      signal: stop.signal,
    });
    stop.abort();
    expect(await waiting).to.equal(undefined);
  });

  it("renews in the background, and reports when it no longer can", async () => {
    const lease = await acquireLease(first, { name: "short", holder: "one", ttlMs: 200 });
    if (lease === undefined) throw new Error("the waiting was ended");
    const before = (await second.get(leases, { name: "short" }))?.expiresAtMs ?? Number.NaN;
    await waitFor(async () => ((await second.get(leases, { name: "short" }))?.expiresAtMs ?? 0) > before);
    await first.close();
    await waitFor(async () => lease.lost.aborted);
    expect(String(lease.lost.reason)).to.contain("not be renewed in time");
    await lease.release();
  });

  for (const engine of ["sqlite", "mongodb"] as const) {
    it(`is ${engine === "sqlite" ? "kept" : "lost"} where ${engine} takes longer than the time to renew it`, async () => {
      let answer = () => {};
      let isSlow = false;
      const slow = new Proxy(first, {
        get(target, name) {
          if (name === "engine") return engine;
          const own: unknown = Reflect.get(target, name);
          if (typeof own !== "function") return own;
          return async (...args: unknown[]) => {
            if (name === "compareAndSet" && isSlow) await new Promise<void>((resolve) => (answer = resolve));
            return own.apply(target, args);
          };
        },
      });
      let nowMs = 0;
      const lease = await acquireLease(slow, { name: "slow", holder: "one", ttlMs: 200, now: () => nowMs });
      if (lease === undefined) throw new Error("the waiting was ended");
      isSlow = true;
      const renewal = lease.renew();
      nowMs = 300;
      const isLost = await Promise.race([
        new Promise<boolean>((resolve) => lease.lost.addEventListener("abort", () => resolve(true))),
        // Four times as long as until the next look at it.
        new Promise<boolean>((resolve) => setTimeout(resolve, 200, false)),
      ]);
      expect(isLost).to.equal(engine === "mongodb");
      isSlow = false;
      answer();
      // The row is ours: it is renewed on both, but what was lost stays lost.
      expect(await renewal).to.equal(true);
      expect(lease.lost.aborted).to.equal(isLost);
      await lease.release();
    });
  }

  it("is lost to another who took it while a renewal was under way on SQLite", async () => {
    const lease = await acquireLease(first, { name: "taken", holder: "one", ttlMs: 10_000 });
    const row = await second.get(leases, { name: "taken" });
    if (lease === undefined || row === undefined) throw new Error("nobody holds it");
    await second.write([put(leases, [{ ...row, holder: "two", token: row.token + 1 }])]);
    expect(await lease.renew()).to.equal(false);
    expect(String(lease.lost.reason)).to.contain("another process has taken the lease");
    await lease.release();
  });
});

/** Until the condition holds; mocha's timeout is the bound. */
async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
