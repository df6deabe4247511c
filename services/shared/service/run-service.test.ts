import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { createHealthClient, createPricesClient, createStatusClient } from "../grpc/client.ts";
import { VERSION } from "../process/version.ts";
import { bodyOf, collectingLog, listEndpoint, until } from "../testkit/fixture.ts";
import { handle } from "./handlers.ts";
import { type OwnStatus, type RunningService, runService, type ServiceOptions } from "./run-service.ts";

const CONFIG: ServiceOptions["config"] = {
  bindHost: "127.0.0.1",
  httpPort: 0,
  grpcPort: 0,
  deadlineMs: 5_000,
  drainDelayMs: 0,
  drainTimeoutMs: 5_000,
  logLevel: "info",
};
const SERVING: OwnStatus = { mode: "serving", chains: [], peers: [] };

describe("service/run-service", () => {
  const running: RunningService[] = [];
  const clients: { close(): void }[] = [];
  async function run(options: Partial<ServiceOptions> = {}) {
    const lines: Record<string, unknown>[] = [];
    const service = await runService({
      name: "evm-dex",
      endpoints: [listEndpoint],
      handlers: {},
      config: CONFIG,
      status: async () => SERVING,
      log: collectingLog(lines),
      ...options,
    });
    running.push(service);
    return { service, lines };
  }
  const keep = <C extends { close(): void }>(client: C): C => {
    clients.push(client);
    return client;
  };
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await Promise.all(running.splice(0).map((service) => service.stop()));
  });

  it("serves HTTP and gRPC on free ports and says where", async () => {
    const { service, lines } = await run();
    expect(lines[0]).to.include({
      msg: "listening",
      httpUrl: service.httpUrl,
      grpcAddress: service.grpcAddress,
    });
    expect((await fetch(`${service.httpUrl}/test/things`)).status).to.equal(200);
    const status = await keep(createStatusClient(service.grpcAddress)).getStatus();
    expect(status).to.deep.equal({ service: "evm-dex", version: VERSION, ...SERVING });
  });

  it("serves prices only where it has them", async () => {
    const prices = { getPrices: async () => ({ block: 5, blockTime: 6, prices: [] }) };
    const { service: rich } = await run({ prices });
    const { service: poor } = await run();
    const pricesFrom = (address: string) =>
      keep(createPricesClient(address)).getPrices({ chainId: 1, tokens: [] });
    expect(await pricesFrom(rich.grpcAddress)).to.include({ block: 5 });
    expect((await pricesFrom(poor.grpcAddress).catch((error) => error)).code).to.equal("unavailable");
  });

  it("is not ready once its store's file is damaged, though some reads succeed", async () => {
    const store = { damage: undefined as string | undefined, isReadOnly: false };
    const { service, lines } = await run({ store });
    const health = keep(createHealthClient(service.grpcAddress));
    expect(await health.check()).to.equal("serving");
    store.damage = "database disk image is malformed";
    expect(await health.check()).to.equal("not_serving");
    const response = await fetch(`${service.httpUrl}/readyz`);
    expect([response.status, (await bodyOf(response)).mode]).to.deep.equal([503, "damaged"]);
    const said = lines.filter(({ damage }) => damage !== undefined);
    expect(said.map(({ msg }) => msg)).to.deep.equal([
      "the store's file is damaged: restore it from a backup",
    ]);
  });

  it("is ready by its mode: not while starting, not when its status fails", async () => {
    let answer: () => Promise<OwnStatus> = async () => SERVING;
    const { service } = await run({ status: () => answer() });
    const health = keep(createHealthClient(service.grpcAddress));
    const seen = async () => {
      const response = await fetch(`${service.httpUrl}/readyz`);
      return [response.status, (await bodyOf(response)).mode, await health.check()];
    };
    for (const mode of ["empty", "serving", "stale"] as const) {
      answer = async () => ({ ...SERVING, mode });
      expect(await seen()).to.deep.equal([200, mode, "serving"]);
    }
    answer = async () => ({ ...SERVING, mode: "starting" });
    expect(await seen()).to.deep.equal([503, "starting", "not_serving"]);
    answer = () => Promise.reject(new Error("mongodb://user:hunter2@db is down"));
    expect(await seen()).to.deep.equal([503, undefined, "not_serving"]);
  });

  it("drains: reports it, finishes what is in flight, closes, and only then runs onStop", async () => {
    const order: string[] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = handle(listEndpoint, async () => {
      order.push("entered");
      await held;
      order.push("answering");
      return { rows: [["a", 1]] };
    });
    const { service } = await run({
      handlers: Object.fromEntries([slow]),
      config: { ...CONFIG, drainDelayMs: 1_000 },
      onStop: async () => void order.push("onStop"),
    });
    const inFlight = fetch(`${service.httpUrl}/test/things`).then((response) => response.status);
    await until(() => order.length === 1);
    const stopped = service.stop();
    expect(service.stop(), "stopping twice is stopping once").to.equal(stopped);
    // Within the delay it still answers, says that it drains, and closes connections behind its answers.
    const ready = await fetch(`${service.httpUrl}/readyz`);
    expect([ready.status, (await bodyOf(ready)).mode]).to.deep.equal([503, "draining"]);
    expect(ready.headers.get("connection")).to.equal("close");
    expect(await keep(createHealthClient(service.grpcAddress)).check()).to.equal("not_serving");
    const refused = () =>
      fetch(`${service.httpUrl}/livez`).then(
        () => false,
        () => true,
      );
    await until(refused);
    expect(order).to.deep.equal(["entered"]);
    release();
    expect(await inFlight).to.equal(200);
    await stopped;
    expect(order).to.deep.equal(["entered", "answering", "onStop"]);
  });

  it("says which port is taken and leaves nothing listening", async () => {
    const { service } = await run();
    const httpPort = Number(new URL(service.httpUrl).port);
    const grpcPort = Number(service.grpcAddress.split(":")[1]);
    const failureOf = (config: Partial<ServiceOptions["config"]>) =>
      run({ config: { ...CONFIG, ...config } }).catch((error) => error);
    expect((await failureOf({ httpPort })).message).to.contain(
      `Cannot listen for HTTP on 127.0.0.1:${httpPort}`,
    );
    expect((await failureOf({ grpcPort })).message).to.contain(
      `Cannot listen for gRPC on 127.0.0.1:${grpcPort}`,
    );
  });
});
