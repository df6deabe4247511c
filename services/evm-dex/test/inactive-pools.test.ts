import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { startIngestProcess } from "../../shared/testkit/service-process.ts";
import { COLLECTIONS, inactivePools, poolStates } from "../store/collections.ts";
import { getCheckpoint, getPool } from "../store/queries.ts";
import { v3PoolView } from "../views/v3-pool.ts";
import { tvlOf } from "./kit/pool-expectation.ts";

const INGEST = new URL("../ingest/main.ts", import.meta.url);

describeWithChain("evm-dex ingest: pools without events since the index began", () => {
  let chain: TestChain;
  let dataDir: string;
  let store: Store;
  let startBlock: number;

  before(async () => {
    chain = await createTestChain({});
    await chain.mine(3, { intervalS: 2 });
    startBlock = await chain.headNumber();
    await chain.swap(chain.pools[0]?.address ?? "0x", { zeroForOne: true, amount: 10n ** 15n });
    await chain.mine(2, { intervalS: 2 });
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-inactive-"));
    store = await openStore({ service: "evm-dex", dataDir });
    await store.declare(COLLECTIONS);
  });
  after(async () => {
    await store?.close();
    await chain?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  /** What the local chain's pools were set up with; null for tokens that no deep pool leads to. */
  const marketPrice = async (token: string) => {
    const { THIN, ISLE, REEF, ...priced } = chain.deployment.tokens;
    return Object.values(priced).find(({ address }) => address === token)?.usd ?? null;
  };

  const startIngest = () =>
    startIngestProcess(INGEST, {
      EVM_RPC_8453: chain.url,
      EVM_RPC_1: undefined,
      START_BLOCK_8453: `${startBlock}`,
      DATA_DIR: dataDir,
      DEPLOYMENTS_FILE: chain.deploymentsFile,
    });

  it("are served as on the chain: price, liquidity, TVL, and no swaps", async () => {
    const ingest = startIngest();
    await ingest.logged("read pools without events");
    await ingest.stop("SIGTERM");
    const checkpoint = await getCheckpoint(store, 8453);
    if (checkpoint === undefined) throw new Error("Nothing is indexed.");
    const head = await chain.headNumber();
    // That of the pool with events was read before the first block, for its prices.
    expect(await store.count(inactivePools, {})).to.equal(chain.pools.length);
    for (const pool of chain.pools.slice(1)) {
      const row = await getPool(store, { chainId: 8453, poolAddress: pool.address });
      if (row === undefined) throw new Error(`Pool ${pool.address} was not discovered.`);
      const view = await v3PoolView.read(store, { pool: row, checkpoint });
      const { sqrtPriceX96, tick } = await chain.slot0(pool.address, head);
      expect(view).to.include({
        currentSqrtPriceX96: sqrtPriceX96,
        currentTick: tick,
        currentLiquidity: await chain.liquidity(pool.address, head),
      });
      // Priced by pools of which only one has had an event.
      const tvlUsd = await tvlOf(chain, { pool, priceAt: marketPrice, head });
      if (tvlUsd === null) expect(view.poolTvlUsd, pool.address).to.equal(null);
      else expect(view.poolTvlUsd, pool.address).to.be.closeTo(tvlUsd, tvlUsd * 0.05);
      expect(view.swapCount).to.deep.equal(Array(6).fill(null));
    }
  });

  it("use their events as soon as they have some", async () => {
    const pool = chain.pools[1]?.address ?? "0x";
    await chain.swap(pool, { zeroForOne: true, amount: 10n ** 15n });
    const head = await chain.mine(1, { intervalS: 2 });
    const ingest = startIngest();
    await ingest.logged("indexing");
    while ((await getCheckpoint(store, 8453))?.blockNumber !== head)
      await new Promise((done) => setTimeout(done, 20));
    await ingest.stop("SIGKILL");
    const row = await getPool(store, { chainId: 8453, poolAddress: pool });
    const checkpoint = await getCheckpoint(store, 8453);
    if (row === undefined || checkpoint === undefined) throw new Error("Nothing is indexed.");
    const view = await v3PoolView.read(store, { pool: row, checkpoint });
    expect(view.currentSqrtPriceX96).to.equal((await chain.slot0(pool, head)).sqrtPriceX96);
    expect(await store.count(poolStates, { chainId: 8453, poolAddress: pool })).to.equal(1);
    expect(await store.count(inactivePools, {})).to.equal(chain.pools.length);
  });
});
