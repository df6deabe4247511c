import { expect } from "chai";
import { deskPools } from "../../../../deploy/devnet/plan.ts";
import { createRandom } from "../../../../deploy/devnet/random.ts";
import type { TestChain } from "../../../../deploy/devnet/testkit.ts";
import { ReorgDetected } from "../../../shared/chain-errors.ts";
import { finalBlocks } from "../../../shared/evm/finality/finality.ts";
import type { EvmSource } from "../../../shared/evm/port.ts";
import { withPortal } from "../../../shared/evm/portal/with-portal.ts";
import { createEvmSource, type SourceLog, type SourceOptions } from "../../../shared/evm/source/source.ts";
import { readInThread } from "../../../shared/evm/thread/thread.ts";
import { headers } from "../../../shared/index/evm/headers.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { openSqliteStore } from "../../../shared/storage/sqlite/store.ts";
import { expectSame } from "../../../shared/testkit/expect-same.ts";
import { type ChainDeployments, loadDeployments } from "../../deployments.ts";
import { discoverPools } from "../../ingest/discover/discover-pools.ts";
import type { WrittenBatch } from "../../ingest/retention/retention.ts";
import { openCheckpoint } from "../../ingest/start-block.ts";
import { ChainSync } from "../../ingest/sync.ts";
import { COLLECTIONS, checkpoints } from "../../store/collections.ts";
import { observations } from "../../store/observations.ts";
import { actOnAerodrome } from "../v2/aerodrome-busy.ts";

/** An ingest in this process, driven step by step. */
export interface TestIngest {
  readonly store: Store;
  readonly source: EvmSource;
  readonly sync: ChainSync;
  /** Runs until the store reaches the chain's head. */
  catchUp(): Promise<void>;
  /** The checkpoint's. */
  block(): number;
  close(): Promise<void>;
}

export async function startTestIngest(
  chain: Pick<TestChain, "url" | "deploymentsFile">,
  options: {
    store?: Store;
    startBlock?: number;
    urls?: readonly string[];
    maxAddresses?: number;
    afterBatch?: (batch: WrittenBatch) => Promise<void>;
    /** Reads history there. */
    portalUrl?: string;
    log?: (message: string) => void;
    sourceOptions?: Omit<SourceOptions, "clock" | "fetch" | "socketClass">;
  } = {},
): Promise<TestIngest> {
  const store = options.store ?? (await openSqliteStore({ path: ":memory:" }));
  await store.declare(COLLECTIONS);
  const { portalUrl, log = () => {} } = options;
  const config = {
    chainId: 8453,
    urls: options.urls ?? [chain.url],
    options: options.sourceOptions ?? {},
    portal:
      portalUrl === undefined
        ? undefined
        : { url: portalUrl, options: { gapMs: 0, receiptEvery: 1, finalForMs: 0 } },
  };
  const say: SourceLog = (message, { reason }) => log(`${message}: ${reason}`);
  const nodes = createEvmSource(config);
  const { portal } = config;
  const source = portal === undefined ? nodes : withPortal(nodes, { ...portal, log: say });
  const stop = new AbortController();
  const deps = {
    store,
    source,
    openBulkSource: () => readInThread(source, { ...config, ...(portal && { log: say }) }),
    chain: loadDeployments(chain.deploymentsFile)[0] as ChainDeployments,
    signal: stop.signal,
    log: (_level: string, message: string) => options.log?.(message),
    report: () => {},
    guard: () => [],
    maxAddresses: options.maxAddresses,
    ...(options.afterBatch && { afterBatch: options.afterBatch }),
  };
  const checkpoint = await openCheckpoint(store, {
    source,
    anchors: deps.chain.stablecoins,
    startBlock: options.startBlock ?? 0,
  });
  const { factories } = deps.chain;
  const head = (await source.head()).number;
  const before = {
    ...{ ...deps, factories, toBlock: Math.min(checkpoint.fromBlock - 1, head) },
    indexedTo: checkpoint.blockNumber,
  };
  await discoverPools(store, before);
  const sync = await ChainSync.open(deps, checkpoint);
  return {
    store,
    source,
    sync,
    async catchUp() {
      for (;;) {
        const head = await source.head();
        try {
          await sync.step(head);
          const { blockNumber, blockHash } = sync.checkpoint;
          if (blockNumber === head.number && blockHash === head.hash) return await sync.settled();
        } catch (error) {
          if (!(error instanceof ReorgDetected)) throw error;
          await sync.handleReorg().catch((failed: unknown) => {
            if (!(failed instanceof ReorgDetected)) throw failed;
          });
        }
      }
    },
    block: () => sync.checkpoint.blockNumber,
    async close() {
      stop.abort();
      await source.close();
      // One that was given stays open.
      if (options.store === undefined) await store.close();
    },
  };
}

const PASSING: ReadonlySet<unknown> = new Set([headers, finalBlocks, observations]);

/**
 * All rows of the store, by collection, without traces of how they got there: the last seen head, headers that a run
 * from the start does not keep, what was read at earlier heads, and the last seen final block.
 */
export async function dumpStore(store: Store): Promise<Record<string, unknown[]>> {
  const dump: Record<string, unknown[]> = {};
  for (const collection of COLLECTIONS) {
    const rows = await store.find(collection, {});
    if (PASSING.has(collection)) continue;
    dump[collection.name] =
      collection === checkpoints ? rows.map((row) => ({ ...row, chainHead: 0 })) : [...rows];
  }
  return dump;
}

/** A store indexed from the start by an ingest that has seen nothing else. */
export async function dumpFreshIndex(
  chain: Pick<TestChain, "url" | "deploymentsFile">,
): Promise<Record<string, unknown[]>> {
  const ingest = await startTestIngest(chain);
  try {
    await ingest.catchUp();
    return await dumpStore(ingest.store);
  } finally {
    await ingest.close();
  }
}

/** Blocks with up to three random actions each on all v3 pools there are, some with none. */
export async function mineBusyBlocks(
  chain: TestChain,
  { seed, blocks }: { blocks: number; seed: number },
): Promise<void> {
  const random = createRandom(seed);
  const pools = deskPools(chain.deployment);
  for (let i = 0; i < blocks; i++) {
    await chain.send(chain.randomActions(random.below(1e9), random.below(4), pools));
    if (chain.deployment.aerodrome !== undefined) await actOnAerodrome(chain, random, 3);
    await chain.mine(1, { intervalS: 2 });
  }
}

/** Fails with the name of the first collection that differs: a whole store in one diff is unreadable. */
export function expectSameStore(
  actual: Record<string, unknown[]>,
  expected: Record<string, unknown[]>,
): void {
  expect(Object.keys(actual)).to.deep.equal(Object.keys(expected));
  for (const [name, rows] of Object.entries(expected)) expectSame(actual[name], rows, name);
}
