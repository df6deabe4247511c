import { writeFully } from "../logging/line-writer.ts";
import { preferTextLogs } from "../logging/log-text.ts";
import { ConfigError } from "../settings/env.ts";
import { type ProcessHelp, parseArguments } from "../settings/help.ts";
import { findMisspeltSettings } from "../settings/misspelt-settings.ts";
import { createProcessMessages } from "./process-messages.ts";

export interface Stoppable {
  /** Bounds its own time. */
  stop(): Promise<void>;
}

/** Exit code for a configuration error (EX_CONFIG of sysexits.h); supervisors do not retry it. */
export const EXIT_CONFIG = 78;

/** Set for children of a supervisor: their stdin is a pipe that ends when the supervisor is gone. */
export const SUPERVISED = "CHAINTABLES_SUPERVISED";

/**
 * Package managers pass a terminal's Ctrl-C on to a process that has already received it from the terminal:
 * a second signal this soon after the first is the same one.
 */
const SAME_SIGNAL_MS = 500;

/** How long a running start may take to notice that the process is stopping. */
const START_GRACE_MS = 2_000;

export interface MainOptions {
  /** Without it the process reads its own arguments. */
  readonly help?: ProcessHelp;
  /** Logs text wherever the output goes, unless LOG_FORMAT is set. */
  readonly prefersText?: boolean;
}

/**
 * Runs a process: `start` builds everything, and the result is stopped once on SIGINT, SIGTERM or the death of a
 * supervisor, with exit code 0. A start that still runs sees its signal abort and gets 2 s.
 * A second signal exits at once with 1. A failed start or stop, an unhandled rejection or an uncaught exception is
 * logged and exits with 1; a ConfigError with 78. With `help`, --help exits with 0 and unknown words with 2.
 */
export async function runMain(
  name: string,
  start: (stopping: AbortSignal) => Promise<Stoppable>,
  { help, prefersText = false }: MainOptions = {},
): Promise<void> {
  const answer = help && parseArguments(process.argv.slice(2), help);
  if (answer !== undefined) {
    writeFully(answer.exitCode === 0 ? 1 : 2, Buffer.from(answer.text));
    process.exit(answer.exitCode);
  }
  if (prefersText) preferTextLogs();
  const messages = createProcessMessages(name);
  // The supervisor has the same environment and has printed these warnings already.
  if (process.env[SUPERVISED] === undefined)
    for (const warning of findMisspeltSettings(process.env).warnings) messages.warning(warning);
  let isFailing = false;
  const fail = (err: unknown, message: string): void => {
    // A log that cannot be written (its reader is gone) would call this again.
    if (!isFailing) {
      isFailing = true;
      messages.failure(err, message);
    }
    process.exit(err instanceof ConfigError ? EXIT_CONFIG : 1);
  };
  process.on("unhandledRejection", (reason) => fail(reason, "unhandled rejection"));
  process.on("uncaughtException", (error) => fail(error, "uncaught exception"));

  const stopping = new AbortController();
  const terminated = new Promise<string>((resolve) => {
    onTermination((why) => {
      resolve(why);
      stopping.abort();
    });
  });
  try {
    const starting = start(stopping.signal);
    await Promise.race([starting, terminated]);
    messages.stopping(await terminated);
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, START_GRACE_MS, undefined));
    const running = await Promise.race([starting.catch(() => undefined), late]);
    await running?.stop();
  } catch (error) {
    fail(error, "the process failed");
  }
  process.exit(0);
}

/** Calls `stop` at the first signal or at the supervisor's death; exits at a second signal. */
function onTermination(stop: (why: string) => void): void {
  let firstMs: number | undefined;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      const nowMs = performance.now();
      if (firstMs !== undefined && nowMs - firstMs > SAME_SIGNAL_MS) process.exit(1);
      firstMs ??= nowMs;
      stop(signal);
    });
  }
  if (process.env[SUPERVISED] === undefined) {
    // A killed npm does not stop its program, which would keep the ports. (Its scripts use `exec`: with a shell in
    // between, the parent would never change.)
    if (process.env.npm_lifecycle_event !== undefined) onParentExit(() => stop("npm is gone"));
    return;
  }
  // Children of this process are supervised only if they are started so.
  delete process.env[SUPERVISED];
  // Deno emits `end` but not `close` for a pipe; a destroyed pipe emits only `close`.
  for (const event of ["end", "close", "error"]) process.stdin.on(event, () => stop("supervisor gone"));
  process.stdin.resume();
}

const PARENT_POLL_MS = 500;

/** Polls the parent's pid, which changes when the parent exits. */
export function onParentExit(then: () => void): void {
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    then();
  }, PARENT_POLL_MS);
  look.unref();
}
