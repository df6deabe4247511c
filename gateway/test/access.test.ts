import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { mintApiKey } from "../auth/keys/api-key.ts";
import { expectError } from "../testkit/expect-error.ts";
import { startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { until } from "../testkit/until.ts";

const PATHS = {
  "evm-dex": "/evm/chains",
  lending: "/evm/lending/lendinga/v3/pools",
  solana: "/api/v1/solana/tokens",
} as const;

describe("gateway: keys", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.stop());

  const get = (path: string, key?: string) =>
    fetch(`${gateway.url}${path}`, key === undefined ? {} : { headers: { "X-API-KEY": key } });

  it("401 without a key, with a malformed, an unknown, an expired and a revoked one; no request reaches a service", async () => {
    const { keys, evmDex } = gateway;
    const requestsBefore = evmDex.seen.length;
    const refused = [undefined, "x", mintApiKey(), keys.add({ expiresAt: 1 }), keys.add({ revokedAt: 1 })];
    for (const key of refused) {
      const answer = await get("/evm/chains", key);
      expect(answer.headers.get("www-authenticate")).to.contain("X-API-KEY");
      await expectError(answer, "unauthorized");
    }
    expect(evmDex.seen).to.have.length(requestsBefore);
  });

  it("401 for a key anywhere but in the header X-API-KEY", async () => {
    const key = gateway.keys.add();
    for (const path of [`/evm/chains?api_key=${key}`, `/evm/chains?X-API-KEY=${key}`]) {
      await expectError(await get(path), "unauthorized");
    }
    const headers = { Authorization: `Bearer ${key}`, Cookie: `x-api-key=${key}` };
    await expectError(await fetch(`${gateway.url}/evm/chains`, { headers }), "unauthorized");
  });

  it("200 for a live key, whatever the letter case of the header's name", async () => {
    const key = gateway.keys.add();
    for (const name of ["X-API-KEY", "x-api-key", "X-Api-Key"]) {
      expect((await fetch(`${gateway.url}/evm/chains`, { headers: { [name]: key } })).status).to.equal(200);
    }
  });

  it("403 outside the scopes and for a suspended key", async () => {
    for (const scope of Object.keys(PATHS) as (keyof typeof PATHS)[]) {
      const key = gateway.keys.add({ scopes: [scope] });
      for (const [family, path] of Object.entries(PATHS)) {
        const answer = await get(path, key);
        if (family === scope) expect(answer.status).to.equal(200);
        else await expectError(answer, "forbidden");
      }
    }
    await expectError(await get("/evm/chains", gateway.keys.add({ suspendedAt: 1 })), "forbidden");
  });

  it("logs whose key it was, by id, and never the key", async () => {
    const key = gateway.keys.add({ id: "key_logged", scopes: ["solana"] });
    await (await get("/api/v1/solana/tokens", key)).text();
    await (await get("/evm/chains", key)).text();
    const logged = () => gateway.lines.filter((line) => line.key === "key_logged");
    await until(() => logged().length === 2);
    expect(logged().map((line) => line.status)).to.deep.equal([200, 403]);
    expect(JSON.stringify(gateway.lines)).not.to.contain(key.slice(3, 20));
  });

  it("503 with Retry-After for an unseen key while the store is unreachable; seen keys and the bootstrap key work", async () => {
    const { keys } = gateway;
    const seen = keys.add();
    const unseen = keys.add();
    expect((await get("/evm/chains", seen)).status).to.equal(200);
    keys.failure = new Error("the store is away");
    const answer = await get("/evm/chains", unseen);
    expect(Number(answer.headers.get("retry-after"))).to.be.greaterThan(0);
    const { message } = await expectError(answer, "unavailable");
    expect(message).not.to.contain("the store is away");
    expect((await get("/evm/chains", seen)).status).to.equal(200);
    expect((await gateway.get("/evm/chains")).status).to.equal(200);
    keys.failure = undefined;
  });
});
