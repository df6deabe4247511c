/** What the commands of both local chains share: words, signals, exit codes. */
import { onParentExit } from "../../services/shared/process/process.ts";

const SAME_SIGNAL_MS = 500;

/** A wrong call: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function readInteger(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new UsageError(`Cannot use ${name}: ${text} is not an integer from ${min} to ${max}`);
  return value;
}

export interface Lifetime {
  /** Aborts at SIGINT, SIGTERM, or, with the option, the end of standard input. */
  readonly signal: AbortSignal;
  /** From now on the command ends in order; before, it has nothing to save and ends at once. */
  startServing(): void;
  watchStdin(): void;
}

/** Runs the command to its end, and ends the process: with 2 for a wrong call, 1 for what else fails. */
export async function runCommand(
  { name, usage }: { readonly name: string; readonly usage: string },
  main: (lifetime: Lifetime) => Promise<void>,
): Promise<never> {
  if (process.argv.slice(2).some((word) => word === "--help" || word === "-h")) {
    console.log(usage);
    process.exit(0);
  }
  const stop = new AbortController();
  let isServing = false;
  let askedMs = 0;
  const end = () => {
    // A second signal does not wait for the save. npm passes on a Ctrl-C that this process already has.
    if (stop.signal.aborted && performance.now() - askedMs > SAME_SIGNAL_MS) process.exit(1);
    askedMs ||= performance.now();
    stop.abort();
    if (!isServing) process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, end);
  if (process.env.npm_lifecycle_event !== undefined) onParentExit(end);
  try {
    await main({
      signal: stop.signal,
      startServing() {
        isServing = true;
      },
      watchStdin() {
        const gone = () => {
          if (!stop.signal.aborted) end();
        };
        process.stdin.on("close", gone).on("error", gone).resume();
      },
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isUsage = error instanceof UsageError || isParseError(error);
    console.error(`${name}: ${message}${isUsage ? `\n\n${usage}` : ""}`);
    process.exit(isUsage ? 2 : 1);
  }
  // Standard input may still be open, and would keep the process.
  process.exit(0);
}

function isParseError(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}
