import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { environmentOf } from "../process/program.ts";
import { programCommand } from "./program-command.ts";

export interface IngestProcess {
  readonly child: ChildProcess;
  /** Resolves with the first log line that has this message; rejects with the log when the process ends before. */
  said(message: string): Promise<void>;
  /** Sends the signal and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts an ingest (its main.ts) as the real process it is. It ends with this process at the latest. */
export function startIngestProcess(
  entry: URL,
  env: Readonly<Record<string, string | undefined>>,
): IngestProcess {
  const program = { entry };
  const [command, ...args] = programCommand(entry);
  const child = spawn(command, args, {
    env: environmentOf(program, {
      MONGODB_URL: undefined,
      REDIS_URL: undefined,
      LOG_LEVEL: undefined,
      LEASE_TTL_MS: "200",
      ...env,
    }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {});
  const lines: string[] = [];
  const waiting = new Map<string, () => void>();
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  createInterface({ input: child.stderr }).on("line", (line) => lines.push(line));
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    for (const [message, found] of waiting) if (line.includes(JSON.stringify(message))) found();
  });
  return {
    child,
    said(message) {
      if (lines.some((line) => line.includes(JSON.stringify(message)))) return Promise.resolve();
      return new Promise((resolve, reject) => {
        waiting.set(message, resolve);
        void ended.then(({ code }) =>
          reject(new Error(`The ingest ended with ${code}:\n${lines.join("\n")}`)),
        );
      });
    },
    stop(signal) {
      if (child.exitCode === null && child.pid !== undefined) process.kill(child.pid, signal);
      return ended;
    },
  };
}
