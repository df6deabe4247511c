import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Store } from "../../services/shared/storage/port.ts";
import { openSqliteStore } from "../../services/shared/storage/sqlite/store.ts";
import { groupUsageByDay } from "../auth/usage/by-day.ts";
import { DAY_MS } from "../auth/usage/usage-record.ts";
import { openUsageStore, type UsageStore } from "../auth/usage/usage-store.ts";
import { createManualClock, type ManualClock } from "../testkit/clock.ts";
import { expectError } from "../testkit/expect-error.ts";
import { startTestGateway, type TestGateway, UNLIMITED } from "../testkit/gateway.ts";
import { createFakeDirectory, type FakeDirectory, openFakeKeys } from "../testkit/keys.ts";

/** 1 May 2026, noon. */
const NOON_MS = Date.UTC(2026, 4, 1, 12);

describe("gateway: usage", () => {
  let clock: ManualClock;
  let store: Store;
  let usage: UsageStore;
  let keys: FakeDirectory;
  let running: TestGateway[];
  beforeEach(async () => {
    clock = createManualClock(NOON_MS);
    store = await openSqliteStore({ path: ":memory:" });
    usage = await openUsageStore(store);
    keys = createFakeDirectory();
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((gateway) => gateway.stop()));
    await store.close();
  });

  const start = async (limits: Partial<typeof UNLIMITED> = {}) => {
    const gateway = await startTestGateway({
      config: { limits: { ...UNLIMITED, ...limits } },
      parts: { clock, openKeys: () => openFakeKeys(keys, usage) },
    });
    running.push(gateway);
    return gateway;
  };
  const get = async ({ url }: TestGateway, key: string, path = "/evm/chains") => {
    const answer = await fetch(`${url}${path}`, { headers: { "X-API-KEY": key } });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, json: () => JSON.parse(text), text };
  };

  it("returns a key's limits, usage and what remains", async () => {
    const gateway = await start({ key: { ratePerSecond: 0.5, burst: 6, dailyQuota: 100 } });
    const key = keys.add({ id: "key_mine", label: "mine", owner: "acme", scopes: ["evm-dex", "solana"] });
    for (const path of ["/evm/chains", "/evm/chains", "/api/v1/solana/tokens"]) await get(gateway, key, path);
    expect((await get(gateway, key, "/evm/lending/lendinga/v3/pools")).status).to.equal(403);
    const answer = await get(gateway, key, "/usage");
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("content-type")).to.equal("application/json");
    expect(answer.headers.get("cache-control")).to.equal("no-store");
    expect(answer.headers.get("ratelimit")).to.equal('"burst";r=1;t=2, "daily";r=96;t=43200');
    expect(answer.json()).to.deep.equal({
      key: {
        id: "key_mine",
        label: "mine",
        owner: "acme",
        scopes: ["evm-dex", "solana"],
        createdAt: "1970-01-01T00:00:00.000Z",
        expiresAt: null,
        rotatedTo: null,
      },
      limits: { ratePerSecond: 0.5, burst: 6, dailyQuota: 100 },
      remaining: { burst: 1, daily: 96, dayEndsAt: "2026-05-02T00:00:00.000Z" },
      usage: [
        {
          day: "2026-05-01",
          requests: 4,
          limited: 0,
          endpoints: [
            { path: "/api/v1/solana/tokens", requests: 1, limited: 0 },
            { path: "/evm/chains", requests: 2, limited: 0 },
            // Outside its scopes, but still its own request.
            { path: "/evm/lending/lendinga/v3/pools", requests: 1, limited: 0 },
          ],
        },
      ],
    });
    expect(answer.text).not.to.contain(key).and.not.to.contain("hash");
  });

  it("can be requested when the day's quota is used up, but not more often than the rate allows", async () => {
    const gateway = await start({ key: { ratePerSecond: 0.001, burst: 3, dailyQuota: 1 } });
    const key = keys.add();
    await get(gateway, key);
    expect((await get(gateway, key)).status).to.equal(429);
    for (let left = 1; left >= 0; left -= 1) {
      const { status, json } = await get(gateway, key, "/usage");
      expect(status).to.equal(200);
      expect(json().remaining).to.include({ burst: left, daily: 0 });
      expect(json().usage[0]).to.include({ requests: 1, limited: 1 });
    }
    const refused = await get(gateway, key, "/usage");
    expect(refused.status).to.equal(429);
    expect(refused.headers.get("retry-after")).to.equal("1000");
  });

  it("needs a key that is not suspended, and returns no limits for the bootstrap key", async () => {
    const gateway = await start();
    await expectError(await fetch(`${gateway.url}/usage`), "unauthorized");
    const suspended = keys.add({ suspendedAt: 1 });
    await expectError(
      await fetch(`${gateway.url}/usage`, { headers: { "X-API-KEY": suspended } }),
      "forbidden",
    );
    await (await gateway.get("/evm/chains")).text();
    const body = JSON.parse(await (await gateway.get("/usage")).text());
    expect(body).to.deep.include({ limits: null, remaining: null });
    expect(body.key).to.include({ id: "bootstrap", label: null });
    expect(body.usage[0].requests).to.equal(1);
    expect(await (await gateway.get("/usage", { method: "HEAD" })).text()).to.equal("");
  });

  it("is exact after a drain, over gateways, keys and endpoints, requests in flight included", async () => {
    const [one, other] = [await start(), await start()];
    const [first, second] = [keys.add(), keys.add()];
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const answer = one.evmDex.answer;
    one.evmDex.answer = async (req, res) => {
      if (req.url?.includes("slow")) await gate;
      await answer(req, res);
    };
    const slow = get(one, first, "/evm/chains?slow");
    await Promise.all(
      Array.from({ length: 90 }, (_, i) =>
        get(
          i % 2 === 0 ? one : other,
          i % 3 === 0 ? first : second,
          i % 5 === 0 ? "/evm/dexes" : "/evm/chains",
        ),
      ),
    );
    const stopped = [one.stop(), other.stop()];
    release();
    expect((await slow).status).to.equal(200);
    await Promise.all(stopped);
    running = [];
    const day = Math.floor(NOON_MS / DAY_MS);
    expect(groupUsageByDay(await usage.findByKey("key_0", day))[0]).to.deep.include({
      requests: 31,
      endpoints: [
        { path: "/evm/chains", requests: 25, limited: 0 },
        { path: "/evm/dexes", requests: 6, limited: 0 },
      ],
    });
    expect(await usage.sumTotals("key_1", day)).to.deep.equal({ requests: 60, limited: 0 });
  });

  it("keeps a day's quota over a restart without Redis, until midnight", async () => {
    const limits = { key: { ratePerSecond: 1_000, burst: 1_000, dailyQuota: 5 } };
    const key = keys.add();
    const before = await start(limits);
    for (let i = 0; i < 3; i += 1) expect((await get(before, key)).status).to.equal(200);
    await before.stop();
    running = [];
    const after = await start(limits);
    for (const status of [200, 200, 429]) expect((await get(after, key)).status).to.equal(status);
    clock.advance(DAY_MS / 2);
    expect((await get(after, key)).headers.get("ratelimit")).to.match(/"daily";r=4;t=86400$/);
    const { json } = await get(after, key, "/usage");
    const days = json().usage.map(({ day, requests, limited }: Record<string, unknown>) => [
      day,
      requests,
      limited,
    ]);
    expect(days).to.deep.equal([
      ["2026-05-02", 1, 0],
      ["2026-05-01", 5, 1],
    ]);
  });

  it("counts keys that were rotated into each other against one limit, each with its own usage", async () => {
    const gateway = await start({ key: { ratePerSecond: 0.001, burst: 3, dailyQuota: null } });
    const old = keys.add({ id: "key_old" });
    const next = keys.add({ id: "key_next", subject: "key_old" });
    for (const key of [old, next, old]) expect((await get(gateway, key)).status).to.equal(200);
    for (const key of [old, next]) expect((await get(gateway, key)).status).to.equal(429);
    await gateway.stop();
    running = [];
    expect(await usage.sumTotals("key_old", 0)).to.deep.equal({ requests: 2, limited: 1 });
    expect(await usage.sumTotals("key_next", 0)).to.deep.equal({ requests: 1, limited: 1 });
  });

  it("answers 503 where usage cannot be read, and everything else as before", async () => {
    const gateway = await startTestGateway({
      config: { limits: { ...UNLIMITED, key: { ratePerSecond: 100, burst: 100, dailyQuota: 10 } } },
      parts: {
        clock,
        openKeys: () =>
          openFakeKeys(keys, {
            ...usage,
            findByKey: () => Promise.reject(new Error("away")),
            countPassed: () => Promise.reject(new Error("away")),
          }),
      },
    });
    running.push(gateway);
    const key = keys.add();
    expect((await get(gateway, key)).status).to.equal(200);
    await expectError(await fetch(`${gateway.url}/usage`, { headers: { "X-API-KEY": key } }), "unavailable");
  });
});
