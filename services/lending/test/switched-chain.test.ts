import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { type FaultyRpc, startFaultyRpc } from "../../../deploy/devnet/node/faulty-rpc.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { createEvmSource } from "../../shared/evm/source/source.ts";
import type { Log } from "../../shared/logging/log.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeOnEngines } from "../../shared/storage/testkit/engines.ts";
import { until } from "../../shared/testkit/until.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { runChain } from "../ingest/run-chain.ts";
import { COLLECTIONS, checkpoints, entities, entityHistory } from "../store/collections.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSame,
  type IndexedChain,
  indexLending,
  mineBusyBlocks,
} from "./harness.ts";

interface Running {
  readonly lines: string[];
  stop(): Promise<void>;
}

/** An ingest of one chain as its process runs it, but for the lease. */
function run(store: Store, { indexed, urls }: { indexed: IndexedChain; urls: readonly string[] }): Running {
  const lines: string[] = [];
  const say = (...words: unknown[]) => void lines.push(words.map((word) => JSON.stringify(word)).join(" "));
  const stop = new AbortController();
  const source = createEvmSource({
    chainId: 8453,
    urls,
    log: (message, fields) => say(message, fields),
    options: { consistencyCheckMs: 200, backoffMs: 50, behindTotalMs: 1_000 },
  });
  const running = runChain({
    store,
    source,
    chain: loadDeployments(indexed.deploymentsFile, indexed.protocols)[0] as ChainDeployments,
    refreshSeconds: 600,
    log: { info: say, warn: say, error: say } as unknown as Log,
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
  (engine) => `lending ingest on ${engine}: endpoints that switch to another chain`,
  { rounds: 15, thorough: true },
  (engine) => {
    let chain: TestChain;
    let indexed: IndexedChain & { remove(): Promise<void> };
    /** Of the same id, with another genesis. */
    let other: TestChain;
    let endpoints: [FaultyRpc, FaultyRpc];

    before(async () => {
      chain = await createTestChain();
      indexed = await indexLending(chain);
      await mineBusyBlocks(chain, { blocks: 20, seed: 1 });
      await chain.mine(100);
      other = await createTestChain({ timestamp: 1_600_000_000 });
      await mineBusyBlocks(other, { blocks: 200, seed: 2 });
      const start = (seed: number) => startFaultyRpc({ target: chain.url, faults: {}, seed });
      endpoints = [await start(1), await start(2)];
    });
    after(async () => {
      for (const each of endpoints ?? []) await each.close();
      await other?.stop();
      await indexed?.remove();
      await chain?.stop();
    });

    const isAtHead = async (store: Store) => {
      const checkpoint = await store.get(checkpoints, { chainId: 8453 });
      const head = await chain.headNumber();
      return checkpoint?.blockNumber === head && checkpoint.blockHash === (await chain.header(head)).hash;
    };
    const rows = async (store: Store) => [
      await store.find(entities, {}),
      await store.find(entityHistory, {}),
    ];

    it("both, and back: nothing is deleted, nothing mixed", async () => {
      const { store, remove } = await engine.open();
      await store.declare(COLLECTIONS);
      const ingest = run(store, { indexed, urls: endpoints.map(({ url }) => url) });
      try {
        await until("the head", () => isAtHead(store));
        await until("a final block", async () => (await store.count(finalBlocks, {})) > 0);
        const before = await rows(store);
        for (const endpoint of endpoints) endpoint.pointTo(other.url);
        const said = () => ingest.lines.filter((line) => line.includes("contradicts the index:"));
        await until("the sentence", () => said().length > 0);
        await mineBusyBlocks(other, { blocks: 3, seed: 3 });
        await sleep(1_000);
        expect(await rows(store)).to.deep.equal(before);
        expect(said()).to.have.length(1);
        expect(said()[0]).to.contain("npm run reindex -- --chain 8453");
        await mineBusyBlocks(chain, { blocks: 3, seed: 4 });
        for (const endpoint of endpoints) endpoint.pointTo(chain.url);
        await until("the head again", () => isAtHead(store));
        expectSame(await dumpStore(store, indexed), await dumpFreshIndex(indexed));
        expect(ingest.lines.join("\n")).not.to.contain("reorganised");
      } finally {
        await ingest.stop();
        await remove();
      }
    });
  },
);
