/** What the benches of a day share: its size, the process that it comes from, and a check of what was stored. */
import { DAY } from "../services/evm-dex/metrics/bucket.ts";
import { pools, rollups } from "../services/evm-dex/store/collections.ts";
import { v2Rollups } from "../services/evm-dex/store/v2-collections.ts";
import type { Store } from "../services/shared/storage/port.ts";
import { end } from "./http-load/gateway-process.ts";
import { CHAIN_ID } from "./ingest-run.ts";
import { cpuSecondsOf } from "./process-cost.ts";
import { startScript } from "./script.ts";
import type { DayExpected, DayFolder, DaySize } from "./synthetic/day/folder.ts";

export const WHOLE_DAY: DaySize = { blocks: 43_200, pools: 20_000, logsPerBlock: 150 };

/** BENCH_BLOCKS, BENCH_POOLS and BENCH_LOGS (a block) make the day smaller. */
export function readDaySize(env: NodeJS.ProcessEnv): DaySize {
  return {
    blocks: Number(env.BENCH_BLOCKS ?? WHOLE_DAY.blocks),
    pools: Number(env.BENCH_POOLS ?? WHOLE_DAY.pools),
    logsPerBlock: Number(env.BENCH_LOGS ?? WHOLE_DAY.logsPerBlock),
  };
}

/** Whether figures are those of a day, and may be recorded. */
export function isWholeDay({ blocks, pools, logsPerBlock }: DaySize): boolean {
  return blocks === WHOLE_DAY.blocks && pools === WHOLE_DAY.pools && logsPerBlock === WHOLE_DAY.logsPerBlock;
}

/** What portal and node had to answer. */
export interface Asked {
  readonly node: Readonly<Record<string, number>>;
  readonly portal: {
    readonly requests: number;
    readonly bytes: number;
    /** Answers of blocks: sent from the recording, made during the run. */
    readonly recorded: number;
    readonly made: number;
  };
}

export interface DaySource {
  readonly urls: { readonly rpc: string; readonly portal: string };
  /** Aborts where the process has died. */
  readonly signal: AbortSignal;
  asked(): Promise<Asked>;
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** Starts the portal and the node of a day, one process outside of what is measured. */
export async function startDaySource(day: DayFolder): Promise<DaySource> {
  const { child, firstLine } = await startScript(new URL("./chains/day-server.ts", import.meta.url), {
    args: [day.folder, String(day.expected.pools)],
    // Helper threads of the collector would take a core from what is measured.
    flags: ["--single-threaded-gc"],
  });
  const lost = new AbortController();
  child.once("exit", (code) => lost.abort(new Error(`The portal and the node ended with ${code}.`)));
  const urls = JSON.parse(firstLine) as DaySource["urls"];
  return {
    urls,
    signal: lost.signal,
    asked: async () => (await (await fetch(urls.rpc)).json()) as Asked,
    cpuSeconds: () => cpuSecondsOf(child.pid as number),
    stop: () => end(child),
  };
}

/** A bench of wrong numbers is worth nothing. Throws unless all pools and swaps are stored. */
export async function requireDay(store: Store, expected: DayExpected): Promise<void> {
  const filter = { chainId: CHAIN_ID };
  // In buckets of days, which no retention removes: the events of an old day are not kept.
  const days = { ...filter, span: DAY };
  const { swapCount: v3 } = await store.sum(rollups, days, ["swapCount"]);
  const { swapCount: v2 } = await store.sum(v2Rollups, days, ["swapCount"]);
  const found = { pools: await store.count(pools, filter), swaps: v3 + v2 };
  for (const name of ["pools", "swaps"] as const)
    if (found[name] !== expected[name])
      throw new Error(`${found[name]} ${name} are stored, ${expected[name]} were made.`);
}
