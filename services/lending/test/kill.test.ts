import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { type FaultyRpc, startFaultyRpc } from "../../../deploy/devnet/node/faulty-rpc.ts";
import { LENDING_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { createRandom } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeThoroughRounds } from "../../shared/testkit/describe.ts";
import { startIngestProcess } from "../../shared/testkit/service-process.ts";
import { PROTOCOLS } from "../protocols/index.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { dumpFreshIndex, dumpStore, expectSame, mineBusyBlocks } from "./harness.ts";

const INGEST = new URL("../ingest/main.ts", import.meta.url);
/** Fewer when a user runs the tests; the full check runs all fifty. */
const KILLS = Number(process.env.TEST_KILLS ?? 4);
/** A scan of a long chain in many steps. */
const RANGE_LIMIT = 40;

describeThoroughRounds(KILLS, "lending ingest: SIGKILL", () => {
  let chain: TestChain;
  let rpc: FaultyRpc;
  let dataDir: string;
  before(async () => {
    chain = await createTestChain({ families: LENDING_FAMILIES, poolCount: 1 });
    await mineBusyBlocks(chain, { blocks: 20, seed: 1 });
    // Far enough for scans, and for a first reading of all entities.
    await chain.mine(600, { intervalS: 2 });
    rpc = await startFaultyRpc({ target: chain.url, faults: {}, seed: 1, rangeLimit: RANGE_LIMIT });
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-lending-kill-"));
  });
  after(async () => {
    await rpc?.close();
    await chain?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  it(`ends as a run without kills after ${KILLS} kills at its start, in the middle and at the head`, async () => {
    const env = {
      EVM_RPC_8453: rpc.url,
      EVM_RPC_1: undefined,
      DATA_DIR: dataDir,
      DEPLOYMENTS_FILE: chain.deploymentsFile,
    };
    const random = createRandom(9);
    const store = await openStore({ service: "lending", dataDir });
    await store.declare(COLLECTIONS);
    const versions: number[] = [];
    try {
      for (let i = 0; i < KILLS; i++) {
        const ingest = startIngestProcess(INGEST, env);
        await ingest.logged("holding the lease");
        // The first ones before anything was read.
        if (i >= KILLS / 4) await follow(chain, { store, passes: random.below(4), seed: 100 + i });
        await sleep(random.below(i < KILLS / 4 ? 60 : 20));
        expect((await ingest.stop("SIGKILL")).signal).to.equal("SIGKILL");
        versions.push((await getCheckpoint(store, 8453))?.version ?? 0);
      }
      const last = startIngestProcess(INGEST, env);
      await untilAt(store, await chain.headNumber());
      expect(await last.stop("SIGTERM")).to.deep.equal({ code: 0, signal: null });
      const indexed = { url: chain.url, deploymentsFile: chain.deploymentsFile, protocols: PROTOCOLS };
      expectSame(await dumpStore(store, indexed), await dumpFreshIndex(indexed));
    } finally {
      await store.close();
    }
    expect(new Set(versions).size, `kills came at versions ${versions.join(", ")}`).to.be.greaterThan(
      KILLS / 4,
    );
  });
});

/** New blocks, which are waited for; then some more, which are not. */
async function follow(
  chain: TestChain,
  options: { store: Store; passes: number; seed: number },
): Promise<void> {
  for (let pass = 0; pass < options.passes; pass++) {
    await mineBusyBlocks(chain, { blocks: 2, seed: options.seed + pass });
    await untilAt(options.store, await chain.headNumber());
  }
  await mineBusyBlocks(chain, { blocks: 1, seed: options.seed + 50 });
}

async function untilAt(store: Store, block: number): Promise<void> {
  while (((await getCheckpoint(store, 8453))?.blockNumber ?? -1) < block) await sleep(5);
}
