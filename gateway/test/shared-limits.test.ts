import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { describeWithProcesses } from "../../services/shared/testkit/describe.ts";
import { type RedisServer, startRedisOrSkip } from "../../services/shared/testkit/redis-server.ts";
import { startTestGateway, type TestGateway, UNLIMITED } from "../testkit/gateway.ts";
import { createFakeDirectory, type FakeDirectory, openFakeKeys } from "../testkit/keys.ts";
import { until } from "../testkit/until.ts";

/** So slow that nothing drains while a test runs. */
const SLOW = { ratePerSecond: 0.001, burst: 5, dailyQuota: null };
/** Many requests of one process on a busy machine: at 250 ms a command, gateways decided alone, as they should. */
const PATIENT_MS = 10_000;

describeWithProcesses("gateway: limits shared through Redis", () => {
  let redis: RedisServer;
  let keys: FakeDirectory;
  let gateways: TestGateway[] = [];

  beforeEach(async function () {
    redis = await startRedisOrSkip(this);
    keys = createFakeDirectory();
    gateways = [];
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await redis?.remove();
  });

  const start = async (limits: Partial<typeof UNLIMITED>, redisTimeoutMs = PATIENT_MS) => {
    const gateway = await startTestGateway({
      config: { redisUrl: redis.url, limits: { ...UNLIMITED, ...limits } },
      parts: { openKeys: () => openFakeKeys(keys), redisTimeoutMs },
    });
    gateways.push(gateway);
    return gateway;
  };
  const get = async ({ url }: TestGateway, key?: string) => {
    const answer = await fetch(
      `${url}/evm/chains`,
      key === undefined ? {} : { headers: { "X-API-KEY": key } },
    );
    await answer.text();
    return answer;
  };
  const sharing = async (gateway: TestGateway) =>
    /gateway_limiter_shared\{[^}]*\} (\d)/.exec(await gateway.metrics())?.[1];

  it("is one limit for both of two gateways: 5 pass, the 6th does not, at either", async () => {
    const [one, other] = [await start({ key: SLOW }), await start({ key: SLOW })];
    const key = keys.add();
    for (let left = 4; left >= 0; left -= 1) {
      const answer = await get(left % 2 === 0 ? one : other, key);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get("ratelimit")).to.match(new RegExp(`^"burst";r=${left};`));
    }
    for (const gateway of [one, other, one]) {
      const refused = await get(gateway, key);
      expect(refused.status).to.equal(429);
      expect(Number(refused.headers.get("retry-after"))).to.be.within(900, 1_000);
    }
  });

  it("is exact for many requests at the same time", async () => {
    const limit = { ...SLOW, burst: 60 };
    const both = [await start({ key: limit }), await start({ key: limit })];
    const key = keys.add();
    const responses = Array.from({ length: 200 }, (_, i) => get(both[i % 2] as TestGateway, key));
    const answers = await Promise.all(responses);
    const passed = answers.filter(({ status }) => status === 200);
    expect(passed).to.have.length(60);
    expect(answers.filter(({ status }) => status === 429)).to.have.length(140);
    const left = passed.map(({ headers }) => Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]));
    expect(left.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 60 }, (_, i) => i));
  });

  it("is one limit of an address, too", async () => {
    const [one, other] = [await start({ address: SLOW }), await start({ address: SLOW })];
    for (const gateway of [one, other, one, other, one]) expect((await get(gateway)).status).to.equal(401);
    for (const gateway of [one, other]) expect((await get(gateway)).status).to.equal(429);
  });

  it("is what GET /usage returns at either, and so is a day's quota", async () => {
    const limit = { ratePerSecond: 0.001, burst: 9, dailyQuota: 4 };
    const [one, other] = [await start({ key: limit }), await start({ key: limit })];
    const key = keys.add();
    const remaining = async ({ url }: TestGateway) => {
      const answer = await fetch(`${url}/usage`, { headers: { "X-API-KEY": key } });
      return JSON.parse(await answer.text()).remaining;
    };
    for (const gateway of [one, other, one]) expect((await get(gateway, key)).status).to.equal(200);
    expect(await remaining(other)).to.include({ burst: 5, daily: 1 });
    expect(await remaining(one)).to.include({ burst: 4, daily: 1 });
    expect((await get(one, key)).status).to.equal(200);
    const refused = await get(other, key);
    expect(refused.status).to.equal(429);
    expect(refused.headers.get("ratelimit")).to.match(/"daily";r=0;t=\d+$/);
  });

  it("continues without an error when Redis dies, grants no second burst, and shares again with it", async () => {
    const gateway = await start({ key: SLOW });
    const key = keys.add();
    for (let i = 0; i < 3; i += 1) expect((await get(gateway, key)).status).to.equal(200);
    expect(await sharing(gateway)).to.equal("1");

    await redis.kill();
    for (const status of [200, 200, 429, 429]) expect((await get(gateway, key)).status).to.equal(status);
    expect(await sharing(gateway)).to.equal("0");
    const reported = () =>
      gateway.lines.filter(({ msg }) => /^Redis is (unreachable|reachable again)/.test(String(msg)));
    expect(reported().map(({ level }) => level)).to.deep.equal(["warn"]);

    await redis.start();
    await until(async () => {
      await get(gateway, keys.add());
      return (await sharing(gateway)) === "1";
    });
    expect(reported().map(({ level }) => level)).to.deep.equal(["warn", "info"]);
    expect((await get(gateway, key)).status).to.equal(429);
  });

  it("continues from what a gateway knows when Redis comes back empty", async () => {
    const [one, other] = [await start({ key: SLOW }), await start({ key: SLOW })];
    const key = keys.add();
    for (let i = 0; i < 3; i += 1) expect((await get(one, key)).status).to.equal(200);
    await redis.kill();
    for (const gateway of [one, other]) await get(gateway, keys.add());
    await redis.start();
    for (const gateway of [one, other]) {
      await until(async () => {
        await get(gateway, keys.add());
        return (await sharing(gateway)) === "1";
      });
    }
    expect((await get(one, key)).headers.get("ratelimit")).to.match(/r=1;/);
    expect((await get(other, key)).headers.get("ratelimit")).to.match(/r=0;/);
    for (const gateway of [one, other]) expect((await get(gateway, key)).status).to.equal(429);
  });

  it("answers while Redis hangs", async () => {
    const gateway = await start({ key: SLOW }, 250);
    const key = keys.add();
    expect((await get(gateway, key)).status).to.equal(200);
    redis.freeze();
    const answers = await Promise.all(Array.from({ length: 10 }, () => get(gateway, key)));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(4);
    redis.thaw();
  });
});
