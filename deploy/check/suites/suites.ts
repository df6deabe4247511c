import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandResult, run } from "../command.ts";
import type { Finding, Tally } from "../step.ts";
import { describeGroup } from "./left-open.ts";

/** What a run of mocha counted; see reporter.cjs. */
export interface SuiteRecord {
  readonly passes: number;
  readonly failures: number;
  /** Titles of the tests that were skipped. */
  readonly pending: readonly string[];
  /** Full titles of the tests and hooks that failed, each with its error. */
  readonly failed: readonly { readonly title: string; readonly reason: string }[];
}

export interface SuiteVerdict {
  readonly tally: Tally;
  readonly faults: readonly string[];
}

/** A verdict with all that mocha printed. */
export interface SuiteRun extends SuiteVerdict {
  readonly output: string;
}

/** What runs the tests: the Node that runs the check, the newest one, Deno. */
export type Runtime = "node" | "newest Node" | "deno";

interface SuiteOptions {
  readonly runtime: Runtime;
  readonly files: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Whether tests may be skipped, as they are where a server is absent; or which ones, by the end of their titles. */
  readonly pendingAllowed: boolean | string;
  /** How long mocha may take to end after the last test; END_GRACE_MS by default. */
  readonly endGraceMs?: number;
  /** Whether to print what mocha prints. */
  readonly echo?: boolean;
}

/** How much of a failure's error is repeated at the end, in lines without the stack and in characters of a line. */
const REASON_LINES = 8;
const LINE_LENGTH = 160;

export const ALL_TESTS = "{gateway,services,proto,deploy,bench,clients}/**/*.test.ts";
/** What also runs in production or at its users, and so on every runtime: folder by folder, so that a crash ends one of them only. */
export function listProductTests(root: string): string[] {
  const services = readdirSync(join(root, "services")).map((name) => `services/${name}`);
  return ["gateway", ...services, "clients/typescript"].map((folder) => `${folder}/**/*.test.ts`);
}
/** What runs on Node only: the checks themselves, the programs around the product, the benchmarks and the generators. */
export const TOOL_TESTS: readonly string[] = [
  "deploy",
  "bench",
  "proto",
  "clients/generate",
  "clients/test",
].map((folder) => `${folder}/**/*.test.ts`);

/** The Deno that the tests and `npm run start:deno` use. Not a devDependency: 140 MB that few runs need. */
export const DENO = ["npx", "--yes", "deno@2.9.6"];
/** What users have who install Node today. Not a devDependency either: 130 MB. */
const NEWEST_NODE_VERSION = "26.10.0";
const NEWEST_NODE = ["npx", "--yes", "--package", `node@${NEWEST_NODE_VERSION}`, "node"];
const MOCHA = ["node_modules/mocha/bin/mocha.js", "--import=tsx"];
const MOCHA_ON: Readonly<Record<Runtime, readonly string[]>> = {
  node: ["node", ...MOCHA],
  "newest Node": [...NEWEST_NODE, ...MOCHA],
  deno: [...DENO, "run", "-A", "npm:mocha"],
};

/**
 * Longer than deadlines that run once, of 30 s at most: they end by themselves on a busy machine. Servers, connections and
 * what repeats do not. What holds is printed before, in either case.
 */
const END_GRACE_MS = 60_000;

/** Has npx fetch the newest Node before suites run side by side; throws where it is another one than was asked for. */
export async function ensureNewestNode(): Promise<void> {
  const { ok, output } = await run([...NEWEST_NODE, "--version"], { timeoutMs: 300_000, echo: false });
  if (!ok || !output.includes(`v${NEWEST_NODE_VERSION}`))
    throw new Error(`Node ${NEWEST_NODE_VERSION} does not run: ${output}`);
}

/** Runs mocha, by default with its usual output on the screen. Unless allowed, a pending test counts as failed. */
export async function runSuite(options: SuiteOptions): Promise<SuiteRun> {
  const {
    runtime,
    files,
    env = {},
    timeoutMs,
    pendingAllowed,
    endGraceMs = END_GRACE_MS,
    echo = true,
  } = options;
  const folder = await mkdtemp(join(tmpdir(), "suite-"));
  const output = join(folder, "record.json");
  try {
    const command = suiteCommand({ runtime, files, output });
    const result = await runUntilRecorded(command, { env, timeoutMs, endGraceMs, echo, output });
    const verdict = judgeSuite(result, await readRecord(output), { pendingAllowed });
    const printed = { output: result.output };
    const held = result.timedOut ? /^Held by .*(\n {2}.*)*/m.exec(result.output)?.[0] : undefined;
    // Before the failures: who reads the last lines alone should see those.
    return {
      ...verdict,
      ...printed,
      faults: [...(held === undefined ? [] : [held.trim()]), ...verdict.faults],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Mocha leaves the process to end by itself once the tests have: what is then still open keeps it, and is a fault. */
async function runUntilRecorded(
  command: readonly string[],
  given: Required<Pick<SuiteOptions, "env" | "timeoutMs" | "endGraceMs" | "echo">> & {
    readonly output: string;
  },
): Promise<CommandResult> {
  const { env, timeoutMs, endGraceMs, echo, output } = given;
  const leftOpen = new AbortController();
  let recordedMs: number | undefined;
  const watch = setInterval(() => {
    if (recordedMs === undefined && existsSync(output)) recordedMs = Date.now();
    if (recordedMs !== undefined && Date.now() - recordedMs > endGraceMs) leftOpen.abort();
  }, 1_000);
  try {
    const beforeCut = (pgid: number) => {
      if (echo) console.log(`Still running:\n${describeGroup(pgid)}`);
    };
    return await run(command, { env, timeoutMs, signal: leftOpen.signal, beforeCut, echo });
  } finally {
    clearInterval(watch);
  }
}

/** The command that runs the files and leaves a record of it at `output`. */
export function suiteCommand(
  suite: Pick<SuiteOptions, "runtime" | "files"> & { readonly output: string },
): string[] {
  const report = [
    "--reporter",
    "./deploy/check/suites/reporter.cjs",
    "--reporter-option",
    `output=${suite.output}`,
  ];
  return [...MOCHA_ON[suite.runtime], "--forbid-only", ...report, ...suite.files];
}

/** The record of a run; undefined when the run did not come to its end. */
export async function readRecord(output: string): Promise<SuiteRecord | undefined> {
  const text = await readFile(output, "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as SuiteRecord);
}

/** What a run is worth: that nothing ran, that it did not end, and failed or skipped tests are all faults. */
export function judgeSuite(
  { ok, timedOut, exitCode }: Pick<CommandResult, "ok" | "timedOut" | "exitCode">,
  record: SuiteRecord | undefined,
  { pendingAllowed }: Pick<SuiteOptions, "pendingAllowed">,
): SuiteVerdict {
  if (record === undefined) {
    const fault = timedOut
      ? "mocha did not end in time"
      : `mocha ended with ${exitCode} before the tests did`;
    return { tally: { passed: 0, failed: 1 }, faults: [fault] };
  }
  const { passes, failures, pending } = record;
  const isAllowed = (title: string) =>
    typeof pendingAllowed === "string" ? title.endsWith(pendingAllowed) : pendingAllowed;
  const faults = pending.filter((title) => !isAllowed(title)).map((title) => `pending: ${title}`);
  const failed = failures + faults.length;
  if (failures > 0) faults.push(...record.failed.map(describeFailure));
  else if (passes + failed === 0) faults.push("no test ran");
  else if (timedOut) faults.push("the tests ended but mocha did not: something is left open");
  else if (!ok) faults.push(`every test passed but mocha ended with ${exitCode}`);
  return { tally: { passed: passes, failed: faults.length > 0 ? Math.max(failed, 1) : 0 }, faults };
}

/** Failures are repeated after all suites, so that the end of the output has them, and short: a log may be cut. */
function describeFailure({ title, reason }: SuiteRecord["failed"][number]): string {
  const lines = reason.split("\n").filter((line) => line.trim() !== "" && !/^\s+at /.test(line));
  const shown = lines.slice(0, REASON_LINES).map((line) => `  ${line.slice(0, LINE_LENGTH)}`);
  return [`failed: ${title}`, ...shown].join("\n");
}

/** A verdict as the finding of a step. */
export function toFinding({ tally, faults }: SuiteVerdict): Finding {
  return { faults, seen: `${tally.passed} passed, ${tally.failed} failed` };
}
