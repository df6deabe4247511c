import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import type { DeployedPool } from "../../../deploy/devnet/deploy.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import type { Cell } from "../../shared/contract/column.ts";
import type { Endpoint } from "../../shared/contract/endpoint.ts";
import { checkRows } from "../../shared/contract/testkit/check-rows.ts";
import { ServiceError } from "../../shared/errors.ts";
import { createPricesClient, createStatusClient } from "../../shared/grpc/client.ts";
import type { PriceSource, RpcClient } from "../../shared/grpc/types.ts";
import { SERVED, withoutSource } from "../../shared/ingest-status/testkit/status-row.ts";
import { openStore } from "../../shared/storage/open.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { bodyOf, until } from "../../shared/testkit/fixture.ts";
import { type ServiceProcess, startServiceProcess } from "../../shared/testkit/service-process.ts";
import { describeService } from "../../shared/testkit/service-suite.ts";
import { chains, dexbPool, dexbPools, dexes, endpoints } from "../contract.ts";
import { type PoolStateRow, poolStates, pools } from "../store/collections.ts";
import { SQLITE_FILE } from "../store/sqlite-file.ts";
import { expectPool } from "./kit/expect-pool.ts";
import { startTestIngest, type TestIngest } from "./kit/harness.ts";
import { expectedPools, expectedState, pricesOf, rangesOf, swapsOf, tvlOf } from "./kit/pool-expectation.ts";
import { address, poolRow } from "./kit/rows.ts";

const entry = new URL("../main.ts", import.meta.url);
const NOTHING = {
  indexedBlock: null,
  indexedBlockHash: null,
  indexedTime: null,
  fromBlock: null,
  chainHead: null,
  lagBlocks: null,
};

describe("evm-dex with an empty store", () => {
  const dataDir = join(tmpdir(), `chaintables-evm-dex-${randomUUID()}`);
  after(() => rm(dataDir, { recursive: true, force: true }));

  describeService({
    name: "evm-dex",
    entry,
    env: { DATA_DIR: dataDir, DEPLOYMENTS_FILE: undefined },
    endpoints,
    withoutChain: [chains.path, dexes.path],
    status: {
      mode: "empty",
      chains: [
        { chainId: 1, name: "Ethereum", ...NOTHING, ...withoutSource(1) },
        { chainId: 8453, name: "Base", ...NOTHING, ...withoutSource(8453) },
      ],
      peers: [],
    },
  });

  // After it has run.
  describe("its file", () => {
    it("has small pages", async () => {
      const file = await readFile(join(dataDir, "evm-dex.sqlite"));
      // The format's header has them in two bytes from byte 16 on.
      expect(file.readUInt16BE(16)).to.equal(SQLITE_FILE.pageBytes);
    });
  });
});

/** 2025-10-09T08:53:20Z: long ago, so that the index is stale. */
const GENESIS_S = 1_760_000_000;
/** Seconds before each block: windows of all lengths have events in them and before them. */
const GAPS = [2, 2_600_000, 2, 700_000, 2, 200_000, 2, 80_000, 3_000, 2, 1_800, 60, 240, 2, 61, 2];
const ETHEREUM_FACTORY = "0x1f98431c8ad98523631ae4a59f267346ea31f984";

describeWithChain("evm-dex over an indexed chain", () => {
  let chain: TestChain;
  let dataDir: string;
  let store: Store;
  let ingest: TestIngest;
  let service: ServiceProcess;
  let head: number;

  before(async () => {
    chain = await createTestChain({ timestamp: GENESIS_S });
    await trade(chain);
    head = await chain.headNumber();
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-endpoints-"));
    store = await openStore({ service: "evm-dex", dataDir });
    ingest = await startTestIngest(chain, { store });
    await ingest.catchUp();
    const env = { DATA_DIR: dataDir, DEPLOYMENTS_FILE: await withEthereum(chain, dataDir) };
    service = await startServiceProcess(entry, env);
  });
  after(async () => {
    await service?.stop();
    await ingest?.close();
    await chain?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  /** The service notices a new head within a tenth of a second. */
  const untilServed = (block: number) =>
    until(async () => {
      const url = `${service.httpUrl}${dexbPool.path}?pool_address=${chain.pools[0]?.address}`;
      return (await fetch(url, { method: "HEAD" })).headers.get("x-data-block") === `${block}`;
    });

  /** Rows as objects by column, after a check against the declaration. */
  async function get(
    endpoint: Endpoint,
    query = "",
  ): Promise<{ rows: Record<string, Cell>[]; headers: Headers }> {
    const response = await fetch(`${service.httpUrl}${endpoint.path}?${query}`);
    const body = await bodyOf(response);
    expect(response.status, JSON.stringify(body).slice(0, 300)).to.equal(200);
    expect(response.headers.get("content-type")).to.equal(endpoint.mediaType);
    const [table] = body as [{ columns: { name: string }[]; data: Cell[][]; rows: number }];
    expect(table.columns.map(({ name }) => name)).to.deep.equal(endpoint.columns.map(({ name }) => name));
    checkRows(endpoint, table.data);
    const rows = table.data.map((cells) =>
      Object.fromEntries(table.columns.map(({ name }, i) => [name, cells[i] as Cell])),
    );
    return { rows, headers: response.headers };
  }

  it("/evm/chains and /evm/dexes list what the deployments name", async () => {
    expect((await get(chains)).rows).to.deep.equal([
      { id: 1, name: "Ethereum" },
      { id: 8453, name: "Base (local devnet)" },
    ]);
    const uniswap = { dexName: "Uniswap V3", dexType: "v3", family: "dexb" };
    const onBase = { chainId: 8453, dexAddress: chain.deployment.factory, ...uniswap };
    expect((await get(dexes)).rows, "8453 is the default").to.deep.equal([onBase]);
    expect((await get(dexes, "chain_id=8453")).rows).to.deep.equal([onBase]);
    expect((await get(dexes, "chain_id=1")).rows).to.deep.equal([
      { chainId: 1, dexAddress: ETHEREUM_FACTORY, ...uniswap },
    ]);
  });

  it("/evm/dexb/v3/pools lists what the factory created", async () => {
    const all = await expectedPools(chain);
    const byAddress = [...all].sort((a, b) => (a.poolAddress < b.poolAddress ? -1 : 1));
    // All were created in one block.
    expect((await get(dexbPools)).rows).to.deep.equal(byAddress);
    expect((await get(dexbPools, "limit=3&offset=4")).rows).to.deep.equal(byAddress.slice(4, 7));
    expect((await get(dexbPools, "offset=10")).rows).to.deep.equal([]);
    const ordered = [...all].sort((a, b) => b.fee - a.fee || (a.poolAddress < b.poolAddress ? -1 : 1));
    expect((await get(dexbPools, "order_desc=fee&order_asc=,poolAddress")).rows).to.deep.equal(ordered);
    const weth = chain.deployment.tokens.WETH.address;
    const ofWeth = byAddress.filter(({ token0Address, token1Address }) =>
      [token0Address, token1Address].includes(weth),
    );
    expect(ofWeth).to.have.length(5);
    expect(
      (await get(dexbPools, `token_address=${weth.toUpperCase().replace("0X", "0x")}`)).rows,
    ).to.deep.equal(ofWeth);
  });

  // Deepest; with a protocol share; two stablecoins; one token without a price; neither with one.
  for (const at of [0, 1, 4, 8, 9]) {
    it(`/evm/dexb/v3/pool of pool ${at} equals the sums of every swap on the chain`, async () => {
      const pool = chain.pools[at] as DeployedPool;
      const { rows } = await get(dexbPool, `pool_address=${pool.address}`);
      expect(rows).to.have.length(1);
      const priceAt = pricesOf(chain);
      const tvlUsd = await tvlOf(chain, { pool, priceAt, head });
      const swaps = await swapsOf(chain, { pool, priceAt });
      expect(swaps.length, "a pool without swaps proves nothing").to.be.greaterThan(2);
      expectPool(rows[0] as Record<string, Cell>, {
        state: await expectedState(chain, { pool, head }),
        tvlUsd,
        ranges: rangesOf(swaps, { headTime: (await chain.header(head)).timestamp, tvlUsd }),
      });
    });
  }

  it("finds no pool that does not exist, is of another family, or has no event", async () => {
    const unknown = address(0xdead);
    const clone = poolRow({ poolAddress: address(0xc10e), family: "clones" });
    const silent = poolRow({ poolAddress: address(0x51e7) });
    const { poolAddress, ...state } = await firstState(store);
    expect(poolAddress).not.to.equal(clone.poolAddress);
    await store.write([
      put(pools, [clone, silent]),
      put(poolStates, [{ ...state, poolAddress: clone.poolAddress }]),
    ]);
    const expectNotFound = async (path: string, pool: string) => {
      const response = await fetch(`${service.httpUrl}${path}?pool_address=${pool}`);
      const body = await bodyOf(response);
      expect([response.status, body.error], `${path} of ${pool}`).to.deep.equal([404, "not_found"]);
      expect(response.headers.get("etag")).to.equal(null);
      expect(body.message).to.contain(pool);
      return body.message as string;
    };
    for (const pool of [unknown, clone.poolAddress]) {
      expect(await expectNotFound(dexbPool.path, pool)).to.equal(`No pool ${pool} is known on chain 8453.`);
    }
    expect(await expectNotFound(dexbPool.path, silent.poolAddress)).to.contain("has had no event yet");
    const real = chain.pools[0]?.address ?? "";
    await expectNotFound("/evm/clones/v3/pool", real);
    await expectNotFound("/evm/dexa/v3/pool", real);
  });

  it("has the state of the data in headers, and returns 304 until it changes", async () => {
    const { hash: _, timestamp } = await chain.header(head);
    const asOf = `${new Date(timestamp * 1_000).toISOString().slice(0, 19)}+00:00`;
    const urls = [`${dexbPool.path}?pool_address=${chain.pools[0]?.address}`, `${dexbPools.path}?limit=2`];
    const tags: string[] = [];
    for (const url of urls) {
      const response = await fetch(service.httpUrl + url);
      expect(response.headers.get("x-data-block")).to.equal(`${head}`);
      expect(response.headers.get("x-data-as-of")).to.equal(asOf);
      expect(response.headers.get("x-data-from-block")).to.equal("0");
      tags.push(response.headers.get("etag") ?? "");
    }
    expect(new Set(tags).size).to.equal(2);
    const askAgain = (i: number) =>
      fetch(service.httpUrl + urls[i], { headers: { "If-None-Match": tags[i] as string } });
    for (const i of [0, 1]) {
      const again = await askAgain(i);
      expect([again.status, await again.text()]).to.deep.equal([304, ""]);
      expect(again.headers.get("x-data-block")).to.equal(`${head}`);
    }
    await chain.mine(1, { intervalS: 2 });
    await ingest.catchUp();
    head += 1;
    await untilServed(head);
    for (const i of [0, 1]) {
      const next = await askAgain(i);
      expect(next.status).to.equal(200);
      expect(next.headers.get("x-data-block")).to.equal(`${head}`);
      expect(next.headers.get("etag")).not.to.equal(tags[i]);
    }
  });

  describe("over gRPC", () => {
    let prices: PriceSource & RpcClient;
    before(() => {
      prices = createPricesClient(service.grpcAddress);
    });
    after(() => prices?.close());

    const refusal = async (request: Parameters<PriceSource["getPrices"]>[0]) => {
      const error = await prices.getPrices(request).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(ServiceError);
      return error as ServiceError;
    };

    it("prices tokens at the indexed block", async () => {
      const { USDC, WETH, THIN, ISLE } = chain.deployment.tokens;
      const tokens = [WETH, ISLE, USDC, THIN].map((token) => token.address);
      const answer = await prices.getPrices({ chainId: 8453, tokens });
      const { timestamp } = await chain.header(head);
      expect([answer.block, answer.blockTime]).to.deep.equal([head, timestamp]);
      const [weth, isle, usdc, thin] = answer.prices;
      const priceUsd = (await pricesOf(chain)(WETH.address, head)) as number;
      expect(weth).to.include({ token: WETH.address, hops: 1 });
      expect(weth?.usd).to.be.closeTo(priceUsd, priceUsd * 1e-12);
      // Rounded down by an eighth at most.
      expect(weth?.depthUsd).to.be.within(9_000_000, 13_000_000);
      expect(weth?.origin).to.include({ parent: USDC.address, departed: false });
      expect(weth?.origin?.changedAt).to.be.within(timestamp - 3_600, timestamp);
      expect(usdc).to.deep.equal({ token: USDC.address, usd: 1, hops: 0, depthUsd: null });
      for (const [token, none] of [
        [ISLE, isle],
        [THIN, thin],
      ] as const) {
        expect(none).to.deep.equal({ token: token.address, usd: null, hops: 0, depthUsd: null });
      }
      expect((await prices.getPrices({ chainId: 8453, tokens, block: head })).prices).to.deep.equal(
        answer.prices,
      );
    });

    it("takes 500 tokens in one call, and no more", async () => {
      const tokens = Array.from({ length: 501 }, (_, i) => address(0xf000 + i));
      tokens[499] = chain.deployment.tokens.USDC.address;
      const answer = await prices.getPrices({ chainId: 8453, tokens: tokens.slice(0, 500) });
      expect(answer.prices.map(({ token }) => token)).to.deep.equal(tokens.slice(0, 500));
      expect(answer.prices.map(({ usd }) => usd)).to.deep.equal([...Array(499).fill(null), 1]);
      const error = await refusal({ chainId: 8453, tokens });
      expect(error.code).to.equal("bad_request");
      expect(error.message).to.contain("501").and.contain("500");
    });

    it("prices tokens at every indexed block by the chain's state there", async () => {
      const { USDC, WETH } = chain.deployment.tokens;
      const tokens = [WETH.address, USDC.address];
      const seen = new Set<number | null>();
      for (let block = head - GAPS.length + 1; block <= head; block++) {
        const answer = await prices.getPrices({ chainId: 8453, tokens, block });
        const { timestamp } = await chain.header(block);
        expect([answer.block, answer.blockTime]).to.deep.equal([block, timestamp]);
        const [weth, usdc] = answer.prices.map(({ usd }) => usd);
        const priceUsd = (await pricesOf(chain)(WETH.address, block)) as number;
        expect(weth).to.be.closeTo(priceUsd, priceUsd * 1e-12);
        expect(usdc).to.equal(1);
        seen.add(weth as number);
      }
      expect(seen.size).to.be.greaterThan(5);
      const first = await prices.getPrices({ chainId: 8453, tokens, block: 0 });
      expect(first.prices.map(({ usd }) => usd)).to.deep.equal([null, 1]);
    });

    it("has no prices beyond the head, of unknown chains, or of a chain without blocks", async () => {
      const tokens = [chain.deployment.tokens.WETH.address];
      expect((await refusal({ chainId: 8453, tokens, block: head + 1 })).code).to.equal("not_found");
      expect((await refusal({ chainId: 10, tokens })).code).to.equal("not_found");
      expect((await refusal({ chainId: 1, tokens })).code).to.equal("unavailable");
    });

    it("reports its status", async () => {
      const client = createStatusClient(service.grpcAddress);
      try {
        const { hash, timestamp } = await chain.header(head);
        const { mode, chains: known } = await client.getStatus();
        expect(mode).to.equal("stale");
        expect(known).to.deep.equal([
          {
            chainId: 8453,
            name: "Base (local devnet)",
            indexedBlock: head,
            indexedBlockHash: hash,
            indexedTime: timestamp,
            fromBlock: 0,
            chainHead: head,
            lagBlocks: 0,
            ...SERVED,
          },
          { chainId: 1, name: "Ethereum", ...NOTHING, ...withoutSource(1) },
        ]);
      } finally {
        client.close();
      }
    });
  });
});

async function firstState(store: Store): Promise<PoolStateRow> {
  const [state] = await store.find(poolStates, { filter: { chainId: 8453 }, limit: 1 });
  if (state === undefined) throw new Error("The index has no pool with events.");
  return state;
}

/** Random actions on all pools in every block, and swaps both ways in those that are checked. */
async function trade(chain: TestChain): Promise<void> {
  for (const [i, gap] of GAPS.entries()) {
    const from = chain.accounts[1 + (i % 6)] as `0x${string}`;
    for (const at of [0, 1, 4, 8, 9]) {
      const pool = chain.pools[at] as DeployedPool;
      const zeroForOne = (i + at) % 3 !== 0;
      const token = zeroForOne ? pool.token0 : pool.token1;
      const amount = BigInt(
        Math.round(((pool.spec.swapUsd * (1 + i / 4)) / token.usd) * 10 ** token.decimals),
      );
      if ((i + at) % 4 !== 0) await chain.swap(pool.address, { zeroForOne, amount, from });
    }
    await chain.send(chain.randomActions(i, 4));
    await chain.mine(1, { intervalS: gap });
  }
}

/** The devnet's deployments with Ethereum's beside them. */
async function withEthereum(chain: TestChain, directory: string): Promise<string> {
  const document = JSON.parse(await readFile(chain.deploymentsFile, "utf8"));
  const builtIn = JSON.parse(await readFile(new URL("../deployments.json", import.meta.url), "utf8"));
  const ethereum = builtIn.evmDex.chains.find(({ chainId }: { chainId: number }) => chainId === 1);
  ethereum.factories = ethereum.factories.filter(
    ({ address }: { address: string }) => address === ETHEREUM_FACTORY,
  );
  document.evmDex.chains.push(ethereum);
  const path = join(directory, "deployments.json");
  await writeFile(path, JSON.stringify(document));
  return path;
}
