import { ConfigError } from "./env.ts";
import { createLog } from "./log.ts";

export interface Stoppable {
  /** Bounded in time by itself. */
  stop(): Promise<void>;
}

/** Exit code for a configuration that no restart heals (EX_CONFIG of sysexits.h); supervisors do not retry it. */
export const EXIT_CONFIG = 78;

/** Set for children of a supervisor: their stdin is a pipe that ends when the supervisor is gone. */
export const SUPERVISED = "CHAINTABLES_SUPERVISED";

/**
 * Package managers pass a terminal's Ctrl-C on to a process that has already received it from the terminal:
 * a second signal this soon after the first is the same one.
 */
const SAME_SIGNAL_MS = 500;

/**
 * Runs a process: `start` builds everything, and the result is stopped once on SIGINT, SIGTERM or the death of a
 * supervisor, with exit code 0. A second signal exits at once with 1. A failed start or stop, an unhandled rejection
 * or an uncaught exception is logged and exits with 1; a ConfigError with 78.
 */
export async function runMain(name: string, start: () => Promise<Stoppable>): Promise<void> {
  // Not by LOG_LEVEL: what is logged here is why a process ends.
  const log = createLog({ name, level: "info" });
  let dying = false;
  const die = (err: unknown, message: string): void => {
    // A log that cannot be written (its reader is gone) would bring us here again.
    if (!dying) {
      dying = true;
      if (err instanceof ConfigError) log.fatal({ problems: err.problems }, "the configuration is wrong");
      else log.fatal({ err }, message);
    }
    process.exit(err instanceof ConfigError ? EXIT_CONFIG : 1);
  };
  process.on("unhandledRejection", (reason) => die(reason, "unhandled rejection"));
  process.on("uncaughtException", (error) => die(error, "uncaught exception"));

  let askToStop = (_why: string): void => {};
  const asked = new Promise<string>((resolve) => {
    askToStop = resolve;
  });
  onTermination((why) => askToStop(why));

  try {
    const running = await start();
    log.info({ why: await asked }, "stopping");
    await running.stop();
  } catch (error) {
    die(error, "the process failed");
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
  if (process.env[SUPERVISED] === undefined) return;
  // Own children are supervised only if somebody says so again.
  delete process.env[SUPERVISED];
  // Deno tells the end of a pipe but not its close; a destroyed one tells only its close.
  for (const event of ["end", "close", "error"]) process.stdin.on(event, () => stop("supervisor gone"));
  process.stdin.resume();
}
