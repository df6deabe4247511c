import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Log } from "../../services/shared/logging/log.ts";
import { EXIT_CONFIG } from "../../services/shared/process/process.ts";
import {
  commandLineOf,
  environmentOf,
  type Program,
  signalProcess,
} from "../../services/shared/process/program.ts";

export interface Restart {
  /** Doubled at each restart up to maxDelayMs, with a little chance in it; back to the start after stableAfterMs. */
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly stableAfterMs: number;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Null when it stays down: it was stopped, restart is "never", or its configuration is wrong. */
  readonly restartInMs: number | null;
}

export interface SupervisedOptions {
  readonly name: string;
  readonly program: Program;
  readonly log: Log;
  /** On top of our own environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Default 500 ms to 30 s, stable after 60 s. */
  readonly restart?: Restart | "never";
  /** Time between the stop signal and SIGKILL. Default 15 s. */
  readonly stopTimeoutMs?: number;
  /** Default SIGTERM. */
  readonly stopSignal?: "SIGTERM" | "SIGINT";
  /** Gets every line of the child. Default: JSON lines pass through to stdout, others are logged. */
  readonly onLine?: (line: string, from: "stdout" | "stderr") => void;
  readonly onExit?: (exit: ProcessExit) => void;
  /** Gets every message that the child sends to its parent; `reply` sends one back, false once the child is gone. */
  readonly onMessage?: (message: unknown, reply: (message: object) => boolean) => void;
}

export interface SupervisedProcess {
  /** Undefined while it is down. */
  pid(): number | undefined;
  /** How often it was started again. */
  restarts(): number;
  /** Ends it for good; resolves when it is gone. Repeated calls wait for the same end. */
  stop(): Promise<void>;
}

const DEFAULT_RESTART: Restart = { minDelayMs: 500, maxDelayMs: 30_000, stableAfterMs: 60_000 };
const DEFAULT_STOP_TIMEOUT_MS = 15_000;
const LAST_LINES_MS = 500;

/**
 * Runs a program as a child process: starts it again with back-off when it ends, forwards its lines, ends it on
 * stop(). The child never outlives us, not even after SIGKILL: its stdin is a pipe that ends with this process, which
 * runMain watches for our own programs and a small shell wrapper for others (POSIX).
 */
export function superviseProcess(options: SupervisedOptions): SupervisedProcess {
  const { name, log, restart = DEFAULT_RESTART, stopTimeoutMs = DEFAULT_STOP_TIMEOUT_MS } = options;
  let child: ChildProcess | undefined;
  let restarts = 0;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopping: Promise<void> | undefined;
  let onGone = (): void => {};

  function start(): void {
    timer = undefined;
    const startedMs = performance.now();
    const [command, ...args] = commandLineOf(options.program, { graceMs: stopTimeoutMs });
    const started = spawn(command, args, {
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      env: environmentOf(options.program, options.env),
      stdio: ["pipe", "pipe", "pipe", ...((options.onMessage ? ["ipc"] : []) as [])],
      // A group of its own: a terminal's Ctrl-C reaches us alone, and we stop children in our order.
      detached: true,
    });
    child = started;
    const reply = (message: object) => {
      if (!started.connected) return false;
      // The child may go between the two: its next message would then be lost anyway.
      started.send(message, () => {});
      return true;
    };
    if (options.onMessage !== undefined)
      started.on("message", (message) => options.onMessage?.(message, reply));
    // "exit" reports its end; a broken pipe before it is not an error.
    started.stdin.on("error", () => {});
    forward(started.stdout, "stdout");
    forward(started.stderr, "stderr");
    let gone = false;
    const end = (code: number | null, signal: NodeJS.Signals | null) => {
      if (gone) return;
      gone = true;
      child = undefined;
      ended({ code, signal, ranMs: performance.now() - startedMs });
    };
    started.once("error", (err) => {
      log.error({ err, child: name }, "the child process cannot be started");
      end(null, null);
    });
    // "close" comes after the last line was read, but also waits for other holders of the pipes: not for ever.
    started.once("close", end);
    started.once("exit", (code, signal) => setTimeout(() => end(code, signal), LAST_LINES_MS).unref());
  }

  function ended({
    code,
    signal,
    ranMs,
  }: {
    code: number | null;
    signal: NodeJS.Signals | null;
    ranMs: number;
  }): void {
    const final = stopping !== undefined || restart === "never" || code === EXIT_CONFIG;
    let restartInMs: number | null = null;
    if (!final) {
      failures = ranMs >= restart.stableAfterMs ? 0 : failures;
      restartInMs = delayMs(restart, failures++);
      timer = setTimeout(() => {
        restarts++;
        start();
      }, restartInMs);
    }
    const line = { child: name, code, signal, restartInMs };
    if (stopping === undefined) log.warn(line, "the child process ended");
    else log.debug(line, "the child process ended");
    options.onExit?.({ code, signal, restartInMs });
    onGone();
  }

  function forward(stream: Readable, from: "stdout" | "stderr"): void {
    createInterface({ input: stream }).on("line", (line) => {
      if (options.onLine !== undefined) options.onLine(line, from);
      else if (line.startsWith("{")) process.stdout.write(`${line}\n`);
      else if (line !== "") log.info({ child: name, from }, line);
    });
  }

  async function stop(): Promise<void> {
    clearTimeout(timer);
    const target = child;
    if (target === undefined) return;
    const gone = new Promise<void>((resolve) => {
      onGone = resolve;
    });
    // Not by target.kill(): Deno would then report that signal in place of the exit code.
    signalProcess(target.pid, options.stopSignal ?? "SIGTERM");
    const kill = setTimeout(() => {
      log.warn({ child: name }, "the child process did not stop in time and is killed");
      // The whole group: with the program goes what it has started itself.
      if (target.pid !== undefined) signalProcess(-target.pid, "SIGKILL");
    }, stopTimeoutMs);
    await gone;
    clearTimeout(kill);
  }

  start();
  return {
    pid: () => child?.pid,
    restarts: () => restarts,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

function delayMs({ minDelayMs, maxDelayMs }: Restart, failures: number): number {
  const doubled = Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(failures, 30));
  return Math.round(doubled * (0.8 + Math.random() * 0.2));
}
