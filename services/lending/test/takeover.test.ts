import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { LENDING_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { leases } from "../../shared/storage/lease.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import type { TestProcess } from "../../shared/testkit/process.ts";
import { startIngestProcess } from "../../shared/testkit/service-process.ts";
import { PROTOCOLS } from "../protocols/index.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { dumpFreshIndex, dumpStore, expectSame, mineBusyBlocks } from "./harness.ts";

const INGEST = new URL("../ingest/main.ts", import.meta.url);

describeThorough("lending ingest: two replicas", () => {
  let chain: TestChain;
  let dataDir: string;
  let store: Store;
  const started: TestProcess[] = [];
  before(async () => {
    chain = await createTestChain({ families: LENDING_FAMILIES, poolCount: 1 });
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-lending-takeover-"));
    store = await openStore({ service: "lending", dataDir });
    await store.declare([...COLLECTIONS, leases]);
  });
  after(async () => {
    for (const each of started) each.signal("SIGKILL");
    await store?.close();
    await chain?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  const start = () => {
    const ingest = startIngestProcess(INGEST, {
      EVM_RPC_8453: chain.url,
      EVM_RPC_1: undefined,
      DATA_DIR: dataDir,
      DEPLOYMENTS_FILE: chain.deploymentsFile,
    });
    started.push(ingest);
    return ingest;
  };
  const untilHead = async () => {
    const head = await chain.headNumber();
    while ((await getCheckpoint(store, 8453))?.blockNumber !== head) await sleep(10);
  };
  const token = async () => (await store.get(leases, { name: "lending-ingest-8453" }))?.token;

  it("lead in turn: a sleeping one is replaced, and writes nothing when it wakes", async () => {
    const first = start();
    await first.logged("indexing");
    await untilHead();
    const second = start();
    first.signal("SIGSTOP");
    await mineBusyBlocks(chain, { blocks: 5, seed: 1 });
    await second.logged("holding the lease");
    await untilHead();
    const led = await token();
    first.signal("SIGCONT");
    await mineBusyBlocks(chain, { blocks: 5, seed: 2 });
    await untilHead();
    expect(await token(), "the one that woke did not take it back").to.equal(led);
    expect((await second.stop("SIGTERM")).code).to.equal(0);
    await mineBusyBlocks(chain, { blocks: 5, seed: 3 });
    await untilHead();
    expect(await token(), "but once it is free").to.be.greaterThan(led ?? 0);
    expect((await first.stop("SIGTERM")).code).to.equal(0);
    const indexed = { url: chain.url, deploymentsFile: chain.deploymentsFile, protocols: PROTOCOLS };
    expectSame(await dumpStore(store, indexed), await dumpFreshIndex(indexed));
  });
});
