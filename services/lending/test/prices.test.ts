import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { ServiceError } from "../../shared/errors.ts";
import { type RunningGrpcServer, startGrpcServer } from "../../shared/grpc/server.ts";
import type { PricesRequest } from "../../shared/grpc/types.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeWithProcesses } from "../../shared/testkit/describe.ts";
import { bodyOf, until } from "../../shared/testkit/fixture.ts";
import { type ServiceProcess, startServiceProcess } from "../../shared/testkit/service-process.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { address, vaultRow } from "./fake-protocol.ts";
import { timeOf, writeBlock } from "./stored.ts";

const [USDC, WETH] = [address(1), address(2)];
const VAULTS = "/evm/lending/lendingc/v1/vaults";

/** evm-dex as lending sees it. */
class FakeEvmDex {
  readonly prices: Record<string, number> = { [USDC]: 1, [WETH]: 2_000 };
  /** The last block it has. */
  head = Number.POSITIVE_INFINITY;
  readonly requests: PricesRequest[] = [];
  #server: RunningGrpcServer | undefined;
  #port = 0;

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const own = { service: "evm-dex", version: "", mode: "serving", chains: [], peers: [] } as const;
    this.#server = await startGrpcServer({
      host: "127.0.0.1",
      port: this.#port,
      services: {
        status: { getStatus: async () => own },
        health: async () => true,
        prices: { getPrices: async (request) => this.#answer(request) },
      },
    });
    this.#port = Number(this.#server.address.split(":")[1]);
  }

  #answer(request: PricesRequest) {
    this.requests.push(request);
    const block = request.block ?? this.head;
    if (block > this.head) throw new ServiceError("not_found", `Block ${block} is not indexed.`);
    return {
      block,
      blockTime: timeOf(block),
      prices: request.tokens.map((token) => ({
        token,
        usd: this.prices[token] ?? null,
        hops: 1,
        depthUsd: 1,
      })),
    };
  }

  async stop(): Promise<void> {
    await this.#server?.stop({ timeoutMs: 100 });
    this.#server = undefined;
  }
}

describeWithProcesses("lending and the prices of evm-dex, over gRPC", () => {
  let dataDir: string;
  let store: Store;
  let evmDex: FakeEvmDex;
  let service: ServiceProcess | undefined;

  beforeEach(async () => {
    dataDir = join(tmpdir(), `chaintables-lending-${randomUUID()}`);
    store = await openStore({ service: "lending", dataDir });
    await store.declare(COLLECTIONS);
    const weth = { address: WETH, symbol: "WETH" };
    const rows = [vaultRow({ address: address(0xb1), underlying: weth, supply: 3, supplyCap: 10 })];
    await writeBlock(store, { block: 200, units: { all: rows } });
    evmDex = new FakeEvmDex();
    await evmDex.start();
  });
  afterEach(async () => {
    await service?.stop();
    await evmDex.stop();
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const startLending = async (env: Record<string, string> = {}) => {
    service = await startServiceProcess(new URL("./fake-service.main.ts", import.meta.url), {
      ...{ DATA_DIR: dataDir, EVM_DEX_GRPC: evmDex.address },
      ...env,
    });
  };
  const fetchVault = async () => {
    const response = await fetch(`${service?.httpUrl}${VAULTS}`);
    expect(response.status).to.equal(200);
    const [table] = await bodyOf(response);
    const names: string[] = table.columns.map((column: { name: string }) => column.name);
    const row = Object.fromEntries(names.map((name, at) => [name, table.data[0][at]]));
    const { headers } = response;
    return {
      row,
      stale: headers.get("x-data-stale"),
      tag: headers.get("etag"),
      block: headers.get("x-data-block"),
    };
  };
  type Answer = Awaited<ReturnType<typeof fetchVault>>;
  /** The first answer of which it is so. */
  const untilAnswered = async (condition: (answer: Answer) => boolean): Promise<Answer> => {
    let answer: Answer | undefined;
    await until(async () => {
      answer = await fetchVault();
      return condition(answer);
    });
    return answer as Answer;
  };
  const readiness = async () => {
    const response = await fetch(`${service?.httpUrl}/readyz`);
    return { status: response.status, body: await bodyOf(response) };
  };

  it("prices tables at their own block, and anew on the same block when prices change", async () => {
    await startLending();
    const first = await fetchVault();
    expect(first.row).to.include({ supply: 3, tvlUsd: 6_000, remainingCapacityUsd: 14_000 });
    expect(first).to.include({ stale: null, block: "200" });
    expect(evmDex.requests[0]).to.deep.equal({ chainId: 8453, block: 200, tokens: [WETH] });
    evmDex.prices[WETH] = 2_500;
    await untilAnswered(({ row }) => row.tvlUsd === 7_500);
    const second = await fetchVault();
    expect(second.block).to.equal("200");
    expect(second.tag, "the same block at other prices").not.to.equal(first.tag);
  });

  it("takes the prices of evm-dex's head while that is behind, and those of its block once it is there", async () => {
    evmDex.head = 199;
    await startLending();
    expect(await fetchVault()).to.deep.include({ stale: "prices; age=2", block: "200" });
    expect(evmDex.requests.map(({ block }) => block)).to.include.members([200, undefined]);
    expect((await fetchVault()).row.tvlUsd).to.equal(6_000);
    evmDex.head = 200;
    evmDex.prices[WETH] = 1_000;
    await untilAnswered(({ row }) => row.tvlUsd === 3_000);
    expect((await fetchVault()).stale).to.equal(null);
  });

  it("goes on with the last prices and says so, then without any, and never with an error", async () => {
    await startLending({ PRICE_STALE_SECONDS: "8" });
    const fresh = await fetchVault();
    expect(fresh.row.tvlUsd).to.equal(6_000);
    await evmDex.stop();
    const stale = await untilAnswered((answer) => answer.stale !== null);
    expect(stale.stale).to.match(/^prices; age=[0-3]$/);
    expect(stale.row).to.deep.equal(fresh.row);
    expect(stale.tag, "nothing has changed").to.equal(fresh.tag);
    // A new head does not wait for a peer that does not answer.
    await writeBlock(store, { block: 201 });
    await untilAnswered(({ block }) => block === "201");
    expect((await fetchVault()).row).to.include({ supply: 4, tvlUsd: 8_000 });
    await untilAnswered(({ row }) => row.tvlUsd === null);
    const without = await fetchVault();
    expect(without.row).to.include({ supply: 4, supplyCap: 10, supplyUsd: null, remainingCapacityUsd: null });
    expect(without.row).to.include({ supplyApy: 0.03, utilizationRate: 0.4 });
    expect(without.stale).to.match(/^prices; age=[3-9]$/);
    expect(await readiness()).to.deep.include({ status: 200 });
    await evmDex.start();
    await untilAnswered(({ stale: said }) => said === null);
    await untilAnswered(({ row }) => row.tvlUsd === 8_000);
    expect((await fetchVault()).stale).to.equal(null);
  });

  it("starts without evm-dex: no USD, and the answer says why", async () => {
    await evmDex.stop();
    await startLending();
    expect(await fetchVault()).to.deep.include({ stale: "prices", block: "200" });
    expect((await fetchVault()).row).to.include({ supply: 3, tvlUsd: null });
    await until(async () => (await readiness()).body.peers["evm-dex"] === "unreachable");
    expect((await readiness()).status).to.equal(200);
    await evmDex.start();
    await untilAnswered(({ row, stale }) => row.tvlUsd === 6_000 && stale === null);
  });
});
