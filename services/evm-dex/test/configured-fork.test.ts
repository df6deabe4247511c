import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { endpoint } from "../endpoints/evm/clones/v3/pool.endpoint.ts";
import { clonesPoolHandler } from "../endpoints/evm/clones/v3/pool.handler.ts";
import { endpoint as dexes } from "../endpoints/evm/dexes.endpoint.ts";
import { dexesHandler } from "../endpoints/evm/dexes.handler.ts";
import { depsOf, rowsOf } from "./kit/answers.ts";
import { startTestIngest, type TestIngest } from "./kit/harness.ts";

describeWithChain("a fork of Uniswap v3 that only the deployments name", () => {
  let chain: TestChain;
  let directory: string;
  let chains: readonly ChainDeployments[];
  let ingest: TestIngest;

  before(async () => {
    chain = await createTestChain({ poolCount: 2 });
    directory = await mkdtemp(join(tmpdir(), "chaintables-fork-"));
    const file = JSON.parse(await readFile(chain.deploymentsFile, "utf8"));
    const [factory] = file.evmDex.chains[0].factories;
    Object.assign(factory, { dexName: "Forked Swap", family: "clones" });
    const deploymentsFile = join(directory, "deployments.json");
    await writeFile(deploymentsFile, JSON.stringify(file));
    chains = loadDeployments(deploymentsFile);
    ingest = await startTestIngest({ url: chain.url, deploymentsFile });
  });
  after(async () => {
    await ingest?.close();
    await chain?.stop();
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  });

  it("is listed, found and served under its name", async () => {
    const pool = chain.pools[0]?.address ?? "0x";
    await chain.swap(pool, { zeroForOne: true, amount: 10n ** 15n });
    await chain.mine(1);
    await ingest.catchUp();
    const deps = depsOf(ingest.store, chains);
    const [dex] = await rowsOf(dexes, dexesHandler(deps), { chain_id: 8453 });
    expect(dex).to.include({ dexName: "Forked Swap", dexType: "v3", family: "clones" });
    const [row] = await rowsOf(endpoint, clonesPoolHandler(deps), { chain_id: 8453, pool_address: pool });
    const { tick, sqrtPriceX96 } = await chain.slot0(pool);
    expect(row).to.include({
      dexName: "Forked Swap",
      currentTick: tick,
      currentSqrtPriceX96: `${sqrtPriceX96}`,
      currentLiquidity: `${await chain.liquidity(pool)}`,
    });
    expect(row?.swapCount).to.deep.equal(Array(6).fill(1));
  });
});
