import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { createRandom } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { createTraders, type Traders } from "../../../deploy/devnet/traders.ts";
import { createPaceMemory } from "../../shared/portal/pace.ts";
import { sendStatus, startScriptedPortal } from "../../shared/portal/testkit/scripted-portal.ts";
import type { SourceEvent } from "../../shared/rpc-client/endpoint/endpoint.ts";
import { openStore } from "../../shared/storage/open.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { countLoopTurns } from "../../shared/testkit/loop-turns.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { runChunksInThreads } from "../ingest/history/chunk-thread.ts";
import { type GrowContext, growHistory, growOnce } from "../ingest/history/grow.ts";
import { runChunksHere } from "../ingest/history/run-chunk.ts";
import { expectSameStore, startTestIngest, type TestIngest } from "./kit/harness.ts";
import { rowsOf } from "./kit/history-rows.ts";
import { growKilled } from "./kit/killed-growth.ts";
import { actOnAerodrome } from "./v2/aerodrome-busy.ts";

const GENESIS_S = 1_760_000_000;
const BLOCK_S = 150;
/** By then all pools vote with all of their depth, however old; in the middle of an hour. */
const STARTED_S = GENESIS_S + 40 * 86_400 - 1_234;
const DAYS = 30;

describeThorough("evm-dex ingest: history", () => {
  let chain: TestChain;
  let traders: Traders;
  let folder: string;
  let startBlock: number;
  let fresh: Awaited<ReturnType<typeof rowsOf>>;
  let time = STARTED_S;
  const random = createRandom(3);

  const trade = async (blocks: number) => {
    for (let i = 0; i < blocks; i++) {
      time += BLOCK_S;
      await actOnAerodrome(chain, random, 1);
      await traders.tradeBlock({ timestamp: time, swaps: 2 });
    }
  };

  const growing = ({ store, sync, source }: TestIngest, options: Partial<GrowContext> = {}): GrowContext => {
    const deployments = loadDeployments(chain.deploymentsFile)[0] as ChainDeployments;
    const deps = { store, source, chain: deployments, folder, log: () => {} };
    return {
      ...{ ...deps, sync, days: DAYS, rawDays: DAYS + 10 },
      runChunk: runChunksHere(deps),
      signal: new AbortController().signal,
      ...options,
    };
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "chaintables-history-"));
    chain = await createTestChain({
      timestamp: GENESIS_S,
      accounts: 32,
      keptStates: 5_000,
      families: ["aerodrome-v2", "slipstream", "pancake-v3"],
    });
    traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 4 });
    await trade(200);
    startBlock = await chain.headNumber();
    await trade(90);
    const grown = await startTestIngest(chain, { startBlock });
    await grown.catchUp();
    // Where history ends: the first block that is not 40 days old.
    while (await growOnce(growing(grown)));
    const first = await startTestIngest(chain, { startBlock: grown.sync.checkpoint.fromBlock });
    await first.catchUp();
    fresh = await rowsOf(first);
    await first.close();
    await grown.close();
  });
  after(async () => {
    await chain?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  /** In chunks of an hour, six hours and days, with the chain going on between them. */
  it("ends with the rows of an index from its first block on", async () => {
    const grown = await startTestIngest(chain, { startBlock });
    try {
      await grown.catchUp();
      let chunks = 0;
      while (await growOnce(growing(grown))) chunks += 1;
      expect(chunks).to.be.at.least(2);
      expect(grown.sync.checkpoint.fromBlock).to.be.lessThan(startBlock - 190);
      expectSameStore(await rowsOf(grown), fresh);
    } finally {
      await grown.close();
    }
  });

  it("ends the same wherever it is killed, and is continued by the next process", async () => {
    const grown = await startTestIngest(chain, { startBlock });
    try {
      await grown.catchUp();
      const kills = await growKilled(chain, {
        startBlock,
        store: grown.store,
        grow: (it) => growOnce(growing(it)),
      });
      expect(kills).to.be.greaterThan(8);
      expectSameStore(await rowsOf(grown), fresh);
    } finally {
      await grown.close();
    }
  });

  it("lets the event loop turn between its writes, however quick the store is", async () => {
    const grown = await startTestIngest(chain, { startBlock });
    try {
      await grown.catchUp();
      const loop = countLoopTurns();
      const turns: number[] = [];
      const write = grown.store.write.bind(grown.store);
      grown.store.write = async (steps) => {
        // A chunk that is indexed waits for blocks in any case.
        if (steps.length > 0) turns.push(loop.turns());
        await write(steps);
      };
      while (await growOnce(growing(grown)));
      loop.stop();
      expect(turns.length).to.be.greaterThan(8);
      expect(new Set(turns).size).to.equal(turns.length);
    } finally {
      await grown.close();
    }
  });

  it("indexes the next chunk while it merges one", async () => {
    const grown = await startTestIngest(chain, { startBlock });
    try {
      await grown.catchUp();
      const context = growing(grown, { chunks: 1 });
      const fromBlocks: number[] = [];
      await growHistory({
        ...context,
        runChunk: (planned, options) => {
          fromBlocks.push(grown.sync.checkpoint.fromBlock - 1 - planned.chunk.to);
          return context.runChunk(planned, options);
        },
      });
      expect(fromBlocks[0]).to.equal(0);
      // The index did not begin after them yet.
      for (const ahead of fromBlocks.slice(1)) expect(ahead).to.be.greaterThan(0);
      expectSameStore(await rowsOf(grown), fresh);
    } finally {
      await grown.close();
    }
  });

  it("ends the same where chunks are indexed side by side, and some fail at first", async () => {
    const grown = await startTestIngest(chain, { startBlock });
    try {
      await grown.catchUp();
      const context = growing(grown, { chunks: 3 });
      const lines: string[] = [];
      const runs: number[] = [];
      const steps: number[] = [];
      await growHistory({
        ...context,
        log: (_, line) => lines.push(line),
        retryMs: 10,
        onProgress: ({ leftSeconds }) => steps.push(leftSeconds),
        runChunk: async (planned, options) => {
          runs.push(planned.chunk.to);
          if (runs.length === 2) throw new Error("no endpoint");
          return context.runChunk(planned, options);
        },
      });
      expect(new Set(runs).size).to.be.lessThan(runs.length);
      expect(lines.join("\n"))
        .to.contain("is tried again: no endpoint")
        .and.to.contain("History begins at block");
      expect([steps[0], steps.at(-1)].map((left) => left === 0)).to.deep.equal([false, true]);
      expectSameStore(await rowsOf(grown), fresh);
      expect(await readdir(folder)).to.deep.equal([]);
    } finally {
      await grown.close();
    }
  });

  it("ends the same where a thread of its own indexes each chunk, which asks a portal at the pace of the process", async () => {
    const portal = await startScriptedPortal();
    portal.play(sendStatus(404, "no such dataset"));
    const pace = createPaceMemory();
    const dataDir = await mkdtemp(join(tmpdir(), "chaintables-threads-"));
    const store = await openStore({ service: "evm-dex", dataDir });
    const grown = await startTestIngest(chain, { startBlock, store });
    try {
      await grown.catchUp();
      const context = growing(grown);
      const lines: string[] = [];
      const events: SourceEvent[] = [];
      const task = {
        ...{ store: { dataDir }, folder, urls: [chain.url], chain: context.chain },
        portal: { url: portal.url, options: { pace } },
      };
      await growHistory({
        ...context,
        runChunk: runChunksInThreads({
          task,
          log: (_, line) => lines.push(line),
          onEvent: (event) => events.push(event),
          fallback: () => Promise.reject(new Error("no thread")),
        }),
      });
      expect(lines.join("\n")).not.to.contain("main thread");
      expect(lines).to.include("the portal is set aside: reading goes on by JSON-RPC");
      expect(Number(pace[0])).to.be.greaterThan(0);
      expect(events.length).to.be.greaterThan(0);
      expectSameStore(await rowsOf(grown), fresh);
    } finally {
      await portal.close();
      await grown.close();
      await store.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  });

  it("goes on in this thread where no thread starts, or one dies", async () => {
    const grown = await startTestIngest(chain, { startBlock });
    try {
      await grown.catchUp();
      const context = growing(grown);
      const task = { store: { dataDir: folder }, folder, urls: [chain.url], chain: context.chain };
      const lines: string[] = [];
      await growHistory({
        ...context,
        runChunk: runChunksInThreads({
          ...{
            task,
            onEvent: () => {},
            fallback: context.runChunk,
            log: (_: string, line: string) => lines.push(line),
          },
          startWorker: () => new Worker("throw new Error('no memory')", { eval: true }),
        }),
      });
      expect(lines[0]).to.contain("no memory");
      expectSameStore(await rowsOf(grown), fresh);
    } finally {
      await grown.close();
    }
  });

  it("leaves its rows behind and the index as it was where it ends early", async () => {
    const grown = await startTestIngest(chain, { startBlock });
    try {
      await grown.catchUp();
      const stop = new AbortController();
      const { signal } = stop;
      const onProgress = () => stop.abort();
      expect(await growOnce(growing(grown, { signal, onProgress }))).to.equal(false);
      expect(grown.sync.checkpoint.fromBlock).to.equal(startBlock);
      while (await growOnce(growing(grown)));
      expectSameStore(await rowsOf(grown), fresh);
    } finally {
      await grown.close();
    }
  });

  it("goes back to the chunk where a reorg undoes a user's first swap since", async () => {
    const grown = await startTestIngest(chain, { startBlock: (await chain.headNumber()) - 70 });
    try {
      await grown.catchUp();
      while (await growOnce(growing(grown)));
      await chain.reorg(60, { transactionsPerBlock: 1, seed: 2 });
      await grown.catchUp();
      const other = await startTestIngest(chain, { startBlock: grown.sync.checkpoint.fromBlock });
      await other.catchUp();
      expectSameStore(await rowsOf(grown), await rowsOf(other));
      await other.close();
    } finally {
      await grown.close();
    }
  });
});
