import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { encodeFunctionData, type Hex } from "viem";
import { factoryAbi, poolAbi } from "../../../deploy/devnet/contracts/uniswap.ts";
import { createRandom, type Random } from "../../../deploy/devnet/random.ts";
import type { TestChain } from "../../../deploy/devnet/testkit.ts";
import { ChainMoved } from "../../shared/chain/evm/links.ts";
import type { EvmSource } from "../../shared/chain/evm/port.ts";
import { createEvmSource, type SourceOptions } from "../../shared/chain/evm/source.ts";
import type { Store } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import type { ChainMetrics } from "../ingest/metrics.ts";
import { ChainSync } from "../ingest/sync.ts";
import type { LendingProtocol } from "../protocols/protocol.ts";
import { UnitTable } from "../protocols/unit-set.ts";
import { type CheckpointRow, COLLECTIONS, checkpoints, tokens, units } from "../store/collections.ts";
import { fromStateText } from "../store/state-text.ts";
import { poolProtocol } from "./pool-protocol.ts";

/** A chain and what of it is indexed. */
export interface IndexedChain {
  readonly url: string;
  readonly deploymentsFile: string;
  readonly protocols: readonly LendingProtocol[];
}

/** The chain's Uniswap pools as units; `remove` deletes the deployments file. */
export async function indexPools(chain: TestChain): Promise<IndexedChain & { remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), "chaintables-lending-"));
  const deploymentsFile = join(directory, "deployments.json");
  const pools = { factory: chain.deployment.factory, fromBlock: chain.deployment.deployBlock };
  const chains = [{ chainId: 8453, name: "Base", protocols: { pools } }];
  await writeFile(deploymentsFile, JSON.stringify({ lending: { chains } }));
  return {
    url: chain.url,
    deploymentsFile,
    protocols: [poolProtocol as LendingProtocol],
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** An ingest in this process, driven step by step. */
export interface TestIngest {
  readonly store: Store;
  readonly source: EvmSource;
  /** What it logged. */
  readonly lines: string[];
  /** Goes on until the store stands on the chain's head. */
  catchUp(): Promise<void>;
  /** One step towards the head as of now. */
  step(): Promise<void>;
  checkpoint(): CheckpointRow;
  close(): Promise<void>;
}

export interface TestIngestOptions {
  readonly store?: Store;
  readonly urls?: readonly string[];
  readonly refreshSeconds?: number;
  readonly metrics?: ChainMetrics;
  readonly sourceOptions?: SourceOptions;
}

export async function startTestIngest(
  chain: IndexedChain,
  options: TestIngestOptions = {},
): Promise<TestIngest> {
  const store = options.store ?? (await openSqliteStore({ path: ":memory:" }));
  await store.declare(COLLECTIONS);
  const source = createEvmSource({
    chainId: 8453,
    urls: options.urls ?? [chain.url],
    options: options.sourceOptions ?? {},
  });
  const stop = new AbortController();
  const lines: string[] = [];
  const sync = await ChainSync.open({
    store,
    source,
    chain: loadDeployments(chain.deploymentsFile, chain.protocols)[0] as ChainDeployments,
    refreshSeconds: options.refreshSeconds ?? 600,
    signal: stop.signal,
    log: (_level, message) => lines.push(message),
    report: () => {},
    guard: () => [],
    metrics: options.metrics,
  });
  return {
    store,
    source,
    lines,
    async catchUp() {
      for (;;) {
        const head = await source.head();
        try {
          await sync.step(head);
        } catch (error) {
          if (!(error instanceof ChainMoved)) throw error;
        }
        if (sync.checkpoint?.blockHash === head.hash) return;
      }
    },
    async step() {
      await sync.step(await source.head());
    },
    checkpoint() {
      if (sync.checkpoint === undefined) throw new Error("Nothing is indexed yet.");
      return sync.checkpoint;
    },
    async close() {
      stop.abort();
      await source.close();
      if (options.store === undefined) await store.close();
    },
  };
}

/** What of a store follows from the chain: every unit's state and the rows made of them, tokens, and the block. */
export interface Dump {
  readonly block: string;
  readonly units: readonly unknown[];
  readonly rows: readonly unknown[];
  readonly tokens: readonly unknown[];
}

/** The same for every ingest that stands on a block: not when units were read, nor how often that failed. */
export async function dumpStore(store: Store, chain: IndexedChain): Promise<Dump> {
  const checkpoint = await store.get(checkpoints, { chainId: 8453 });
  if (checkpoint === undefined) throw new Error("The store has no checkpoint.");
  const rows = await store.find(units, {});
  const table = new UnitTable();
  for (const { kind, id, state, block, time } of rows) {
    if (state === null || block === null || time === null) continue;
    table.put({ kind, id, state: fromStateText(state), block, time });
  }
  const at = { chainId: 8453, time: checkpoint.blockTime };
  const [deployed] = loadDeployments(chain.deploymentsFile, chain.protocols);
  return {
    block: `${checkpoint.blockNumber} ${checkpoint.blockHash}`,
    units: rows.map(({ kind, id, state, failures }) => ({ kind, id, state, isReadable: failures === 0 })),
    rows: (deployed?.protocols ?? []).flatMap(({ protocol, deployment }) => [
      ...protocol.rows(table, { ...at, deployment }),
    ]),
    tokens: await store.find(tokens, {}),
  };
}

/** A store indexed by an ingest that has seen nothing but the chain as it is. */
export async function dumpFreshIndex(chain: IndexedChain): Promise<Dump> {
  const ingest = await startTestIngest(chain);
  try {
    await ingest.catchUp();
    return await dumpStore(ingest.store, chain);
  } finally {
    await ingest.close();
  }
}

/** Fails with the first part that differs: a whole store in one diff is unreadable. */
export function expectSame(actual: Dump, expected: Dump): void {
  expect(actual.block, "block").to.equal(expected.block);
  for (const part of ["units", "rows", "tokens"] as const)
    expect(sorted(actual[part]), part).to.deep.equal(sorted(expected[part]));
}

/** Rows come in the order in which units were found. */
function sorted(list: readonly unknown[]): readonly unknown[] {
  const textOf = (item: unknown) => JSON.stringify(item);
  return [...list].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

/** Queues what makes a block busy: trades and positions, and now and then a pool that was not there. */
export async function queueActions(chain: TestChain, random: Random): Promise<void> {
  await chain.send(chain.randomActions(random.below(1e9), random.below(4)));
  if (random.next() < 0.2) await createPool(chain, random);
}

/** Some pair of tokens at some fee; where that pool is there already, the transaction fails. */
export async function createPool(chain: TestChain, random: Random): Promise<void> {
  await chain.sendTransactions([poolCreation(chain, random)]);
}

export function poolCreation(chain: TestChain, random: Random) {
  const tokens = Object.values(chain.deployment.tokens).map(({ address }) => address);
  const [a, b] = [random.pick(tokens), random.pick(tokens)];
  const data = encodeFunctionData({
    abi: factoryAbi,
    functionName: "createPool",
    args: [a, b, random.pick([500, 3000, 10000])],
  });
  const from = random.pick(chain.accounts);
  return { from, to: chain.deployment.factory, data, gas: "0xe00000" as Hex };
}

/** Sets a pool's first price. */
export function initialization(chain: TestChain, pool: Hex) {
  const data = encodeFunctionData({ abi: poolAbi, functionName: "initialize", args: [2n ** 96n] });
  return { from: chain.accounts[1] as Hex, to: pool, data, gas: "0xe00000" as Hex };
}

export async function mineBusyBlocks(chain: TestChain, of: { blocks: number; seed: number }): Promise<void> {
  const random = createRandom(of.seed);
  for (let i = 0; i < of.blocks; i++) {
    await queueActions(chain, random);
    await chain.mine(1, { intervalS: 2 });
  }
}
