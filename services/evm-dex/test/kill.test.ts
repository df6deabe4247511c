import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { type FaultyRpc, startFaultyRpc } from "../../../deploy/devnet/node/faulty-rpc.ts";
import { DEX_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { createRandom } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { KEPT_HEADERS } from "../../shared/evm/finality/fork.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeThoroughRounds } from "../../shared/testkit/describe.ts";
import { startIngestProcess } from "../../shared/testkit/service-process.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { dumpFreshIndex, dumpStore, expectSameStore, mineBusyBlocks } from "./kit/harness.ts";

const INGEST = new URL("../ingest/main.ts", import.meta.url);

/** Fewer where a user runs the tests; the full check runs all fifty. */
const KILLS = Number(process.env.TEST_KILLS ?? 10);
/** Small ranges make many writes, so that kills fall between and into them. */
const RANGE_LIMIT = 12;
/** The backfill takes long enough to be killed on its way. */
const LATENCY_MS = 40;
const WRITE_MS = "250";
// Enough of them for kills between and into these writes.
const BLOCKS = KILLS < 50 ? 1_300 : 1_600;
/** Blocks between two kills at most: together they lead from the backfill to the head. */
const STRIDE = Math.ceil(BLOCKS / KILLS);

describeThoroughRounds(KILLS, "evm-dex ingest: SIGKILL", () => {
  let chain: TestChain;
  let rpc: FaultyRpc;
  let dataDir: string;

  before(async () => {
    chain = await createTestChain({
      keptStates: 5_000,
      families: DEX_FAMILIES,
    });
    await mineBusyBlocks(chain, { blocks: BLOCKS, seed: 11 });
    rpc = await startFaultyRpc({
      target: chain.url,
      faults: {},
      seed: 1,
      rangeLimit: RANGE_LIMIT,
      latencyMs: LATENCY_MS,
    });
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-kill-"));
  });
  after(async () => {
    await rpc?.close();
    await chain?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  it(`ends as a run without kills after ${KILLS} kills during backfill and at the head`, async () => {
    const env = {
      EVM_RPC_8453: rpc.url,
      EVM_RPC_1: undefined,
      START_BLOCK_8453: "0",
      DATA_DIR: dataDir,
      DEPLOYMENTS_FILE: chain.deploymentsFile,
      BACKFILL_WRITE_MS: WRITE_MS,
    };
    const random = createRandom(4);
    const blocksAtKill: number[] = [];
    const store = await openStore({ service: "evm-dex", dataDir });
    await store.declare(COLLECTIONS);
    try {
      for (let i = 0; i < KILLS; i++) {
        const ingest = startIngestProcess(INGEST, env);
        await ingest.logged("indexing");
        await mineBusyBlocks(chain, { blocks: random.below(3), seed: 1000 + i });
        await progress(chain, { store, blocks: random.below(STRIDE) });
        await sleep(random.below(10));
        expect((await ingest.stop("SIGKILL")).signal).to.equal("SIGKILL");
        blocksAtKill.push((await blockOf(store)) ?? -1);
      }
      const last = startIngestProcess(INGEST, env);
      await last.logged("indexing");
      const head = Number(await chain.anvil.rpc.call("eth_blockNumber"));
      while ((await blockOf(store)) !== head) await sleep(20);
      expect(await last.stop("SIGTERM")).to.deep.equal({ code: 0, signal: null });
      expectSameStore(await dumpStore(store), await dumpFreshIndex(chain));
    } finally {
      await store.close();
    }
    const duringBackfill = new Set(blocksAtKill.filter((block) => block < BLOCKS - KEPT_HEADERS));
    expect(duringBackfill.size, `kills came at blocks ${blocksAtKill.join(", ")}`).to.be.greaterThan(3);
    expect(blocksAtKill.at(-1)).to.be.greaterThan(BLOCKS - KEPT_HEADERS);
  });
});

/** Waits until so many blocks have come, or the head has. */
async function progress(
  chain: TestChain,
  { store, blocks }: { store: Store; blocks: number },
): Promise<void> {
  const head = Number(await chain.anvil.rpc.call("eth_blockNumber"));
  const until = Math.min(head, ((await blockOf(store)) ?? -1) + blocks);
  while (((await blockOf(store)) ?? -1) < until) await sleep(2);
}

/** Undefined while the first ingest has not made the store yet. */
async function blockOf(store: Store): Promise<number | undefined> {
  return (await getCheckpoint(store, 8453))?.blockNumber;
}
