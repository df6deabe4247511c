import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { createEvmSource } from "../../shared/evm/source/source.ts";
import { put } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { exportPools } from "../ingest/pools-file/export.ts";
import { type PoolsFile, readPoolsFile } from "../ingest/pools-file/format.ts";
import { importPools, planImport } from "../ingest/pools-file/import.ts";
import { samplePools } from "../ingest/pools-file/sample.ts";
import { COLLECTIONS, discoveries } from "../store/collections.ts";
import { dumpStore, startTestIngest } from "./kit/harness.ts";

describeWithChain("evm-dex ingest: an index that begins with a file of pools", () => {
  let chain: TestChain;
  let deployed: ChainDeployments;
  let file: PoolsFile;
  let startBlock: number;

  before(async () => {
    chain = await createTestChain({});
    deployed = loadDeployments(chain.deploymentsFile)[0] as ChainDeployments;
    await chain.mine(3, { intervalS: 2 });
    startBlock = await chain.headNumber();
    await chain.swap(chain.pools[0]?.address ?? "0x", { zeroForOne: true, amount: 10n ** 15n });
    await chain.mine(5, { intervalS: 2 });
    const whole = await startTestIngest(chain);
    try {
      await whole.catchUp();
      // The local chain has no final block yet.
      const number = whole.block();
      await whole.store.write([put(finalBlocks, [{ chainId: 8453, number, hash: "0x1", time: 1 }])]);
      file = await readPoolsFile((await (await exportPools(whole.store, deployed)).pack()).bytes);
    } finally {
      await whole.close();
    }
  });
  after(() => chain?.stop());

  it("holds what one that has scanned the chain holds, though the file goes beyond its first block", async () => {
    expect(file.poolCount).to.be.at.least(10);
    const store = await openSqliteStore({ path: ":memory:" });
    await store.declare(COLLECTIONS);
    const plan = await planImport(store, { file, chain: deployed });
    await importPools(store, { file, chain: deployed, plan, guard: () => [] });
    expect((await store.find(discoveries, {})).every(({ blockNumber }) => blockNumber > startBlock)).to.equal(
      true,
    );
    const imported = await startTestIngest(chain, { store, startBlock });
    const scanned = await startTestIngest(chain, { startBlock });
    try {
      await imported.catchUp();
      await scanned.catchUp();
      expect(await dumpStore(store)).to.deep.equal(await dumpStore(scanned.store));
    } finally {
      await imported.close();
      await scanned.close();
      await store.close();
    }
  });

  it("agrees with the chain in every pool", async () => {
    const source = createEvmSource({ chainId: 8453, urls: [chain.url] });
    try {
      const { pools } = await samplePools(source, { file, count: 200, random: Math.random });
      expect(pools).to.be.at.least(file.poolCount / 2);
    } finally {
      await source.close();
    }
  });
});
