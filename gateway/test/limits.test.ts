import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { mintApiKey } from "../access/api-key.ts";
import { createManualClock, type ManualClock } from "../testkit/clock.ts";
import { expectError } from "../testkit/expect-error.ts";
import { startTestGateway, type TestGateway, UNLIMITED } from "../testkit/gateway.ts";

const FIVE = { ratePerSecond: 0.5, burst: 5, dailyQuota: null };

describe("gateway: limits", function () {
  this.timeout(60_000);
  let gateway: TestGateway;
  let clock: ManualClock;
  const start = async (limits: Partial<typeof UNLIMITED>, trustedProxies: readonly string[] = []) => {
    clock = createManualClock(Date.UTC(2026, 4, 1, 12));
    const config = { limits: { ...UNLIMITED, ...limits }, trustedProxies };
    gateway = await startTestGateway({ config, parts: { clock } });
  };
  afterEach(() => gateway.stop());
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}${path}`, { headers });
  const withKey = (key: string, path = "/evm/chains") => ask(path, { "X-API-KEY": key });
  const limitsOf = ({ headers }: Response) => headers.get("ratelimit");

  it("lets a key have its burst and refuses the next with the true wait, in the documented form", async () => {
    await start({ key: FIVE });
    const key = gateway.keys.add();
    for (let left = 4; left >= 0; left -= 1) {
      const answer = await withKey(key);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get("ratelimit-policy")).to.equal('"burst";q=5;w=10');
      expect(limitsOf(answer)).to.equal(`"burst";r=${left};t=2`);
    }
    const asked = gateway.evmDex.seen.length;
    const refused = await withKey(key);
    expect(refused.headers.get("retry-after")).to.equal("2");
    expect(limitsOf(refused)).to.equal('"burst";r=0;t=2');
    expect(refused.headers.get("ratelimit-policy")).to.equal('"burst";q=5;w=10');
    const exposed = refused.headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).to.include.members(["RateLimit", "RateLimit-Policy", "Retry-After"]);
    await expectError(refused, "rate_limited");
    expect(gateway.evmDex.seen).to.have.length(asked);

    clock.advance(1_001);
    expect((await withKey(key)).headers.get("retry-after")).to.equal("1");
    clock.advance(999);
    expect((await withKey(key)).status).to.equal(200);
    expect((await withKey(key)).status).to.equal(429);
  });

  it("counts each key by itself, all its endpoints together, and HEAD as GET", async () => {
    await start({ key: { ...FIVE, burst: 2 } });
    const [one, other] = [gateway.keys.add(), gateway.keys.add()];
    expect((await withKey(one, "/evm/chains")).status).to.equal(200);
    const head = await fetch(`${gateway.url}/api/v1/solana/tokens`, {
      method: "HEAD",
      headers: { "X-API-KEY": one },
    });
    expect(limitsOf(head)).to.equal('"burst";r=0;t=2');
    expect((await withKey(one)).status).to.equal(429);
    expect((await withKey(other)).status).to.equal(200);
  });

  it("keeps a day's quota until midnight UTC", async () => {
    await start({ key: { ratePerSecond: 1000, burst: 100, dailyQuota: 3 } });
    const key = gateway.keys.add();
    const policy = '"burst";q=100;w=1, "daily";q=3;w=86400';
    for (let left = 2; left >= 0; left -= 1) {
      const answer = await withKey(key);
      expect(answer.headers.get("ratelimit-policy")).to.equal(policy);
      expect(limitsOf(answer)).to.match(new RegExp(`"daily";r=${left};t=43200$`));
    }
    const refused = await withKey(key);
    expect(refused.headers.get("retry-after")).to.equal("43200");
    const { message } = await expectError(refused, "rate_limited");
    expect(message).to.contain("3 a UTC day");
    clock.advance(12 * 3_600_000 - 1);
    expect((await withKey(key)).headers.get("retry-after")).to.equal("1");
    clock.advance(1);
    expect(limitsOf(await withKey(key))).to.match(/"daily";r=2;t=86400$/);
  });

  it("has no limits for the bootstrap key, and says of none", async () => {
    await start({ key: { ratePerSecond: 0.001, burst: 1, dailyQuota: 1 } });
    for (let i = 0; i < 5; i += 1) {
      const answer = await gateway.get("/evm/chains");
      expect(answer.status).to.equal(200);
      expect(limitsOf(answer)).to.equal(null);
      expect(answer.headers.get("ratelimit-policy")).to.equal(null);
    }
  });

  it("answers an address that is refused again and again with 429, and its valid keys as ever", async () => {
    await start({ address: FIVE });
    const key = gateway.keys.add();
    const other = gateway.keys.add({ scopes: ["solana"] });
    expect((await withKey(key)).status).to.equal(200);
    expect((await ask("/evm/chains")).status).to.equal(401);
    expect((await withKey(mintApiKey())).status).to.equal(401);
    expect((await withKey(other)).status).to.equal(403);
    expect((await ask("/evm/nothing")).status).to.equal(404);
    expect((await ask(`/evm/chains?${"x".repeat(9_000)}`)).status).to.equal(400);
    for (const flood of [ask("/evm/chains"), withKey("ct_wrong"), withKey(other), ask("/wp-login.php")]) {
      const refused = await flood;
      expect(refused.headers.get("retry-after")).to.equal("2");
      expect(limitsOf(refused)).to.equal('"refused";r=0;t=2');
      await expectError(refused, "rate_limited");
    }
    expect((await withKey(key)).status).to.equal(200);
    expect((await ask("/livez")).status).to.equal(200);
    clock.advance(2_000);
    expect((await ask("/evm/chains")).status).to.equal(401);
    expect((await ask("/evm/chains")).status).to.equal(429);
  });

  it("asks the store for no more unknown keys of such an address", async () => {
    await start({ address: { ...FIVE, burst: 3 } });
    const known = gateway.keys.add();
    expect((await withKey(known)).status).to.equal(200);
    for (let i = 0; i < 3; i += 1) expect((await withKey(mintApiKey())).status).to.equal(401);
    const asked = gateway.keys.questions;
    for (let i = 0; i < 20; i += 1) await expectError(await withKey(mintApiKey()), "rate_limited");
    expect(gateway.keys.questions).to.equal(asked);
    // Stale by now, and looked up again all the same.
    clock.advance(5_001);
    for (let i = 0; i < 5; i += 1) await ask("/evm/nothing");
    expect((await withKey(known)).status).to.equal(200);
    expect(gateway.keys.questions).to.equal(asked + 1);
  });

  it("counts the client that a trusted proxy names, and nobody else's word for it", async () => {
    await start({ address: { ...FIVE, burst: 1 } }, ["127.0.0.0/8", "::1"]);
    const via = (forwarded: string) => ask("/evm/nothing", { "X-Forwarded-For": forwarded });
    expect((await via("198.51.100.1")).status).to.equal(404);
    expect((await via("198.51.100.1")).status).to.equal(429);
    expect((await via("198.51.100.2")).status).to.equal(404);
    expect((await via("9.9.9.9, 198.51.100.1")).status).to.equal(429);
    expect((await via("2001:db8::1")).status).to.equal(404);
    expect((await via("2001:db8::ffff")).status).to.equal(429);
  });

  it("believes no X-Forwarded-For unless told so", async () => {
    await start({ address: { ...FIVE, burst: 1 } });
    const via = (forwarded: string) => ask("/evm/nothing", { "X-Forwarded-For": forwarded });
    expect((await via("198.51.100.1")).status).to.equal(404);
    expect((await via("198.51.100.2")).status).to.equal(429);
  });

  it("counts its decisions in /metrics", async () => {
    await start({ key: { ...FIVE, burst: 1 }, address: { ...FIVE, burst: 1 } });
    const key = gateway.keys.add();
    await withKey(key);
    await withKey(key);
    await ask("/evm/nothing");
    await ask("/evm/nothing");
    await ask("/evm/nothing");
    const text = await (await ask("/metrics")).text();
    const count = (kind: string, outcome: string) =>
      new RegExp(`gateway_limit_decisions_total\\{kind="${kind}",outcome="${outcome}"[^}]*\\} (\\d+)`).exec(
        text,
      )?.[1];
    expect([count("key", "allowed"), count("key", "limited")]).to.deep.equal(["1", "1"]);
    expect([count("refusal", "allowed"), count("refusal", "limited")]).to.deep.equal(["1", "2"]);
    expect(text).not.to.contain("gateway_limiter_shared");
  });
});
