import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { startAdminServer } from "../../services/shared/metrics/admin-server.ts";
import { readGatewayConfig } from "../config.ts";
import { readFacilitatorConfig } from "../payments/facilitator/service.ts";
import { startTestGateway, type TestGateway } from "../testkit/gateway.ts";

describe("gateway: the port of operators", () => {
  let gateways: TestGateway[] = [];
  const start = async (port: number | "off") => {
    const gateway = await startTestGateway({ config: { admin: { host: "127.0.0.1", port } } });
    gateways.push(gateway);
    return gateway;
  };
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    gateways = [];
  });

  it("has the metrics, and whether the process lives; the public port has no metrics, with or without a key", async () => {
    const gateway = await start(0);
    expect(gateway.adminUrl).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(gateway.adminUrl).not.to.equal(gateway.url);
    const metrics = await fetch(`${gateway.adminUrl}/metrics`);
    expect(metrics.headers.get("content-type")).to.match(/^text\/plain; version=0\.0\.4/);
    expect(await metrics.text()).to.contain("gateway_limit_decisions_total");
    expect(await (await fetch(`${gateway.adminUrl}/livez`)).json()).to.deep.equal({ status: "ok" });
    for (const path of ["/", "/evm/chains", "/docs", "/metrics/"])
      expect((await fetch(`${gateway.adminUrl}${path}`)).status, path).to.equal(404);
    expect((await fetch(`${gateway.url}/metrics`)).status).to.equal(404);
    expect((await gateway.get("/metrics")).status).to.equal(404);
  });

  it("is another one for each gateway of a machine, or none", async () => {
    const urls = [(await start(0)).adminUrl, (await start(0)).adminUrl, (await start("off")).adminUrl];
    expect(new Set(urls).size).to.equal(3);
    expect(urls[2]).to.equal(undefined);
  });

  it("names the setting of a port that is in use", async () => {
    const { port } = new URL((await start(0)).adminUrl as string);
    const failure = await start(Number(port)).catch((error: Error) => error);
    expect((failure as Error).message).to.equal(
      `Cannot listen for HTTP on 127.0.0.1:${port}: the port is in use (ADMIN_PORT)`,
    );
  });

  it("moves where the default port is in use, and fails by name where a configured one is", async () => {
    const metrics = { contentType: "text/plain", render: async () => "up 1\n" };
    const first = await startAdminServer(metrics, { host: "127.0.0.1", port: 0, setting: "ADMIN_PORT" });
    const taken = {
      host: "127.0.0.1",
      port: Number(new URL(first.url as string).port),
      setting: "ADMIN_PORT",
    };
    try {
      const second = await startAdminServer(metrics, { ...taken, mayMove: true });
      expect(second.url).not.to.equal(first.url);
      expect(await (await fetch(`${second.url}/metrics`)).text()).to.equal("up 1\n");
      await second.stop();
      const refused = await startAdminServer(metrics, taken).catch((error: Error) => error);
      expect(String(refused)).to.contain("in use").and.contain("ADMIN_PORT");
    } finally {
      await first.stop();
    }
  });

  it("is 9401 on this machine alone unless set, and a free one where the public port is", () => {
    const admin = (env: Record<string, string>) => readGatewayConfig(env).admin;
    const unset = { host: "127.0.0.1", mayMove: true };
    expect(admin({})).to.deep.equal({ ...unset, port: 9401 });
    expect(admin({ BIND_HOST: "0.0.0.0" })).to.deep.equal({ ...unset, port: 9401 });
    expect(admin({ GATEWAY_PORT: "0" })).to.deep.equal({ ...unset, port: 0 });
    expect(admin({ GATEWAY_PORT: "0", ADMIN_PORT: "9000" })?.port).to.equal(9000);
    expect(admin({ ADMIN_PORT: "0", ADMIN_HOST: "::1" })).to.deep.equal({
      ...{ host: "::1", port: 0, mayMove: false },
    });
    expect(admin({ ADMIN_PORT: "off" })?.port).to.equal("off");
    expect(() => admin({ ADMIN_PORT: "on" })).to.throw(
      'Cannot read ADMIN_PORT: it must be an integer from 0 to 65535, or off, got "on"',
    );
    const wallet = {
      FACILITATOR_PRIVATE_KEY: `0x${"11".repeat(32)}`,
      X402_PAY_TO: `0x${"22".repeat(20)}`,
      EVM_RPC_8453: "http://127.0.0.1:1",
    };
    expect(readFacilitatorConfig(wallet).admin).to.deep.equal({ ...unset, port: 9402 });
    expect(readFacilitatorConfig({ ...wallet, FACILITATOR_PORT: "0" }).admin.port).to.equal(0);
    expect(
      readFacilitatorConfig({ ...wallet, ADMIN_PORT: "1", FACILITATOR_ADMIN_PORT: "off" }).admin.port,
    ).to.equal("off");
  });
});
