/** One process of the built ingest on a chain of a bench, timed from its start to its last row. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CheckpointRow, COLLECTIONS } from "../services/evm-dex/store/collections.ts";
import { getCheckpoint } from "../services/evm-dex/store/queries.ts";
import { INGEST_MALLOC } from "../services/shared/process/malloc.ts";
import { leases } from "../services/shared/storage/lease.ts";
import { openStore } from "../services/shared/storage/open.ts";
import { removeWhere, type Store } from "../services/shared/storage/port.ts";
import { IMAGE_FLAGS, INGEST_FLAGS } from "./image-flags.ts";
import { cpuSecondsOf, peakRssOf, writtenMbOf } from "./process-cost.ts";

export const CHAIN_ID = 8453;
const built = fileURLToPath(new URL("../dist/", import.meta.url));
const COMMAND = [...INGEST_FLAGS, join(built, "services/evm-dex/ingest/main.js")];
/** How often the store is looked at, on the cores that are measured. */
const POLL_MS = 25;

export interface Run {
  readonly seconds: number;
  readonly events: number;
  readonly peakRssMb: number;
  /** Of all threads of the process: what it cost, however busy the machine was. */
  readonly cpuSeconds: number;
  /** Megabytes that it gave the kernel for the disk, each time that a page is written; absent for the yardstick. */
  readonly writtenMb?: number;
  /** Time and CPU as they were when the marked block was stored. */
  readonly atMark?: { readonly seconds: number; readonly cpuSeconds: number };
}

/** A finished chain to index. */
export interface ToIndex {
  readonly url: string;
  readonly deploymentsFile: string;
  readonly headNumber: number;
}

/** Indexes the whole chain into an empty store; `check` verifies what was stored and returns the number of events. */
export async function runIngest(
  on: ToIndex,
  options: {
    mongodbUrl: string | undefined;
    /** `dataDir` is the folder of the store, which is deleted afterwards. */
    check: (store: Store, dataDir: string) => Promise<number>;
    /** Further settings of the process. */
    env?: Readonly<Record<string, string>>;
    /** Default POLL_MS. */
    pollMs?: number;
    /** A block on the way, whose time and cost are noted. */
    markBlock?: number;
    /** Whether all is indexed; default: up to the head. */
    isDone?: (checkpoint: CheckpointRow) => boolean;
    /** Ends the run with its reason, as where the chain's server has died. */
    signal?: AbortSignal;
  },
): Promise<Run> {
  if (!existsSync(built)) throw new Error("There is no dist/: run npm run build first.");
  const dataDir = await mkdtemp(join(tmpdir(), "chaintables-bench-ingest-"));
  const store = await openStore({
    service: "evm-dex",
    dataDir,
    ...(options.mongodbUrl !== undefined && { mongodbUrl: options.mongodbUrl }),
  });
  await store.declare(COLLECTIONS);
  await empty(store);
  let ingest: ChildProcess | undefined;
  try {
    const env = {
      ...INGEST_MALLOC,
      ...process.env,
      EVM_RPC_8453: on.url,
      EVM_RPC_1: "",
      START_BLOCK_8453: "0",
      DATA_DIR: dataDir,
      DEPLOYMENTS_FILE: on.deploymentsFile,
      MONGODB_URL: options.mongodbUrl ?? "",
      LOG_LEVEL: "warn",
      ...options.env,
    };
    const startedMs = performance.now();
    const child = spawn(process.execPath, [...IMAGE_FLAGS, ...COMMAND], { env, stdio: "inherit" });
    ingest = child;
    const costOf = () => ({
      seconds: (performance.now() - startedMs) / 1000,
      cpuSeconds: cpuSecondsOf(child.pid as number),
    });
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    const isDone = options.isDone ?? (({ blockNumber }) => blockNumber === on.headNumber);
    let checkpoint: CheckpointRow | undefined;
    let atMark: Run["atMark"];
    while (checkpoint === undefined || !isDone(checkpoint)) {
      const end = child.exitCode ?? child.signalCode;
      if (end !== null) throw new Error(`The ingest ended with ${end} at block ${checkpoint?.blockNumber}.`);
      options.signal?.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, options.pollMs ?? POLL_MS));
      checkpoint = await getCheckpoint(store, CHAIN_ID);
      if ((checkpoint?.blockNumber ?? -1) >= (options.markBlock ?? Number.POSITIVE_INFINITY))
        atMark ??= costOf();
    }
    const { seconds } = costOf();
    const peakRssMb = peakRssOf(child.pid as number);
    const cpuSeconds = cpuSecondsOf(child.pid as number);
    const writtenMb = writtenMbOf(child.pid as number);
    child.kill("SIGTERM");
    await ended;
    return {
      seconds,
      events: await options.check(store, dataDir),
      peakRssMb,
      cpuSeconds,
      writtenMb,
      ...(atMark && { atMark }),
    };
  } finally {
    ingest?.kill("SIGKILL");
    await empty(store);
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function empty(store: Store): Promise<void> {
  await store.declare([leases]);
  await store.write([...COLLECTIONS, leases].map((collection) => removeWhere(collection, {})));
}

/** The yardstick: fetch and decode alone. */
export async function runFetchAlone(on: ToIndex): Promise<Run> {
  const child = spawn(
    process.execPath,
    [
      "--import",
      "tsx",
      fileURLToPath(new URL("./fetch-decode.ts", import.meta.url)),
      on.url,
      on.deploymentsFile,
      String(on.headNumber),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let printed = "";
  child.stdout.on("data", (chunk) => (printed += chunk));
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`Fetch and decode alone ended with ${code}.`);
  // Its own clock: it starts through a loader that the built ingest does not need.
  return JSON.parse(printed);
}

/** The run of the middle one's time. */
export function medianOf(runs: readonly Run[]): Run {
  const sorted = [...runs].sort((a, b) => a.seconds - b.seconds);
  return sorted[Math.floor(sorted.length / 2)] as Run;
}
