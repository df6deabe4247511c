import { Client, type ClientReadableStream, credentials } from "@grpc/grpc-js";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { ServiceError } from "../errors.ts";
import { createHealthClient, createPricesClient, createStatusClient } from "./client.ts";
import { watchPeer } from "./peer.ts";
import { type GrpcServerOptions, type RunningGrpcServer, startGrpcServer } from "./server.ts";
import {
  MAX_PRICE_TOKENS,
  type PriceSource,
  type PricesRequest,
  type RpcClient,
  type ServiceStatus,
} from "./types.ts";
import { type HealthResponseMessage, loadProtocols } from "./wire.ts";

const token = (index: number) => `0x${index.toString(16).padStart(40, "0")}`;
const STATUS: ServiceStatus = {
  service: "evm-dex",
  mode: "serving",
  version: "1.2.3",
  chains: [
    {
      chainId: 8453,
      name: "Base",
      indexedBlock: 45_000_000_123,
      indexedBlockHash: "0xab",
      indexedTime: 1_785_932_479,
      fromBlock: 0,
      chainHead: 45_000_000_125,
      lagBlocks: 2,
      finalBlock: 45_000_000_061,
      ...{
        state: "failing",
        share: 0.25,
        etaSeconds: 90,
        why: "No RPC endpoint can be used.",
        since: 1_785_932_000,
        historyFrom: 1_785_000_000,
        historySince: 1_751_000_000,
        historyEtaSeconds: 7_200,
      },
    },
    {
      chainId: 1,
      name: "Ethereum",
      indexedBlock: null,
      indexedBlockHash: null,
      indexedTime: null,
      fromBlock: null,
      chainHead: null,
      lagBlocks: null,
      ...{ state: "no_source", share: null, etaSeconds: null, why: null, since: null },
      ...{ historyFrom: null, historySince: null, historyEtaSeconds: null },
    },
  ],
  peers: [{ name: "lending", state: "unreachable" }],
};

describe("rpc", () => {
  const servers: RunningGrpcServer[] = [];
  const clients: RpcClient[] = [];
  const start = async (
    services: Partial<GrpcServerOptions["services"]> = {},
    more: Partial<GrpcServerOptions> = {},
  ) => {
    const server = await startGrpcServer({
      host: "127.0.0.1",
      port: 0,
      services: { status: { getStatus: async () => STATUS }, health: async () => true, ...services },
      healthPollMs: 5,
      ...more,
    });
    servers.push(server);
    return server;
  };
  const keep = <C extends RpcClient>(client: C): C => {
    clients.push(client);
    return client;
  };
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await Promise.all(servers.splice(0).map((server) => server.stop({ timeoutMs: 100 })));
  });
  const failureOf = async (call: Promise<unknown>) => {
    const failure = await call.then(
      () => undefined,
      (error) => error,
    );
    expect(failure).to.be.instanceOf(ServiceError);
    return failure as ServiceError;
  };

  it("carries prices with and without a value, in the requested order", async () => {
    const requests: PricesRequest[] = [];
    const origin = {
      pool: token(7),
      parent: token(1),
      restUsd: 0.5,
      changedAt: 1_785_932_000,
      departed: true,
    };
    const prices: PriceSource = {
      async getPrices(request) {
        requests.push(request);
        const [anchor, priced, unpriced] = request.tokens as [string, string, string];
        return {
          block: request.block ?? 99,
          blockTime: 1_785_932_479,
          prices: [
            { token: anchor, usd: 1, hops: 0, depthUsd: null },
            { token: priced, usd: 0.000_000_001_234_567_89, hops: 3, depthUsd: 12_345.67, origin },
            { token: unpriced, usd: null, hops: 0, depthUsd: null },
          ],
        };
      },
    };
    const client = keep(createPricesClient((await start({ prices })).address));
    const tokens = [token(1), token(0xabc), token(3)];
    const answer = await client.getPrices({
      chainId: 8453,
      tokens: tokens.map((text) => text.replace("abc", "ABC")),
    });
    expect(answer).to.deep.equal({
      block: 99,
      blockTime: 1_785_932_479,
      prices: [
        { token: tokens[0], usd: 1, hops: 0, depthUsd: null },
        { token: tokens[1], usd: 0.000_000_001_234_567_89, hops: 3, depthUsd: 12_345.67, origin },
        { token: tokens[2], usd: null, hops: 0, depthUsd: null },
      ],
    });
    await client.getPrices({ chainId: 1, tokens, block: 0 });
    expect(requests).to.deep.equal([
      { chainId: 8453, tokens },
      { chainId: 1, tokens, block: 0 },
    ]);
  });

  it("prices 500 tokens and refuses more, or what is no address", async () => {
    const prices: PriceSource = {
      getPrices: async ({ tokens }) => ({
        block: 1,
        blockTime: 1,
        prices: tokens.map((each) => ({ token: each, usd: 1, hops: 1, depthUsd: 1 })),
      }),
    };
    const client = keep(createPricesClient((await start({ prices })).address));
    const tokens = Array.from({ length: MAX_PRICE_TOKENS }, (_, index) => token(index));
    expect((await client.getPrices({ chainId: 1, tokens })).prices).to.have.length(500);
    const tooMany = await failureOf(client.getPrices({ chainId: 1, tokens: [...tokens, token(500)] }));
    expect(tooMany).to.include({
      code: "bad_request",
      message: "Cannot price 501 tokens: at most 500 a call.",
    });
    const wrong = await failureOf(client.getPrices({ chainId: 1, tokens: ["0x12"] }));
    expect(wrong).to.include({
      code: "bad_request",
      message: 'Cannot price "0x12": it is not an EVM address.',
    });
    expect(await failureOf(client.getPrices({ chainId: 0, tokens }))).to.include({ code: "bad_request" });
  });

  it("carries errors by their code, and internals not at all", async () => {
    const thrown = [
      new ServiceError("not_found", "Chain 5 is not indexed."),
      new ServiceError("unavailable", "Nothing is indexed yet."),
      new Error("password hunter2"),
    ];
    const seen: unknown[] = [];
    const failing: PriceSource = {
      getPrices: async ({ block }) => {
        throw thrown[block ?? 0];
      },
    };
    const { address } = await start({ prices: failing }, { onInternalError: (error) => seen.push(error) });
    const client = keep(createPricesClient(address));
    const failures: ServiceError[] = [];
    for (const block of [0, 1, 2])
      failures.push(await failureOf(client.getPrices({ chainId: 5, tokens: [], block })));
    expect(failures.map(({ code }) => code)).to.deep.equal(["not_found", "unavailable", "unavailable"]);
    expect(failures[0]?.message).to.equal("Chain 5 is not indexed.");
    expect(failures[2]?.message).to.equal("chaintables.v1.Prices is not available.");
    expect(String(failures[2]?.cause)).not.to.contain("hunter2");
    expect(seen).to.deep.equal([thrown[2]]);
  });

  it("carries a status with everything known and with nothing known", async () => {
    const client = keep(createStatusClient((await start()).address));
    expect(await client.getStatus()).to.deep.equal(STATUS);
  });

  it("carries messages above the default limit of 4 MiB", async () => {
    const big = {
      ...STATUS,
      chains: Array.from({ length: 600 }, () => ({ ...STATUS.chains[0], name: "x".repeat(10_000) })),
    };
    const { address } = await start({ status: { getStatus: async () => big as ServiceStatus } });
    const status = await keep(createStatusClient(address, { deadlineMs: 20_000 })).getStatus();
    expect(status.chains).to.have.length(600);
  });

  it("ends calls at their deadline or by their signal, and cancels them on the server", async () => {
    let arrived = 0;
    let cancelled = 0;
    const slow = (_?: unknown, options?: { signal?: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => {
        arrived++;
        options?.signal?.addEventListener("abort", () => {
          cancelled++;
          reject(new Error("cancelled"));
        });
      });
    const { address } = await start({ prices: { getPrices: slow } });
    // A call may end before the server has seen it, and is then nothing to cancel.
    const late = await failureOf(
      keep(createPricesClient(address, { deadlineMs: 30 })).getPrices({ chainId: 1, tokens: [] }),
    );
    expect(late).to.include({
      code: "unavailable",
      message: "chaintables.v1.Prices did not answer in time.",
    });
    const patient = keep(createPricesClient(address));
    const controller = new AbortController();
    const before = arrived;
    const call = patient.getPrices({ chainId: 1, tokens: [] }, { signal: controller.signal });
    const ended = call.catch((error) => error);
    while (arrived === before) await new Promise((resolve) => setTimeout(resolve, 5));
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await ended).to.equal(reason);
    while (cancelled < arrived) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(cancelled).to.be.at.least(1);
  });

  it("fails as unavailable while the peer is down and finds it when it is back", async () => {
    const first = await start();
    const client = keep(createStatusClient(first.address));
    expect((await client.getStatus()).mode).to.equal("serving");
    await first.stop({ timeoutMs: 100 });
    const failure = await failureOf(client.getStatus());
    expect(failure).to.include({ code: "unavailable", message: "chaintables.v1.Status is not available." });
    expect(failure.message).not.to.contain(first.address);
    await start({}, { port: Number(first.address.split(":")[1]) });
    let mode: string | undefined;
    while (mode === undefined) {
      mode = await client.getStatus().then(
        (status) => status.mode,
        () => undefined,
      );
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(mode).to.equal("serving");
  });

  it("skips replicas that are down", async () => {
    const gone = await start();
    await gone.stop({ timeoutMs: 100 });
    const { address } = await start();
    const client = keep(createStatusClient([gone.address, address]));
    for (let call = 0; call < 4; call++) expect((await client.getStatus()).service).to.equal("evm-dex");
  });

  it("names the address it cannot listen on", async () => {
    const { address } = await start();
    const port = Number(address.split(":")[1]);
    const failure = await start({}, { port }).catch((error) => error);
    expect(failure).to.be.instanceOf(Error);
    expect(failure.message).to.contain(`Cannot listen for gRPC on ${address}`);
  });

  describe("health", () => {
    it("answers for the server and for each service it has", async () => {
      let healthy = true;
      const { address } = await start({ health: async () => healthy });
      const client = keep(createHealthClient(address));
      expect(await client.check()).to.equal("serving");
      expect(await client.check({ service: "chaintables.v1.Status" })).to.equal("serving");
      expect(await client.check({ service: "chaintables.v1.Prices" }), "not served here").to.equal("unknown");
      healthy = false;
      expect(await client.check()).to.equal("not_serving");
    });

    it("counts a failing check as not serving, and an absent server as unreachable", async () => {
      const { address, stop } = await start({ health: () => Promise.reject(new Error("down")) });
      const client = keep(createHealthClient(address));
      expect(await client.check()).to.equal("not_serving");
      await stop({ timeoutMs: 100 });
      expect(await client.check()).to.equal("unreachable");
    });

    it("sends watchers the state at once, each change and the drain, and ends", async () => {
      let healthy = false;
      const server = await start({ health: async () => healthy });
      const raw = new Client(server.address, credentials.createInsecure());
      const watch = (service: string) => {
        const method = loadProtocols().health.service.Watch;
        if (method === undefined) throw new Error("Watch is not declared");
        return raw.makeServerStreamRequest(method.path, method.requestSerialize, method.responseDeserialize, {
          service,
        }) as ClientReadableStream<HealthResponseMessage>;
      };
      const missing = watch("missing");
      const statuses: string[] = [];
      missing.on("data", (message) => statuses.push(message.status)).on("error", () => {});
      const seen: string[] = [];
      for await (const { status } of watch("")) {
        seen.push(status);
        if (seen.length === 1) healthy = true;
        if (seen.length === 2) void server.stop({ timeoutMs: 1_000 });
      }
      expect(seen).to.deep.equal(["NOT_SERVING", "SERVING", "NOT_SERVING"]);
      expect(statuses).to.deep.equal(["SERVICE_UNKNOWN"]);
      raw.close();
    });

    it("watches a peer by the best of its replicas", async () => {
      let healthy = true;
      const sick = await start({ health: async () => false });
      const well = await start({ health: async () => healthy });
      const changes: string[] = [];
      const peer = keep(
        watchPeer({
          name: "evm-dex",
          addresses: [sick.address, well.address],
          intervalMs: 5,
          onChange: (state) => changes.push(state),
        }),
      );
      const reached = async (state: string) => {
        while (peer.status().state !== state) await new Promise((resolve) => setTimeout(resolve, 5));
      };
      expect(peer.status()).to.deep.equal({ name: "evm-dex", state: "unknown" });
      await reached("serving");
      healthy = false;
      await reached("not_serving");
      await Promise.all([sick.stop({ timeoutMs: 100 }), well.stop({ timeoutMs: 100 })]);
      await reached("unreachable");
      expect(changes).to.deep.equal(["serving", "not_serving", "unreachable"]);
    });
  });
});
