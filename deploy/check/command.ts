import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The repository's top folder; every check runs from here. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Ends the command early, as a time-out does. */
  readonly signal?: AbortSignal;
  /** Called with the command's process group before it is ended early. */
  readonly beforeCut?: (pgid: number) => void;
  /** Also print what the command prints, as it comes. */
  readonly echo?: boolean;
}

export interface CommandResult {
  readonly ok: boolean;
  readonly exitCode: number | null;
  /** Standard output and standard error, in the order they came. */
  readonly output: string;
  readonly stdout: string;
  readonly timedOut: boolean;
}

/**
 * Runs a program to its end. A command in a group of its own, so that a time-out ends what it started too.
 * Never throws for a failing command: read `ok`.
 */
export async function run(command: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { cwd = ROOT, env = {}, timeoutMs = 600_000, signal, beforeCut, echo = false } = options;
  const [program = "", ...args] = command;
  const stdout: Buffer[] = [];
  const output: Buffer[] = [];
  let timedOut = false;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  child.stdout.on("data", (chunk: Buffer) => {
    stdout.push(chunk);
    output.push(chunk);
    if (echo) process.stdout.write(chunk);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    output.push(chunk);
    if (echo) process.stderr.write(chunk);
  });
  const cut = (): void => {
    timedOut = true;
    if (child.pid !== undefined) beforeCut?.(child.pid);
    killGroup(child, "SIGKILL");
  };
  const timer = setTimeout(cut, timeoutMs);
  signal?.addEventListener("abort", cut, { once: true });
  const forget = forwardSignals(child);
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      output.push(Buffer.from(`${error.message}\n`));
      resolve(null);
    });
    child.once("close", (code) => resolve(code));
  });
  clearTimeout(timer);
  forget();
  signal?.removeEventListener("abort", cut);
  if (timedOut) output.push(Buffer.from(`\nended for taking too long: ${command.join(" ")}\n`));
  return {
    ok: exitCode === 0 && !timedOut,
    exitCode,
    output: Buffer.concat(output).toString("utf8"),
    stdout: Buffer.concat(stdout).toString("utf8"),
    timedOut,
  };
}

/** Whether a program of that name is on PATH. */
export async function isOnPath(program: string): Promise<boolean> {
  return (await run(["sh", "-c", `command -v ${program}`])).ok;
}

/** Ends a child and all it started; a group that has already ended is no error. */
export function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Ctrl-C reaches this process only, since the child leads a group of its own: hand it on. */
function forwardSignals(child: ChildProcess): () => void {
  const signals = ["SIGINT", "SIGTERM"] as const;
  const handlers = signals.map((signal) => {
    const handler = (): void => {
      killGroup(child, "SIGKILL");
      process.exit(signal === "SIGINT" ? 130 : 143);
    };
    process.once(signal, handler);
    return () => process.off(signal, handler);
  });
  return () => {
    for (const off of handlers) off();
  };
}
