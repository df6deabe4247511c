import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { encodeFunctionData, type Hex } from "viem";
import { factoryAbi } from "../../../deploy/devnet/contracts/uniswap.ts";
import { deploymentsDocument } from "../../../deploy/devnet/deployments-file.ts";
import { createRandom, type Random } from "../../../deploy/devnet/random.ts";
import type { TestChain } from "../../../deploy/devnet/testkit.ts";
import { createTraders } from "../../../deploy/devnet/traders.ts";
import { ReorgDetected } from "../../shared/chain-errors.ts";
import type { EvmSource } from "../../shared/evm/port.ts";
import { createEvmSource, type SourceOptions } from "../../shared/evm/source/source.ts";
import type { Store } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import type { ChainMetrics } from "../ingest/metrics.ts";
import { ChainSync } from "../ingest/sync.ts";
import { EntityMap } from "../protocols/entity-map.ts";
import { PROTOCOLS } from "../protocols/index.ts";
import type { LendingProtocol } from "../protocols/protocol.ts";
import type { LendingRow } from "../protocols/rows.ts";
import { type CheckpointRow, COLLECTIONS, checkpoints, entities, tokens } from "../store/collections.ts";
import { fromStateText } from "../store/state-text.ts";
import { poolProtocol } from "./pool-protocol.ts";

/** All that is indexed, and pools. */
export const WITH_POOLS: readonly LendingProtocol[] = [...PROTOCOLS, poolProtocol as LendingProtocol];

/** A chain and what of it is indexed. */
export interface IndexedChain {
  readonly url: string;
  readonly deploymentsFile: string;
  readonly protocols: readonly LendingProtocol[];
}

/** The lending protocols that the chain has, and its Uniswap pools as entities; `more` is added to the deployments; `remove` deletes the deployments file. */
export async function indexLending(
  chain: TestChain,
  more: Readonly<Record<string, unknown>> = {},
): Promise<IndexedChain & { remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), "chaintables-lending-"));
  const deploymentsFile = join(directory, "deployments.json");
  const pools = { factory: chain.deployment.factory, fromBlock: chain.deployment.deployBlock };
  const { lending } = deploymentsDocument(chain.deployment);
  const chains = lending.chains.map((each) => ({
    ...{ ...each, ...more },
    protocols: { ...each.protocols, pools },
  }));
  await writeFile(deploymentsFile, JSON.stringify({ lending: { chains } }));
  return {
    url: chain.url,
    deploymentsFile,
    protocols: WITH_POOLS,
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** An ingest in this process, driven step by step. */
export interface TestIngest {
  readonly store: Store;
  readonly source: EvmSource;
  /** What it logged. */
  readonly lines: string[];
  /** Continues until the store is at the chain's head. */
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
          if (!(error instanceof ReorgDetected)) throw error;
        }
        if (sync.checkpoint?.blockHash === head.hash) return await sync.settled();
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

/**
 * What of a store follows from the chain: entities, the rows made of them, tokens, and the block. States are those of
 * pools alone: others hold interest up to the block that they were read at, and prices that no event reports.
 */
export interface Dump {
  readonly block: string;
  readonly units: readonly object[];
  readonly rows: readonly LendingRow[];
  readonly tokens: readonly object[];
}

/** Equal for every ingest at a block: without the times and failures of readings. */
export async function dumpStore(store: Store, chain: IndexedChain): Promise<Dump> {
  const checkpoint = await store.get(checkpoints, { chainId: 8453 });
  if (checkpoint === undefined) throw new Error("The store has no checkpoint.");
  const rows = await store.find(entities, {});
  const table = new EntityMap();
  for (const { kind, id, state, block, time } of rows) {
    if (state === null || block === null || time === null) continue;
    table.put({ kind, id, state: fromStateText(state), block, time });
  }
  const at = { chainId: 8453, time: checkpoint.blockTime };
  const [deployed] = loadDeployments(chain.deploymentsFile, chain.protocols);
  return {
    block: `${checkpoint.blockNumber} ${checkpoint.blockHash}`,
    units: rows.map(({ kind, id, state, failures }) => ({
      kind,
      id,
      isReadable: failures === 0,
      ...(POOL_KINDS.has(kind) && { state }),
    })),
    rows: (deployed?.protocols ?? []).flatMap(({ protocol, deployment }) => [
      ...protocol.rows(table, { ...at, deployment }),
    ]),
    tokens: await store.find(tokens, {}),
  };
}

const POOL_KINDS = new Set(poolProtocol.kinds);

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
  for (const part of ["units", "tokens"] as const)
    expect(sorted(actual[part]), part).to.deep.equal(sorted(expected[part]));
  const wanted = new Map(expected.rows.map((row) => [nameOf(row), row]));
  expect(actual.rows.map(nameOf)).to.have.members([...wanted.keys()]);
  for (const row of actual.rows) expectClose(row, wanted.get(nameOf(row)) as LendingRow);
}

/** Rows are in the order in which entities were found. */
function sorted(list: readonly object[]): readonly object[] {
  const textOf = (item: object) => JSON.stringify(item);
  return [...list].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

function nameOf(row: LendingRow): string {
  if (row.table === "vault") return `${row.protocolId} ${row.address} ${row.underlying.address}`;
  return `${row.protocolId} ${row.table === "vault-market" ? row.vaultAddress : ""} ${row.marketId}`;
}

/** Interest may have been rounded at other blocks on the way; prices have no event. */
function expectClose(actual: LendingRow, expected: LendingRow): void {
  for (const [name, value] of Object.entries(expected)) {
    const own = actual[name as keyof LendingRow];
    const where = `${nameOf(expected)} ${name}`;
    if (typeof value === "number" && !Number.isInteger(value))
      expect(own as unknown, where).to.be.closeTo(value, Math.abs(value) * 1e-9);
    else expect(own, where).to.deep.equal(value);
  }
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

/** Sends what a random block has, and mines it. */
export type MineBlock = (random: Random, options: { intervalS: number }) => Promise<void>;

/** Trades on pools; new pools; in half of the blocks, what lenders and borrowers do. */
export function busyMiner(chain: TestChain): MineBlock {
  const traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 5 });
  return async (random, { intervalS }) => {
    await queueActions(chain, random);
    if (random.next() < 0.5) {
      await chain.mine(1, { intervalS });
    } else {
      const { timestamp } = await chain.header(await chain.headNumber());
      await traders.tradeBlock({ timestamp: timestamp + intervalS, swaps: 0 });
    }
  };
}

/** Blocks of all that can happen. */
export async function mineBusyBlocks(
  chain: TestChain,
  options: { blocks: number; seed: number },
): Promise<void> {
  const random = createRandom(options.seed);
  const mine = busyMiner(chain);
  for (let i = 0; i < options.blocks; i++) await mine(random, { intervalS: 2 });
}
