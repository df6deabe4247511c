import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { createLog } from "../../services/shared/logging/log.ts";
import { type RunningService, runService } from "../../services/shared/service/run-service.ts";
import { registerSecret } from "../../services/shared/settings/secrets.ts";
import { catalogue } from "../catalogue.ts";
import { readFacilitatorConfig, startFacilitator } from "../payments/facilitator/service.ts";
import { expectError } from "../testkit/expect-error.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../testkit/gateway.ts";
import { until } from "../testkit/until.ts";

const TOKEN = "service-token-of-the-tests-0123456789";
const OTHER = "another-token-of-the-tests-0123456789";
const PATH = "/evm/chains";

describe("gateway: the services' token", () => {
  const open: { stop(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.stop();
  });
  const start = async (config: TestGatewayOptions["config"]): Promise<TestGateway> => {
    const gateway = await startTestGateway({ config: { cacheBytes: 0, ...config } });
    open.push(gateway);
    return gateway;
  };
  /** evm-dex's ports as they really are, with no data behind them. */
  const startService = async (serviceTokens: readonly string[]): Promise<RunningService> => {
    const service = await runService({
      name: "evm-dex",
      endpoints: catalogue.filter(({ family }) => family === "evm-dex"),
      handlers: {},
      config: {
        ...{ bindHost: "127.0.0.1", httpPort: 0, grpcPort: 0, serviceTokens },
        ...{ deadlineMs: 5_000, drainDelayMs: 0, drainTimeoutMs: 500, logLevel: "warn" },
      },
      status: async () => ({ mode: "serving", chains: [], peers: [] }),
      log: createLog({ name: "evm-dex", level: "silent" }),
    });
    open.push(service);
    return service;
  };
  const startBefore = async (service: RunningService, serviceToken: string | undefined) => {
    const fakes = await startTestGateway();
    open.push(fakes);
    return start({
      serviceToken,
      upstreams: {
        "evm-dex": [{ url: service.httpUrl, grpc: service.grpcAddress }],
        lending: [fakes.lending],
        solana: [fakes.solana],
      },
    });
  };

  it("goes with every request to a service, whatever a client sends, and to no client", async () => {
    registerSecret(TOKEN);
    const gateway = await start({ serviceToken: TOKEN });
    const sent = { authorization: "Bearer of the client", "X-Service-Token": "x" };
    for (const headers of [{}, sent]) {
      const answer = await gateway.get(PATH, { headers });
      expect(answer.status).to.equal(200);
      expect(JSON.stringify([...answer.headers]) + (await answer.text())).not.to.contain(TOKEN);
    }
    expect(gateway.evmDex.seen.map(({ headers }) => headers.authorization)).to.deep.equal([
      `Bearer ${TOKEN}`,
      `Bearer ${TOKEN}`,
    ]);
    for (const { rawHeaders } of gateway.evmDex.seen)
      expect(rawHeaders.filter((text) => text.toLowerCase() === "authorization")).to.have.length(1);
    expect(JSON.stringify(gateway.lines)).not.to.contain(TOKEN);
  });

  it("is not sent where none is set", async () => {
    const gateway = await start({});
    await gateway.get(PATH, { headers: { authorization: "Bearer of the client" } });
    expect(gateway.evmDex.seen[0]?.headers).not.to.have.property("authorization");
  });

  it("opens a service that demands it, also while the token is being changed", async () => {
    const service = await startService([OTHER, TOKEN]);
    for (const serviceToken of [TOKEN, OTHER]) {
      const gateway = await startBefore(service, serviceToken);
      expect((await gateway.get(PATH)).status).to.equal(200);
      await until(async () => (await fetch(`${gateway.url}/readyz`)).status === 200);
    }
  });

  for (const [what, serviceToken] of [
    ["a wrong one", OTHER],
    ["none", undefined],
  ] as const) {
    it(`makes a gateway with ${what} not ready, with the reason; a client gets 503 and no 401`, async () => {
      const service = await startService([TOKEN]);
      const gateway = await startBefore(service, serviceToken);
      await expectError(await gateway.get(PATH), "unavailable");
      const ready = await fetch(`${gateway.url}/readyz`);
      expect(ready.status).to.equal(503);
      const { services } = (await ready.json()) as { services: Record<string, { reason?: string }> };
      expect(services["evm-dex"]?.reason).to.equal("service_token_refused");
      expect(services.lending).not.to.have.property("reason");
      const said = gateway.lines.filter(({ level }) => level === "warn" || level === "error");
      expect(JSON.stringify(said)).to.contain("refuses this gateway's SERVICE_TOKEN");
    });
  }

  it("has a counterpart at the facilitator, which warns once where others can reach it without one", async () => {
    const warningsOf = async (env: Readonly<Record<string, string>>) => {
      const lines: Record<string, unknown>[] = [];
      const write = (line: string) => void lines.push(JSON.parse(line));
      const log = createLog({ name: "facilitator", level: "warn", destination: { write } });
      const config = readFacilitatorConfig({
        FACILITATOR_PORT: "0",
        FACILITATOR_PRIVATE_KEY: `0x${"1".repeat(64)}`,
        X402_PAY_TO: `0x${"71".repeat(20)}`,
        EVM_RPC_8453: "http://127.0.0.1:1",
        ...env,
      });
      const facilitator = await startFacilitator(config, { log });
      await facilitator.stop();
      return lines.map(({ msg }) => String(msg)).filter((msg) => msg.includes("X402_FACILITATOR_TOKEN"));
    };
    expect(await warningsOf({ BIND_HOST: "0.0.0.0" })).to.have.length(1);
    const own = { BIND_HOST: "0.0.0.0", X402_FACILITATOR_TOKEN: TOKEN };
    expect(await warningsOf(own)).to.deep.equal([]);
    expect(await warningsOf({})).to.deep.equal([]);
  });

  it("refused in the middle of serving is 503 with its cause in the log", async () => {
    const gateway = await start({ serviceToken: TOKEN });
    gateway.evmDex.answer = (req, res) => {
      const session = req.headers["x-session-id"];
      res.writeHead(401, { "Content-Type": "application/json", "WWW-Authenticate": "Bearer" });
      res.end(JSON.stringify({ error: "unauthorized", message: "words of the service", session }));
    };
    const answer = await gateway.get(PATH);
    expect(answer.headers.get("www-authenticate")).to.equal(null);
    const { message } = await expectError(answer, "unavailable");
    expect(message).not.to.contain("words of the service");
    await until(() => gateway.lines.some((line) => line.msg === "request" && line.status === 503));
    const line = gateway.lines.find(({ status }) => status === 503);
    expect(JSON.stringify(line)).to.contain("evm-dex#0 refuses this gateway's SERVICE_TOKEN");
  });
});
