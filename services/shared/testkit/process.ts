import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { commandLineOf, environmentOf, signalProcess } from "../process/program.ts";

const ROOT = new URL("../../../", import.meta.url);
const ROOT_PATH = fileURLToPath(ROOT);
/** All that a program gets of the environment of the tests: settings of this machine must make no difference. */
const INHERITED = ["PATH", "HOME", "TMPDIR", "DENO_DIR"];

/** Of util-linux, on every Debian: the user stays, what it may beyond others goes. */
const WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] as const;

export interface Exit {
  readonly code: number | null;
  /** The signal that ended it, where no exit code says so. */
  readonly signal: NodeJS.Signals | null;
}

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly args?: readonly string[];
  /** Root's right to pass file permissions is taken away, so that a folder without the right to write is one for it too. */
  readonly obeysPermissions?: boolean;
}

/** A program of this repository in a process of its own. */
export interface TestProcess {
  readonly child: ChildProcess;
  /** Lines of both streams so far, in the order of their arrival. */
  readonly lines: readonly string[];
  /** Standard output so far. */
  stdout(): string;
  /** Resolves when the process has ended and its streams too. */
  readonly exited: Promise<Exit>;
  readonly finished: Promise<Exit & Output>;
  /** What `pick` returns of the first line for which that is defined. Rejects with all lines when the process ends first. */
  find<T>(pick: (line: string) => T | undefined): Promise<T>;
  /** The first entry of the log with this message. Rejects with all lines when the process ends first. */
  logged(message: string): Promise<LogEntry>;
  signal(name: NodeJS.Signals): void;
  /** Sends the signal (SIGTERM by default), unless the process has ended, and waits for its end. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read entries of many shapes and assert what they read.
export type LogEntry = Record<string, any>;

/**
 * Starts a program (its path in the repository, or its URL) under the runtime of the test, with `env` and nothing else of
 * the settings of this machine. It ends with this process at the latest.
 */
export function startProgram(
  program: string | URL,
  { env = {}, args = [], obeysPermissions = false }: ProgramOptions = {},
): TestProcess {
  const entry = typeof program === "string" ? new URL(program, ROOT) : program;
  const own = programCommand(entry, args);
  const [command, ...words] =
    obeysPermissions && process.getuid?.() === 0 ? [...WITHOUT_RIGHTS, ...own] : own;
  const inherited = Object.fromEntries(INHERITED.map((name) => [name, process.env[name]]));
  const child = spawn(command, words, {
    cwd: ROOT_PATH,
    env: environmentOf({ entry }, { ...withoutSettings(), ...inherited, ...env }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {});
  const output = { stdout: "", stderr: "" };
  const lines: string[] = [];
  const listeners = new Set<(line: string) => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      output[name] += chunk;
    });
    createInterface({ input: child[name] }).on("line", (line) => {
      lines.push(line);
      for (const listener of listeners) listener(line);
    });
  }
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  const find: TestProcess["find"] = (pick) =>
    new Promise((resolve, reject) => {
      const look = (line: string) => {
        const found = pick(line);
        if (found === undefined) return;
        listeners.delete(look);
        resolve(found);
      };
      listeners.add(look);
      for (const line of [...lines]) look(line);
      const fail = ({ code, signal }: Exit) =>
        reject(new Error(`${fileURLToPath(entry)} ended with ${code ?? signal}:\n${lines.join("\n")}`));
      exited.then(fail, reject);
    });
  // Not by child.kill(): Deno would then report that signal in place of the exit code.
  const signal = (name: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) signalProcess(child.pid, name);
  };
  return {
    child,
    lines,
    stdout: () => output.stdout,
    exited,
    finished: exited.then((exit) => ({ ...exit, ...output })),
    find,
    logged: (message) => find((line) => logEntry(line, message)),
    signal,
    stop(name = "SIGTERM") {
      signal(name);
      return exited;
    },
  };
}

/** Runs a program to its end. */
export function runProgram(program: string | URL, options: ProgramOptions = {}): Promise<Exit & Output> {
  return startProgram(program, options).finished;
}

/** The entry of a log line if it has this message. */
export function logEntry(line: string, message: string): LogEntry | undefined {
  if (!line.startsWith("{") || !line.includes(JSON.stringify(message))) return undefined;
  const entry = JSON.parse(line) as LogEntry;
  return entry.msg === message ? entry : undefined;
}

/** Removes every variable of this process's environment. */
function withoutSettings(): Record<string, undefined> {
  return Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
}

/**
 * What to spawn for a program. `npm test` bundles the programs once into the folder TEST_DIST, as the image has them: they
 * start with a quarter of the CPU, and tests start hundreds. Without it the source is run.
 */
export function programCommand(
  entry: URL,
  args: readonly string[] = [],
): [command: string, ...args: string[]] {
  const built = builtFile(fileURLToPath(entry));
  return built === undefined
    ? commandLineOf({ entry, args }, { graceMs: 1_000 })
    : [process.execPath, built, ...args];
}

/** The file that TEST_DIST has of a source file. */
export function builtFile(source: string): string | undefined {
  const { TEST_DIST } = process.env;
  if (TEST_DIST === undefined || "Deno" in globalThis) return undefined;
  const file = join(ROOT_PATH, TEST_DIST, relative(ROOT_PATH, source).replace(/\.ts$/, ".js"));
  return existsSync(file) ? file : undefined;
}
