import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { createTraders } from "../../../deploy/devnet/traders.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { endpoint } from "../endpoints/evm/dexb/v3/pool.endpoint.ts";
import { dexbPoolHandler } from "../endpoints/evm/dexb/v3/pool.handler.ts";
import { growOnce } from "../ingest/history/grow.ts";
import { runChunksHere } from "../ingest/history/run-chunk.ts";
import { poolEvents, rollups } from "../store/collections.ts";
import { depsOf, rowsOf } from "./kit/answers.ts";
import { startTestIngest, type TestIngest } from "./kit/harness.ts";

const DAY = 86_400;
const GENESIS_S = 1_700_000_000;
const RANGES = [300, 3_600, DAY, 7 * DAY, 30 * DAY, 365 * DAY];

/** An index that began an hour ago, of a chain that is older than a year. */
describeThorough("evm-dex: windows of history", () => {
  let chain: TestChain;
  let folder: string;
  let grown: TestIngest;
  let fresh: TestIngest;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "chaintables-windows-"));
    chain = await createTestChain({ timestamp: GENESIS_S, accounts: 24, keptStates: 5_000 });
    const traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 9 });
    let timestamp = GENESIS_S + 3 * DAY;
    const trade = async (blocks: number, gap: number) => {
      for (let i = 0; i < blocks; i++) {
        timestamp += gap;
        await traders.tradeBlock({ timestamp, swaps: 3 });
      }
    };
    for (let i = 0; i < 24; i++) {
      await trade(1, 15 * DAY - 90);
      // Another minute of the same hour.
      await trade(1, 90);
    }
    await trade(12, 2 * DAY + 5);
    await trade(20, 7_300);
    const startBlock = await chain.headNumber();
    await trade(75, 50);
    grown = await startTestIngest(chain, { startBlock });
    await grown.catchUp();
    fresh = await startTestIngest(chain);
    await fresh.catchUp();
  });
  after(async () => {
    await grown?.close();
    await fresh?.close();
    await chain?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  async function read(pool: string) {
    const handler = dexbPoolHandler(depsOf(grown.store));
    const [row] = await rowsOf(endpoint, handler, { chain_id: 8453, pool_address: pool as `0x${string}` });
    if (row === undefined) throw new Error(`Pool ${pool} has no row.`);
    return { counts: row.swapCount, volumes: row.swapVolumeUsd, users: row.uniqueUserCount } as Record<
      "counts" | "volumes" | "users",
      (number | null)[]
    >;
  }

  it("are null before the index began, and hold what the definition over all events says once history is there", async () => {
    const pool = chain.pools[0]?.address as string;
    const before = await read(pool.toLowerCase());
    expect(before.counts.map((count) => count === null)).to.deep.equal([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);

    let chunks = 0;
    const { store, source, sync } = grown;
    const deployments = loadDeployments(chain.deploymentsFile)[0] as ChainDeployments;
    const deps = { store, source, chain: deployments, folder, log: () => {} };
    const signal = new AbortController().signal;
    const context = { ...deps, sync, days: 400, rawDays: 8, runChunk: runChunksHere(deps), signal };
    while (await growOnce(context)) chunks += 1;
    expect(chunks).to.be.greaterThan(20);

    const old = { span: 60, start: { lt: sync.checkpoint.blockTime - 41 * DAY } };
    const minutes = await grown.store.count(rollups, old);
    const days = await grown.store.count(rollups, { ...old, span: DAY });
    expect(minutes, "a chunk's last of each pool").to.be.within(1, days);
    expect(await fresh.store.count(rollups, old)).to.be.greaterThan(minutes);

    const row = await read(pool.toLowerCase());
    const events = await fresh.store.find(poolEvents, {
      filter: { chainId: 8453, poolAddress: pool.toLowerCase(), kind: "swap" },
    });
    const end = fresh.sync.checkpoint.blockTime;
    for (const [i, seconds] of RANGES.entries()) {
      const swaps = events.filter(({ time }) => time > end - seconds);
      expect(swaps.length, `swaps of ${seconds} s`).to.be.greaterThan(i === 0 ? 0 : 5);
      expect(row.counts[i], `count of ${seconds} s`).to.equal(swaps.length);
      expect(row.users[i], `users of ${seconds} s`).to.equal(new Set(swaps.map(({ sender }) => sender)).size);
      const volume = swaps.reduce((sum, { valueUsd }) => sum + (valueUsd as number), 0);
      expect(row.volumes[i], `volume of ${seconds} s`).to.be.closeTo(volume, volume * 1e-9);
    }
  });
});
