import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { mintApiKey } from "../auth/keys/api-key.ts";
import { MAX_TARGET_LENGTH } from "../request/entry.ts";
import { createManualClock, type ManualClock } from "../testkit/clock.ts";
import { expectError } from "../testkit/expect-error.ts";
import { startTestGateway, type TestGateway, UNLIMITED } from "../testkit/gateway.ts";
import { until } from "../testkit/until.ts";
import { answerError } from "../testkit/upstream.ts";

const FIVE = { ratePerSecond: 0.5, burst: 5, dailyQuota: null };

describe("gateway: limits", () => {
  let gateway: TestGateway;
  let clock: ManualClock;
  const start = async (limits: Partial<typeof UNLIMITED>, trustedProxies: readonly string[] = []) => {
    clock = createManualClock(Date.UTC(2026, 4, 1, 12));
    const config = { limits: { ...UNLIMITED, ...limits }, trustedProxies };
    gateway = await startTestGateway({ config, parts: { clock } });
  };
  afterEach(() => gateway.stop());
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}${path}`, { headers });
  const withKey = (key: string, path = "/evm/chains") => get(path, { "X-API-KEY": key });
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
    const requestsBefore = gateway.evmDex.seen.length;
    const refused = await withKey(key);
    expect(refused.headers.get("retry-after")).to.equal("2");
    expect(limitsOf(refused)).to.equal('"burst";r=0;t=2');
    expect(refused.headers.get("ratelimit-policy")).to.equal('"burst";q=5;w=10');
    const exposed = refused.headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).to.include.members(["RateLimit", "RateLimit-Policy", "Retry-After"]);
    await expectError(refused, "rate_limited");
    expect(gateway.evmDex.seen).to.have.length(requestsBefore);

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

  it("has no limits for the bootstrap key, and reports none", async () => {
    await start({ key: { ratePerSecond: 0.001, burst: 1, dailyQuota: 1 } });
    for (let i = 0; i < 5; i += 1) {
      const answer = await gateway.get("/evm/chains");
      expect(answer.status).to.equal(200);
      expect(limitsOf(answer)).to.equal(null);
      expect(answer.headers.get("ratelimit-policy")).to.equal(null);
    }
  });

  it("answers an address that is refused again and again with 429, and still serves its valid keys", async () => {
    await start({ address: FIVE });
    const key = gateway.keys.add();
    const suspended = gateway.keys.add({ suspendedAt: 1 });
    expect((await withKey(key)).status).to.equal(200);
    expect((await get("/evm/chains")).status).to.equal(401);
    expect((await withKey(mintApiKey())).status).to.equal(401);
    expect((await withKey(suspended)).status).to.equal(403);
    expect((await get("/evm/nothing")).status).to.equal(404);
    expect((await get(`/evm/chains?${"x".repeat(MAX_TARGET_LENGTH)}`)).status).to.equal(400);
    for (const flood of [get("/evm/chains"), withKey("ct_wrong"), withKey(suspended), get("/wp-login.php")]) {
      const refused = await flood;
      expect(refused.headers.get("retry-after")).to.equal("2");
      expect(limitsOf(refused)).to.equal('"refused";r=0;t=2');
      await expectError(refused, "rate_limited");
    }
    expect((await withKey(key)).status).to.equal(200);
    expect((await get("/livez")).status).to.equal(200);
    clock.advance(2_000);
    expect((await get("/evm/chains")).status).to.equal(401);
    expect((await get("/evm/chains")).status).to.equal(429);
  });

  describe("errors of a valid key", () => {
    /** Every kind of error that is the key's own, and its status. */
    const errorsOf = (narrow: string, wide: string): [() => Promise<Response>, number][] => [
      [() => withKey(wide, "/evm/dexb/v3/pool?pool_address=0x1"), 404],
      [() => withKey(wide, "/evm/dexb/v3/pools?limit=0"), 400],
      [() => withKey(wide, "/evm/nothing"), 404],
      [() => withKey(wide, `/evm/chains?${"x".repeat(MAX_TARGET_LENGTH)}`), 400],
      [() => fetch(`${gateway.url}/evm/chains`, { method: "POST", headers: { "X-API-KEY": wide } }), 404],
      [() => withKey(narrow), 403],
    ];
    const answerErrors = () => {
      gateway.evmDex.answer = (req, res) => {
        const isBad = (req.url ?? "").includes("limit=0");
        return answerError(isBad ? 400 : 404, isBad ? "bad_request" : "not_found")(req, res);
      };
    };

    it("count against that key's limits alone, say so in headers, and leave the address's limits alone", async () => {
      await start({
        key: { ratePerSecond: 0.5, burst: 6, dailyQuota: null },
        address: { ...FIVE, burst: 1 },
      });
      const wide = gateway.keys.add();
      const narrow = gateway.keys.add({ scopes: ["solana"] });
      answerErrors();
      const burst = new Map([
        [wide, 6],
        [narrow, 6],
      ]);
      for (const [send, status] of errorsOf(narrow, wide)) {
        const key = status === 403 ? narrow : wide;
        burst.set(key, (burst.get(key) as number) - 1);
        const answer = await send();
        expect(answer.status).to.equal(status);
        expect(limitsOf(answer)).to.match(new RegExp(`^"burst";r=${burst.get(key)};t=2$`));
        expect(answer.headers.get("ratelimit-policy")).to.equal('"burst";q=6;w=12');
      }
      expect((await withKey(wide, "/evm/nothing")).status).to.equal(404);
      const refused = await withKey(wide, "/evm/nothing");
      expect(limitsOf(refused)).to.equal('"burst";r=0;t=2');
      const { message } = await expectError(refused, "rate_limited");
      expect(message).to.contain("with this key");
      // The address has its one refusal still.
      expect((await get("/evm/nothing")).status).to.equal(404);
      expect((await get("/evm/nothing")).status).to.equal(429);
    });

    it("keep their status, never 429, however often other clients were refused at the same address", async () => {
      await start({ address: { ...FIVE, burst: 1 } });
      const wide = gateway.keys.add();
      const narrow = gateway.keys.add({ scopes: ["solana"] });
      answerErrors();
      for (let i = 0; i < 5; i += 1) await get("/evm/nothing");
      for (let i = 0; i < 3; i += 1) {
        for (const [send, status] of errorsOf(narrow, wide)) expect((await send()).status).to.equal(status);
      }
    });

    it("are answered 450 times in a row to the key without limits", async () => {
      await start({ key: { ...FIVE, burst: 1 }, address: { ...FIVE, burst: 1 } });
      answerErrors();
      for (let i = 0; i < 225; i += 1) {
        for (const path of ["/evm/dexb/v3/pool?pool_address=0x1", "/evm/nothing"]) {
          const answer = await gateway.get(path);
          expect(answer.status).to.equal(404);
          expect(limitsOf(answer)).to.equal(null);
        }
      }
    });
  });

  describe("look-ups of keys", () => {
    it("are limited by themselves: a new key works at an address that is refused everything", async () => {
      await start({ address: { ...FIVE, burst: 2 } });
      for (let i = 0; i < 20; i += 1) await get("/evm/nothing");
      expect((await get("/evm/nothing")).status).to.equal(429);
      expect((await withKey(gateway.keys.add())).status).to.equal(200);
    });

    it("continue at a steady pace where invented keys have used up those of the address", async () => {
      await start({ address: { ...FIVE, burst: 2 } });
      const known = gateway.keys.add();
      expect((await withKey(known)).status).to.equal(200);
      let isFlooding = true;
      let attempts = 0;
      const flood = async () => {
        while (isFlooding) {
          attempts += 1;
          expect((await withKey(mintApiKey())).status).to.be.oneOf([401, 429]);
        }
      };
      const floods = Array.from({ length: 20 }, flood);
      await until(() => attempts > 100);
      const before = gateway.keys.lookups;
      const startedMs = performance.now();
      expect((await withKey(gateway.keys.add())).status).to.equal(200);
      expect((await withKey(known)).status).to.equal(200);
      isFlooding = false;
      await Promise.all(floods);
      const paced = (performance.now() - startedMs) / 10;
      expect(gateway.keys.lookups - before).to.be.at.most(paced + 2);
    });
  });

  describe("what needs no key", () => {
    const pages = ["/", "/docs", "/openapi.json"];
    const options = (headers: Record<string, string> = {}) =>
      fetch(`${gateway.url}/evm/chains`, { method: "OPTIONS", headers });

    it("pages count by address, together, and not as refusals; probes never", async () => {
      await start({ address: { ...FIVE, burst: 3 } });
      for (const path of pages) expect((await get(path)).status, path).to.equal(200);
      for (const path of pages) {
        const refused = await get(path);
        expect(limitsOf(refused), path).to.equal('"pages";r=0;t=2');
        await expectError(refused, "rate_limited");
      }
      expect((await get("/evm/nothing")).status).to.equal(404);
      for (let i = 0; i < 50; i += 1) {
        // Ready or not: a probe may be late on a busy machine.
        for (const path of ["/livez", "/readyz"]) expect((await get(path)).status).to.be.oneOf([200, 503]);
      }
      clock.advance(2_000);
      expect((await get("/docs")).status).to.equal(200);
    });

    it("OPTIONS counts by itself, ten times as many: a browser sends one before each request of a key", async () => {
      await start({ address: { ...FIVE, burst: 1 } });
      for (let i = 0; i < 10; i += 1) expect((await options()).status).to.equal(204);
      await expectError(await options(), "rate_limited");
      expect((await get("/docs")).status).to.equal(200);
    });

    it("counts for a valid key where the address has used up its own limit", async () => {
      await start({ key: { ...FIVE, burst: 2 }, address: { ...FIVE, burst: 1 } });
      const key = gateway.keys.add();
      expect((await get("/docs")).status).to.equal(200);
      expect((await get("/docs")).status).to.equal(429);
      const answer = await withKey(key, "/docs");
      expect(answer.status).to.equal(200);
      expect(limitsOf(answer)).to.equal('"burst";r=1;t=2');
      for (let i = 0; i < 5; i += 1) {
        const unlimited = await gateway.get("/docs");
        expect(unlimited.status).to.equal(200);
        expect(limitsOf(unlimited)).to.equal(null);
      }
    });
  });

  it("counts the client that a trusted proxy names, and believes no other sender", async () => {
    await start({ address: { ...FIVE, burst: 1 } }, ["127.0.0.0/8", "::1"]);
    const via = (forwarded: string) => get("/evm/nothing", { "X-Forwarded-For": forwarded });
    expect((await via("198.51.100.1")).status).to.equal(404);
    expect((await via("198.51.100.1")).status).to.equal(429);
    expect((await via("198.51.100.2")).status).to.equal(404);
    expect((await via("9.9.9.9, 198.51.100.1")).status).to.equal(429);
    expect((await via("2001:db8::1")).status).to.equal(404);
    expect((await via("2001:db8::ffff")).status).to.equal(429);
  });

  it("ignores X-Forwarded-For unless configured", async () => {
    await start({ address: { ...FIVE, burst: 1 } });
    const via = (forwarded: string) => get("/evm/nothing", { "X-Forwarded-For": forwarded });
    expect((await via("198.51.100.1")).status).to.equal(404);
    expect((await via("198.51.100.2")).status).to.equal(429);
  });

  it("counts its decisions in /metrics", async () => {
    await start({ key: { ...FIVE, burst: 1 }, address: { ...FIVE, burst: 1 } });
    const key = gateway.keys.add();
    await withKey(key);
    await withKey(key);
    await get("/evm/nothing");
    await get("/evm/nothing");
    await get("/evm/nothing");
    const text = await gateway.metrics();
    const count = (kind: string, outcome: string) =>
      new RegExp(`gateway_limit_decisions_total\\{kind="${kind}",outcome="${outcome}"[^}]*\\} (\\d+)`).exec(
        text,
      )?.[1];
    expect([count("key", "allowed"), count("key", "limited")]).to.deep.equal(["1", "1"]);
    expect([count("refusal", "allowed"), count("refusal", "limited")]).to.deep.equal(["1", "2"]);
    expect(text).not.to.contain("gateway_limiter_shared");
  });
});
