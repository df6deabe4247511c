import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { openRedisConnection } from "../../../services/shared/cache/redis-connection.ts";
import { describeWithProcesses } from "../../../services/shared/testkit/describe.ts";
import { type RedisServer, startRedisOrSkip } from "../../../services/shared/testkit/redis-server.ts";
import { until } from "../../testkit/until.ts";
import { createMemoryLocks, createRedisLocks, type Lock, type Locks } from "./locks.ts";

const NOW = { waitMs: 0 };
const PATIENT = { waitMs: 20_000 };

/** What both kinds promise; `others` is another gateway's view of the same locks. */
function promises(locks: () => Locks, others: () => Locks): void {
  it("is held by one at a time, by name", async () => {
    const lock = (await locks().acquire("a", NOW)) as Lock;
    expect(await others().acquire("a", NOW)).to.equal(undefined);
    expect(await locks().acquire("a", NOW)).to.equal(undefined);
    const other = (await others().acquire("b", NOW)) as Lock;
    await lock.release();
    const again = (await others().acquire("a", NOW)) as Lock;
    expect(again).not.to.equal(undefined);
    await again.release();
    await other.release();
  });

  it("goes to every waiter, one after the other, and never to two", async () => {
    let held = 0;
    const work = async (locks: Locks) => {
      const lock = (await locks.acquire("queue", PATIENT)) as Lock;
      held += 1;
      expect(held).to.equal(1);
      await new Promise((resolve) => setTimeout(resolve, 1));
      held -= 1;
      await lock.release();
    };
    await Promise.all(Array.from({ length: 20 }, (_, at) => work(at % 2 === 0 ? locks() : others())));
  });

  it("is given up by a waiter at its time limit, and taken by the next", async () => {
    const lock = (await locks().acquire("slow", NOW)) as Lock;
    expect(await locks().acquire("slow", { waitMs: 20 })).to.equal(undefined);
    expect(await others().acquire("slow", { waitMs: 20 })).to.equal(undefined);
    const next = others().acquire("slow", PATIENT);
    await lock.release();
    await lock.release();
    const taken = (await next) as Lock;
    expect(await locks().acquire("slow", NOW)).to.equal(undefined);
    await taken.release();
  });
}

describe("payment locks in memory", () => {
  const locks = createMemoryLocks();
  promises(
    () => locks,
    () => locks,
  );
});

describeWithProcesses("payment locks in Redis", () => {
  let redis: RedisServer;
  let one: Locks;
  let other: Locks;
  const open = async () => {
    const connection = await openRedisConnection({ url: redis.url });
    await until(() => connection.healthy());
    return createRedisLocks(connection, { ttlMs: 600 });
  };

  before(async function () {
    redis = await startRedisOrSkip(this);
    [one, other] = [await open(), await open()];
  });
  after(async () => {
    one?.close();
    other?.close();
    await redis?.remove();
  });
  promises(
    () => one,
    () => other,
  );

  it("expires some time after its gateway was killed, and is renewed while it lives", async () => {
    const killed = await open();
    await killed.acquire("orphan", NOW);
    killed.close();
    const kept = (await one.acquire("kept", NOW)) as Lock;
    const inherited = (await other.acquire("orphan", PATIENT)) as Lock;
    expect(inherited).not.to.equal(undefined);
    // Longer than a lock lasts without renewal.
    expect(await other.acquire("kept", NOW)).to.equal(undefined);
    await kept.release();
    await inherited.release();
  });

  it("holds within each gateway while Redis is unreachable", async () => {
    await redis.kill();
    const lock = (await one.acquire("away", NOW)) as Lock;
    expect(await one.acquire("away", NOW)).to.equal(undefined);
    const elsewhere = (await other.acquire("away", NOW)) as Lock;
    expect(elsewhere).not.to.equal(undefined);
    await lock.release();
    await elsewhere.release();
  });
});
