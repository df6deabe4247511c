import { randomInt } from "node:crypto";
import { join } from "node:path";
import { HISTORY_S } from "../history.ts";
import type { GeneratorState } from "./generator.ts";
import { startGeyserServer } from "./geyser/server.ts";
import {
  computeDueMs,
  computeSize,
  computeTime,
  continueAt,
  createSchedule,
  findBeginning,
  type ScheduleData,
} from "./schedule.ts";
import { createLiveChain, type LiveChain } from "./server/live-chain.ts";
import { type RpcServer, startRpcServer } from "./server/rpc-server.ts";
import {
  loadChain,
  loadPort,
  loadSlot,
  type SavedChain,
  saveChain,
  savePort,
  saveSlot,
} from "./state-file.ts";

export interface SolanaDevnetOptions {
  /** Folder that keeps the chain, in `solana-devnet/`. */
  readonly dataDir: string;
  /** 0 = a free one, the same in every run where that can be. */
  readonly port: number;
  /** Of Yellowstone's gRPC interface; undefined = none. */
  readonly grpcPort?: number | undefined;
  /** Default 400. */
  readonly slotMs?: number;
  /** How far back a new chain begins; default 8 days, 0 = now. */
  readonly historyS?: number;
  readonly say?: (message: string) => void;
}

export interface SolanaDevnet {
  readonly url: string;
  readonly wsUrl: string;
  readonly grpcUrl: string | undefined;
  readonly genesisHash: string;
  /** Whether it goes on with the chain of an earlier run. */
  readonly resumed: boolean;
  readonly tokens: readonly { readonly symbol: string; readonly mint: string }[];
  readonly pools: readonly { readonly name: string; readonly address: string }[];
  /** Makes slots until the signal aborts, then saves the chain. */
  run(signal: AbortSignal): Promise<void>;
}

const FIRST_SLOT = 300_000_000;
/** Slots between two snapshots: a restart makes at most twice as many again. */
const SNAPSHOT_EVERY = 128;
/** Slots after the last saved one that clients may have seen before a kill. */
const UNSAVED_SLOTS = 8;
/** A process that is later than this was suspended: missed slots are not made up. */
const MAX_DELAY_MS = 30_000;

/**
 * A chain of wallets that trade. It is a function of its seed and of its slots' times: after a stop or kill it is made
 * again from a snapshot, block for block, so that everything it ever served stays true.
 */
export async function openSolanaDevnet(options: SolanaDevnetOptions): Promise<SolanaDevnet> {
  const { dataDir, port, grpcPort, slotMs = 400, historyS = HISTORY_S, say = () => {} } = options;
  const file = join(dataDir, "solana-devnet", "chain.json");
  const saved = await loadChain(file, say);
  const opened =
    saved === undefined ? create({ slotMs, historyS }) : resume(saved, await loadSlot(file, saved.seed));
  const { chain, seed } = opened;
  let { schedule, snapshots } = opened;
  await saveChain(file, { seed, schedule, snapshots });
  await saveSlot(file, { seed, slot: chain.slot() });
  const server = await listen(chain, { port, file });
  const geyser = grpcPort === undefined ? undefined : await startGeyserServer(chain, { port: grpcPort });

  async function advance(): Promise<void> {
    const next = chain.slot() + 1;
    const now = Date.now();
    if (now - computeDueMs(schedule, next) > MAX_DELAY_MS) {
      schedule = continueAt(schedule, { fromSlot: next, startMs: now });
      await saveChain(file, { seed, schedule, snapshots });
    }
    chain.advance(computeTime(schedule, next));
    if (next % 2 === 0) await saveSlot(file, { seed, slot: next });
    if (next % SNAPSHOT_EVERY !== 0) return;
    snapshots = [...snapshots.slice(-1), chain.generator.state()];
    await saveChain(file, { seed, schedule, snapshots });
  }

  const { market } = chain.generator;
  return {
    url: server.url,
    wsUrl: server.wsUrl,
    grpcUrl: geyser?.url,
    genesisHash: chain.genesisHash,
    resumed: saved !== undefined,
    tokens: listTokens(chain),
    pools: market.pools.map(({ name, address }) => ({ name, address })),
    async run(signal) {
      while (!signal.aborted) {
        const waitMs = computeDueMs(schedule, chain.slot() + 1) - Date.now();
        if (waitMs > 0) await sleep(waitMs, signal);
        else await advance();
      }
      await geyser?.close();
      await server.close();
      // No client has seen a later slot.
      await saveSlot(file, { seed, slot: chain.slot() - UNSAVED_SLOTS });
    },
  };
}

interface Opened {
  readonly chain: LiveChain;
  readonly seed: number;
  readonly schedule: ScheduleData;
  readonly snapshots: readonly GeneratorState[];
}

function create({ slotMs, historyS }: { slotMs: number; historyS: number }): Opened {
  const seed = randomInt(2 ** 31);
  const schedule = createSchedule({ firstSlot: FIRST_SLOT, nowMs: Date.now(), historyS, slotMs });
  const chain = createLiveChain({ seed, time: findBeginning(schedule), slot: FIRST_SLOT - 1 });
  const snapshots = [chain.generator.state()];
  makeUpTo(chain, schedule, FIRST_SLOT + schedule.history.length - 1);
  return { chain, seed, schedule, snapshots };
}

/** Makes the blocks since the older snapshot again, as they were, and goes on from now. */
function resume({ seed, schedule, snapshots }: SavedChain, lastSlot: number): Opened {
  const [resumed] = snapshots;
  const chain = createLiveChain({
    seed,
    time: findBeginning(schedule),
    slot: FIRST_SLOT - 1,
    ...(resumed !== undefined && { resume: resumed }),
  });
  makeUpTo(chain, schedule, lastSlot + UNSAVED_SLOTS);
  const next = { fromSlot: chain.slot() + 1, startMs: Date.now() };
  return { chain, seed, schedule: continueAt(schedule, next), snapshots };
}

function makeUpTo(chain: LiveChain, schedule: ScheduleData, slot: number): void {
  while (chain.slot() < slot) {
    const next = chain.slot() + 1;
    chain.advance(computeTime(schedule, next), computeSize(schedule, next));
  }
}

/** On a free port: that of the last run where it is still free, so that who knows it finds the chain again. */
async function listen(chain: LiveChain, { port, file }: { port: number; file: string }): Promise<RpcServer> {
  const server =
    port === 0 ? await startOnPortOrFree(chain, await loadPort(file)) : await startRpcServer(chain, { port });
  await savePort(file, Number(new URL(server.url).port));
  return server;
}

async function startOnPortOrFree(chain: LiveChain, port: number): Promise<RpcServer> {
  try {
    return await startRpcServer(chain, { port });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE")
      return startRpcServer(chain);
    throw error;
  }
}

function listTokens({ generator }: LiveChain) {
  const pairs = generator.market.pools.flatMap(({ symbols, mints }) => [
    [symbols[0], mints[0]] as const,
    [symbols[1], mints[1]] as const,
  ]);
  return [...new Map(pairs)].map(([symbol, mint]) => ({ symbol, mint }));
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
