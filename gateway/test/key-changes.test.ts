import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { describeWithProcesses } from "../../services/shared/testkit/describe.ts";
import { type RedisServer, startRedisOrSkip } from "../../services/shared/testkit/redis-server.ts";
import { hashApiKey } from "../auth/keys/api-key.ts";
import { publishKeyChanges } from "../auth/keys/key-changes.ts";
import { createManualClock } from "../testkit/clock.ts";
import { startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { createFakeDirectory, type FakeDirectory, openFakeKeys } from "../testkit/keys.ts";
import { until } from "../testkit/until.ts";

/** The clocks stand still: remembered keys do not age, and only a published change updates them. */
describeWithProcesses("gateway: word of changed keys through Redis", () => {
  let redis: RedisServer;
  let keys: FakeDirectory;
  let gateways: TestGateway[] = [];

  beforeEach(async function () {
    redis = await startRedisOrSkip(this);
    keys = createFakeDirectory();
    gateways = await Promise.all(
      [1, 2].map(() =>
        startTestGateway({
          config: { redisUrl: redis.url },
          parts: { clock: createManualClock(), openKeys: () => openFakeKeys(keys) },
        }),
      ),
    );
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    gateways = [];
    await redis?.remove();
  });

  const statusesOf = (key: string) =>
    Promise.all(
      gateways.map(async ({ url }) => {
        const answer = await fetch(`${url}/evm/chains`, { headers: { "X-API-KEY": key } });
        await answer.text();
        return answer.status;
      }),
    );
  /** By both gateways, which listen by then. */
  const untilRemembered = (key: string) =>
    until(async () => {
      const lookupsBefore = keys.lookups;
      expect(await statusesOf(key)).to.deep.equal([200, 200]);
      return keys.lookups === lookupsBefore;
    });
  const change = (key: string, changes: object) => {
    const hash = hashApiKey(key);
    const record = keys.records.get(hash);
    if (!record) throw new Error("the key was not stored");
    keys.records.set(hash, { ...record, ...changes });
    return hash;
  };

  it("reaches every gateway at once: revocation, suspension, other limits", async () => {
    const key = keys.add();
    await untilRemembered(key);

    for (const [changes, status] of [
      [{ suspendedAt: 1 }, 403],
      [{ suspendedAt: null }, 200],
      [{ limits: { ratePerSecond: 0.001, burst: 1, dailyQuota: null } }, 429],
      [{ revokedAt: 1 }, 401],
    ] as const) {
      expect(await publishKeyChanges(redis.url, [change(key, changes)])).to.equal(true);
      await until(async () => (await statusesOf(key)).every((each) => each === status));
    }
  });

  it("is not missed over a loss of the connection: everything is looked up again after it", async () => {
    const key = keys.add();
    await untilRemembered(key);
    await redis.kill();
    change(key, { revokedAt: 1 });
    expect(await statusesOf(key)).to.deep.equal([200, 200]);
    await redis.start();
    await until(async () => (await statusesOf(key)).every((status) => status === 401));
  });

  it("is reported as not published while Redis is unreachable", async () => {
    await redis.kill();
    expect(await publishKeyChanges(redis.url, ["0".repeat(64)])).to.equal(false);
  });
});
