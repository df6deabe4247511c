/** The ingests of npm start at the head of a made up chain, with what they ask of its node counted. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HeadSharing } from "../deploy/local/head-sharing.ts";
import { type SupervisedProcess, superviseProcess } from "../deploy/local/supervisor.ts";
import {
  COLLECTIONS as EVM_DEX,
  checkpoints as evmDexCheckpoints,
} from "../services/evm-dex/store/collections.ts";
import {
  COLLECTIONS as LENDING,
  checkpoints as lendingCheckpoints,
} from "../services/lending/store/collections.ts";
import { createLog } from "../services/shared/logging/log.ts";
import { openStore } from "../services/shared/storage/open.ts";
import type { Store } from "../services/shared/storage/port.ts";
import { HeadChain, type HeadShape, headDeployments, PAST_BLOCKS } from "./chains/head-chain.ts";
import { type Counted, type NodePlan, startHeadNode } from "./chains/head-node.ts";

const CHAIN_ID = 8453;
export const CLIENTS = ["watcher", "evm-dex", "lending"] as const;
export type Client = (typeof CLIENTS)[number];
const INGESTS = ["evm-dex", "lending"] as const;

export interface HeadRunOptions {
  readonly shape: HeadShape;
  readonly plan?: NodePlan;
  /** Blocks that are counted. */
  readonly blocks: number;
  /** Blocks after both ingests have come to the head, in which the block time is learnt. */
  readonly warmUp: number;
  /** One watcher for both ingests, as in npm start; else each watches by itself. Default true. */
  readonly isShared?: boolean;
  /** HEAD_POLL_MS; default 250. */
  readonly pollMs?: number;
}

export interface HeadRun {
  readonly blocks: number;
  readonly counted: Readonly<Record<Client, Counted>>;
  /** Most blocks that an ingest was behind, looked at ten times a second. */
  readonly mostBehind: Readonly<Record<(typeof INGESTS)[number], number>>;
  /** Seconds between a block and its checkpoint: the median of both ingests' blocks. */
  readonly lagSeconds: number;
}

const LOOK_MS = 100;
/** After its timestamp a block is there, with some jitter. */
const PUBLISHED_MS = 300;
const JITTER_MS = 200;
const START_TIMEOUT_MS = 300_000;

export async function runAtHead(options: HeadRunOptions): Promise<HeadRun> {
  const { shape, blocks, warmUp, isShared = true, pollMs = 250 } = options;
  const folder = await mkdtemp(join(tmpdir(), "chaintables-bench-head-"));
  const startS = Math.floor(Date.now() / 1_000) - shape.blockSeconds * (PAST_BLOCKS + 1);
  const chain = new HeadChain(shape, startS);
  const publishedAtMs = (n: number) =>
    (startS + shape.blockSeconds * n) * 1_000 + PUBLISHED_MS + ((n * 7_919) % JITTER_MS);
  const head = () => {
    let number = Math.floor((Date.now() / 1_000 - startS) / shape.blockSeconds);
    while (publishedAtMs(number) > Date.now()) number -= 1;
    return number;
  };
  const node = await startHeadNode(chain, { head, ...(options.plan && { plan: options.plan }) });
  const log = createLog({ name: "bench", level: "warn", destination: 2 });
  const urls = new Map([[CHAIN_ID, [node.urlOf("watcher")]]]);
  const heads = new HeadSharing({ urls, pollMs, log });
  const ingests: SupervisedProcess[] = [];
  const stores: Store[] = [];
  try {
    const deployments = join(folder, "deployments.json");
    await writeFile(deployments, JSON.stringify(headDeployments(CHAIN_ID)));
    for (const name of INGESTS) {
      ingests.push(
        superviseProcess({
          name,
          program: { entry: new URL(`../services/${name}/ingest/main.ts`, import.meta.url) },
          env: {
            EVM_RPC_8453: node.urlOf(name),
            EVM_RPC_1: undefined,
            SOLANA_RPC: undefined,
            START_BLOCK_8453: "0",
            DATA_DIR: folder,
            DEPLOYMENTS_FILE: deployments,
            MONGODB_URL: undefined,
            REDIS_URL: undefined,
            LOG_LEVEL: "warn",
            LOG_FORMAT: "json",
            INGEST_METRICS_PORT: "0",
            HEAD_POLL_MS: String(pollMs),
          },
          log,
          onLine: (line) => console.error(`${name}: ${line}`),
          ...(isShared && { onMessage: (message, reply) => heads.receive(message, reply) }),
        }),
      );
    }
    const [evmDex, lending] = await openStores(folder, stores);
    const indexed = async () => ({
      "evm-dex": (await evmDex.get(evmDexCheckpoints, { chainId: CHAIN_ID }))?.blockNumber ?? -1,
      lending: (await lending.get(lendingCheckpoints, { chainId: CHAIN_ID }))?.blockNumber ?? -1,
    });
    const until = async (isThere: () => Promise<boolean>, what: string) => {
      const endMs = Date.now() + START_TIMEOUT_MS;
      while (!(await isThere())) {
        if (Date.now() > endMs) throw new Error(`${what}: ${JSON.stringify(await indexed())} of ${head()}`);
        await sleep(LOOK_MS);
      }
    };
    const blocksALook = Math.ceil(pollMs / 1_000 / shape.blockSeconds);
    await until(async () => {
      const at = await indexed();
      return Math.min(at["evm-dex"], at.lending) >= head() - blocksALook;
    }, "The ingests did not come to the head");
    const from = head() + warmUp;
    await until(async () => (await indexed())["evm-dex"] >= from, "The head was not followed");
    await until(async () => (await indexed()).lending >= from, "The head was not followed");

    node.reset();
    const first = head();
    const mostBehind = { "evm-dex": 0, lending: 0 };
    const lagsMs: number[] = [];
    const last = { "evm-dex": first, lending: first };
    while (Math.min(last["evm-dex"], last.lending) < first + blocks) {
      await sleep(LOOK_MS);
      const [at, now] = [await indexed(), head()];
      for (const name of INGESTS) {
        mostBehind[name] = Math.max(mostBehind[name], now - at[name]);
        if (at[name] > last[name]) lagsMs.push(Date.now() - publishedAtMs(at[name]));
        last[name] = at[name];
      }
      if (now > first + 3 * blocks + 60) throw new Error(`Too slow: ${JSON.stringify(at)} of ${now}`);
    }
    const seen = Math.max(last["evm-dex"], last.lending) - first;
    const counted = Object.fromEntries(CLIENTS.map((name) => [name, structuredClone(node.counted(name))]));
    const lagSeconds = (lagsMs.sort((a, b) => a - b)[Math.floor(lagsMs.length / 2)] ?? 0) / 1_000;
    return { blocks: seen, counted: counted as Record<Client, Counted>, mostBehind, lagSeconds };
  } finally {
    await Promise.all(ingests.map((ingest) => ingest.stop()));
    await heads.stop();
    for (const store of stores) await store.close();
    await node.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function openStores(dataDir: string, opened: Store[]): Promise<[Store, Store]> {
  for (const [service, collections] of [["evm-dex", EVM_DEX] as const, ["lending", LENDING] as const]) {
    const store = await openStore({ service, dataDir });
    opened.push(store);
    await store.declare(collections);
  }
  return opened as [Store, Store];
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
