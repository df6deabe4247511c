import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { createHealthClient, createPricesClient, createStatusClient } from "../grpc/client.ts";
import { isTokenRefused } from "../grpc/errors.ts";
import { redactSecrets } from "../settings/secrets.ts";
import { ConfigError, readServiceConfig } from "../settings/settings.ts";
import { bodyOf, collectingLog, listEndpoint } from "../testkit/fixture.ts";
import { type RunningService, runService, type ServiceOptions } from "./run-service.ts";
import { createTokenCheck, isLoopback } from "./service-token.ts";

const OLD = "0123456789abcdef0123456789abcdef";
const NEW = "fedcba9876543210fedcba9876543210";
const STRANGE = "00000000000000000000000000000000";

describe("service/service-token", () => {
  const running: RunningService[] = [];
  const clients: { close(): void }[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await Promise.all(running.splice(0).map((service) => service.stop()));
  });
  const keep = <C extends { close(): void }>(client: C): C => {
    clients.push(client);
    return client;
  };
  async function run(config: Partial<ServiceOptions["config"]>) {
    const lines: Record<string, unknown>[] = [];
    const service = await runService({
      name: "evm-dex",
      endpoints: [listEndpoint],
      handlers: {},
      config: {
        bindHost: "127.0.0.1",
        httpPort: 0,
        grpcPort: 0,
        deadlineMs: 5_000,
        drainDelayMs: 0,
        drainTimeoutMs: 1_000,
        logLevel: "debug",
        ...config,
      },
      status: async () => ({ mode: "serving", chains: [], peers: [] }),
      prices: { getPrices: async () => ({ block: 5, blockTime: 6, prices: [] }) },
      log: collectingLog(lines),
    });
    running.push(service);
    return { service, lines, port: new URL(service.httpUrl).port };
  }
  const request = (url: string, authorization?: string) =>
    fetch(url, { headers: authorization === undefined ? {} : { authorization } });

  it("reads a list, refuses short or odd tokens without showing them, and hides each token of the list", () => {
    const read = (SERVICE_TOKEN: string) => readServiceConfig("evm-dex", { SERVICE_TOKEN }).serviceTokens;
    expect(read(`${NEW}, ${OLD}`)).to.deep.equal([NEW, OLD]);
    expect(read("")).to.equal(undefined);
    for (const wrong of ["short", `${OLD},short-one`, `${OLD.slice(1)} x`, `${OLD}ä`, `${OLD},`]) {
      expect(() => read(wrong), wrong)
        .to.throw(ConfigError, /SERVICE_TOKEN: it must be .*at least 32/)
        .with.property("message")
        .not.contain("short");
    }
    expect(redactSecrets(`header "Bearer ${OLD}" and ${NEW}`)).to.equal(
      'header "Bearer [secret]" and [secret]',
    );
  });

  it("accepts every token of the list as a bearer token, and nothing else", () => {
    const isAuthorized = createTokenCheck([NEW, OLD]);
    for (const token of [OLD, NEW]) expect(isAuthorized?.(`Bearer ${token}`)).to.equal(true);
    const wrong = [undefined, "", "Bearer ", OLD, `Bearer ${OLD} `, `bearer ${OLD}`, `Bearer ${STRANGE}`];
    for (const sent of wrong) expect(isAuthorized?.(sent), sent).to.equal(false);
    expect(createTokenCheck([])).to.equal(undefined);
  });

  it("answers HTTP requests without a token with 401, except probes, which get a bare status", async () => {
    const { service, lines } = await run({ serviceTokens: [NEW, OLD] });
    const { httpUrl } = service;
    for (const path of ["/test/things", "/metrics", "/no/such", "/livez/", "/LIVEZ", "/internal/examples"]) {
      for (const sent of [undefined, `Bearer ${STRANGE}`]) {
        const answer = await request(httpUrl + path, sent);
        expect(answer.status, path).to.equal(401);
        expect(answer.headers.get("www-authenticate")).to.equal("Bearer");
        const body = await bodyOf(answer);
        expect(body).to.have.keys("error", "message", "session").and.include({ error: "unauthorized" });
      }
    }
    const live = await request(`${httpUrl}/livez`);
    expect([live.status, live.headers.get("www-authenticate")]).to.deep.equal([200, "Bearer"]);
    const ready = await request(`${httpUrl}/readyz`);
    expect([ready.status, await bodyOf(ready)]).to.deep.equal([200, { status: "ready" }]);
    for (const token of [OLD, NEW]) {
      const table = await request(`${httpUrl}/test/things`, `Bearer ${token}`);
      expect(table.status).to.equal(200);
      const open = await request(`${httpUrl}/readyz`, `Bearer ${token}`);
      expect(open.headers.get("www-authenticate")).to.equal(null);
      expect(await bodyOf(open)).to.include({ mode: "serving" });
    }
    const said = JSON.stringify(lines);
    for (const token of [OLD, NEW, STRANGE]) expect(said).not.to.contain(token);
  });

  it("refuses gRPC calls without it with a message that names the setting, and answers health checks", async () => {
    const { service } = await run({ serviceTokens: [NEW, OLD] });
    const at = service.grpcAddress;
    for (const serviceToken of [undefined, STRANGE]) {
      const prices = keep(createPricesClient(at, { serviceToken }));
      const status = keep(createStatusClient(at, { serviceToken }));
      for (const call of [prices.getPrices({ chainId: 1, tokens: [] }), status.getStatus()]) {
        const error = await call.then(
          () => undefined,
          (thrown) => thrown,
        );
        expect(error).to.include({ code: "unavailable" });
        expect(error.message).to.match(/refuses the SERVICE_TOKEN of this process/);
        expect(isTokenRefused(error)).to.equal(true);
      }
    }
    expect(await keep(createHealthClient(at)).check()).to.equal("serving");
    for (const serviceToken of [OLD, NEW]) {
      const prices = keep(createPricesClient(at, { serviceToken }));
      expect(await prices.getPrices({ chainId: 1, tokens: [] })).to.include({ block: 5 });
    }
  });

  it("warns once of ports that others can reach without a token, and not of any other", async () => {
    const warningsOf = async (config: Partial<ServiceOptions["config"]>) => {
      const { lines, service } = await run(config);
      await request(`${service.httpUrl.replace("0.0.0.0", "127.0.0.1")}/livez`);
      return lines.filter(({ level }) => level === "warn").map(({ msg }) => msg);
    };
    const [warning, ...more] = await warningsOf({ bindHost: "0.0.0.0" });
    expect(warning).to.contain("skip keys, limits and payment").and.contain("SERVICE_TOKEN");
    expect(more).to.deep.equal([]);
    expect(await warningsOf({ bindHost: "0.0.0.0", serviceTokens: [NEW] })).to.deep.equal([]);
    expect(await warningsOf({ bindHost: "127.0.0.1" })).to.deep.equal([]);
    for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
      expect(isLoopback(host)).to.equal(true);
    for (const host of ["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example"])
      expect(isLoopback(host)).to.equal(false);
  });

  it("binds to loopback by default", () => {
    for (const name of ["evm-dex", "lending", "solana"] as const)
      expect(readServiceConfig(name, {}).bindHost).to.equal("127.0.0.1");
  });
});
