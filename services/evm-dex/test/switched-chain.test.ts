import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { type FaultyRpc, startFaultyRpc } from "../../../deploy/devnet/node/faulty-rpc.ts";
import { createRandom } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { createEvmSource } from "../../shared/evm/source/source.ts";
import { readInThread, type ThreadConfig } from "../../shared/evm/thread/thread.ts";
import type { Log } from "../../shared/logging/log.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeOnEngines } from "../../shared/storage/testkit/engines.ts";
import { until } from "../../shared/testkit/until.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { runChain } from "../ingest/run-chain.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { dumpFreshIndex, dumpStore, expectSameStore, mineBusyBlocks } from "./kit/harness.ts";

const FORK = 40;
const BLOCKS = 420;
const SECRET = "key-0123456789";
/** Small ranges make many responses, between which endpoints switch. */
const RANGE_LIMIT = 12;
/**
 * A higher head that an endpoint showed while it served another chain is believed for a minute from the first lower one on
 * (source/head.ts); then the rest is read.
 */
const LOWER_HEAD_MS = 90_000;

interface Running {
  readonly lines: string[];
  stop(): Promise<void>;
}

/** An ingest of one chain as its process runs it, but for the lease. */
function run(store: Store, { chain, urls }: { chain: TestChain; urls: readonly string[] }): Running {
  const lines: string[] = [];
  const say = (...words: unknown[]) =>
    void lines.push(words.map((word) => (typeof word === "string" ? word : JSON.stringify(word))).join(" "));
  const log = { info: say, warn: say, error: say } as unknown as Log;
  const stop = new AbortController();
  const options = { proofMs: 200, backoffMs: 50, behindTotalMs: 1_000 };
  const config: ThreadConfig = {
    chainId: 8453,
    urls: urls.map((url) => `${url}/${SECRET}`),
    options,
    log: (message, fields) => say(message, fields),
  };
  const source = createEvmSource(config);
  const running = runChain({
    store,
    source,
    openBulkSource: () => readInThread(source, config),
    chain: loadDeployments(chain.deploymentsFile)[0] as ChainDeployments,
    startBlock: 0,
    inactivePoolsPerSecond: 0,
    walletsPerHour: 0,
    keeping: { rawDays: 0, archiveDir: undefined },
    log,
    signal: stop.signal,
    guard: () => [],
  });
  return {
    lines,
    async stop() {
      stop.abort();
      await running;
      await source.close();
    },
  };
}

describeOnEngines(
  (engine) => `evm-dex ingest on ${engine}: endpoints that switch to another chain`,
  { rounds: 15, thorough: true },
  (engine) => {
    let directory: string;
    let chain: TestChain;
    /** Chains of the same id: with another genesis, and with other blocks from FORK on, lower and higher than ours. */
    const others: { name: string; chain: TestChain }[] = [];
    let endpoints: [FaultyRpc, FaultyRpc];

    before(async () => {
      directory = await mkdtemp(join(tmpdir(), "chaintables-switched-"));
      chain = await createTestChain({ poolCount: 4 });
      await mineBusyBlocks(chain, { blocks: 10, seed: 1 });
      await chain.mine(FORK - (await chain.headNumber()));
      const stateFile = join(directory, "chain.json");
      await chain.anvil.saveState(stateFile);
      const fork = await createTestChain({ poolCount: 4, stateFile });
      others.push({ name: "a fork below the final block", chain: fork });
      await mineBusyBlocks(fork, { blocks: 200, seed: 2 });
      const otherChain = await createTestChain({ poolCount: 4, timestamp: 1_600_000_000 });
      others.push({ name: "another genesis", chain: otherChain });
      await mineBusyBlocks(otherChain, { blocks: BLOCKS + 100, seed: 3 });
      await mineBusyBlocks(chain, { blocks: BLOCKS - FORK, seed: 4 });
      const start = (seed: number) =>
        startFaultyRpc({ target: chain.url, faults: {}, seed, rangeLimit: RANGE_LIMIT });
      endpoints = [await start(1), await start(2)];
    });
    after(async () => {
      for (const each of endpoints ?? []) await each.close();
      for (const other of others) await other.chain.stop();
      await chain?.stop();
      await rm(directory, { recursive: true, force: true });
    });

    const pointTo = (target: TestChain) => {
      for (const endpoint of endpoints) endpoint.pointTo(target.url);
    };
    const isAtHead = async (store: Store, other = chain) => {
      const head = await other.headNumber();
      const checkpoint = await getCheckpoint(store, 8453);
      return checkpoint?.blockNumber === head && checkpoint.blockHash === (await other.header(head)).hash;
    };
    const open = async () => {
      const opened = await engine.open();
      await opened.store.declare(COLLECTIONS);
      return opened;
    };

    for (const which of [0, 1]) {
      it(`both to ${["a fork below the final block", "another genesis"][which]}, and back: nothing is deleted, nothing mixed`, async () => {
        const other = others[which]?.chain as TestChain;
        const { store, remove } = await open();
        pointTo(chain);
        const urls = endpoints.map(({ url }) => url);
        const ingest = run(store, { chain, urls });
        try {
          await until("the head", () => isAtHead(store));
          await until("a final block", async () => (await store.count(finalBlocks, {})) > 0);
          const before = await dumpStore(store);
          pointTo(other);
          const said = () => ingest.lines.filter((line) => line.includes("contradicts the index:"));
          await until("the sentence", () => said().length > 0);
          await mineBusyBlocks(other, { blocks: 3, seed: 5 });
          await sleep(1_000);
          expectSameStore(await dumpStore(store), before);
          expect(said()).to.have.length(1);
          expect(said()[0]).to.contain("npm run reindex -- --chain 8453");
          for (const url of urls) expect(said()[0]).to.contain(new URL(url).host);
          await mineBusyBlocks(chain, { blocks: 3, seed: 6 + which });
          pointTo(chain);
          await until("the head again", () => isAtHead(store));
          expectSameStore(await dumpStore(store), await dumpFreshIndex(chain));
          expect(ingest.lines.join("\n")).not.to.contain("reorganised").and.not.to.contain(SECRET);
        } finally {
          await ingest.stop();
          await remove();
        }
      });
    }

    it("again and again during the first read: the index is that of one chain", async function () {
      this.timeout(3 * LOWER_HEAD_MS);
      const { store, remove } = await open();
      const random = createRandom(7);
      pointTo(chain);
      const ingest = run(store, { chain, urls: endpoints.map(({ url }) => url) });
      try {
        await until("a checkpoint", async () => (await getCheckpoint(store, 8453)) !== undefined);
        for (let i = 0; i < 10; i++) {
          await sleep(random.below(150));
          pointTo(others[i % 2]?.chain as TestChain);
          await sleep(random.below(150));
          pointTo(chain);
        }
        const isThere = await until("the head", () => isAtHead(store), LOWER_HEAD_MS).then(
          () => true,
          () => false,
        );
        // A slow machine may have seen the fork alone for so long that a block of it is final: then it is that one's.
        const fork = others[0]?.chain as TestChain;
        if (!isThere) {
          expect(ingest.lines.join("\n")).to.contain("contradicts the index:");
          pointTo(fork);
          await until("the head of the fork", () => isAtHead(store, fork), LOWER_HEAD_MS);
        }
        expectSameStore(await dumpStore(store), await dumpFreshIndex(isThere ? chain : fork));
      } finally {
        await ingest.stop();
        await remove();
      }
    });

    it("one of two: it is set aside by name, and the index continues with the other", async () => {
      const { store, remove } = await open();
      pointTo(chain);
      const [first, second] = endpoints;
      const ingest = run(store, { chain, urls: [first.url, second.url] });
      try {
        await until("the head", () => isAtHead(store));
        await until("a final block", async () => (await store.count(finalBlocks, {})) > 0);
        first.pointTo(others[0]?.chain.url ?? "");
        const aside = () => ingest.lines.filter((line) => line.includes("set aside"));
        await until("its name", () => aside().length > 0);
        await mineBusyBlocks(chain, { blocks: 5, seed: 8 });
        await until("the head", () => isAtHead(store));
        expect(aside()[0]).to.contain(new URL(first.url).host).and.contain("final up to");
        expect(aside(), "said once").to.have.length(1);
        first.pointTo(chain.url);
        await until("agreement", () =>
          ingest.lines.some((line) => line.includes("agrees with the index again")),
        );
        expectSameStore(await dumpStore(store), await dumpFreshIndex(chain));
        expect(ingest.lines.join("\n")).not.to.contain(SECRET);
      } finally {
        await ingest.stop();
        await remove();
      }
    });
  },
);
