import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { measureReference } from "./reference-work.ts";

export interface Figure {
  /** What was measured, in words that need no bench to be understood. */
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The bound that the figure is held to; absent for a figure without a goal. */
  readonly goal?: { readonly atLeast: number } | { readonly atMost: number };
}

/** What one run of a bench leaves behind: docs/benchmarks.md is made of these (`npm run generate`). */
export interface BenchResult {
  readonly bench: string;
  /** With the settings that differ from the bench's defaults, but no folder of this machine's, and the scheduling policy that differs from the system's. */
  readonly command: string;
  /** Short hash; `+` where files differed from it. */
  readonly commit: string;
  /** Day of the run, UTC. */
  readonly date: string;
  readonly machine: string;
  /** Load average of the machine over the minute before the first figure: above 1 other work ran. */
  readonly loadBefore: number | null;
  /** CPU milliseconds of a fixed piece of work just before the figures were written; absent in older results. */
  readonly referenceMs?: number;
  readonly figures: readonly Figure[];
}

const FOLDER = new URL("../../../bench/results/", import.meta.url);
const SETTINGS = /^(BENCH_(?!(RECORD|SAMPLES|KEEP)$)\w+|LAYOUT_\w+|MONGODB_URL|REDIS_URL)$/;

/**
 * Writes the figures of this run to bench/results/<bench>.json where BENCH_RECORD is set; else does nothing, so that a
 * trial leaves the repository as it is. `loadBefore` is taken when the module is loaded.
 */
export function recordFigures(bench: string, figures: readonly Figure[]): void {
  if (!process.env.BENCH_RECORD) return;
  const result: BenchResult = {
    bench,
    command: [...settingsInForce(), ...schedulerOf(readOwnStat()), `npm run bench:${bench}`].join(" "),
    commit: describeCommit(),
    date: new Date().toISOString().slice(0, 10),
    machine: `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.versions.node}`,
    loadBefore,
    referenceMs: measureReference(),
    figures: figures.map((figure) => ({ ...figure, value: round(figure.value) })),
  };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(new URL(`${bench}.json`, FOLDER), `${JSON.stringify(result, null, 2)}\n`);
}

const loadBefore = Math.round((loadavg()[0] ?? 0) * 10) / 10;

/** Linux says how a process is scheduled; elsewhere nobody asks. */
function readOwnStat(): string {
  try {
    return readFileSync("/proc/self/stat", "utf8");
  } catch {
    return "";
  }
}

const POLICIES: Readonly<Record<string, string>> = { 1: "-f", 2: "-r" };

/** How chrt(1) starts a process for which other work waits; nothing for one that shares (proc(5): fields 40 and 41). */
export function schedulerOf(stat: string): string[] {
  // The command in brackets may hold anything; the third field follows it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [priority, policy] = [fields[40 - 3], POLICIES[fields[41 - 3] ?? ""]];
  return policy === undefined ? [] : [`chrt ${policy} ${priority}`];
}

/** URLs are left out: they hold passwords. */
function settingsInForce(): string[] {
  return Object.entries(process.env)
    .filter(([name]) => SETTINGS.test(name))
    .map(([name, value]) => `${name}=${name.endsWith("_URL") ? "…" : value}`)
    .sort();
}

function describeCommit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
  const isChanged =
    git("status", "--porcelain", "--untracked-files=no", "--", ":!bench/results", ":!docs") !== "";
  return `${git("rev-parse", "--short", "HEAD")}${isChanged ? "+" : ""}`;
}

/** Three significant digits, and whole numbers as they are: more would be noise. */
function round(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(3));
}
