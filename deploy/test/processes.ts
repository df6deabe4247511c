import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { environmentOf } from "../../services/shared/process/program.ts";
import { programCommand } from "../../services/shared/testkit/program-command.ts";

export interface Started {
  readonly child: ChildProcess;
  /** Everything written to standard output so far. */
  readonly lines: string[];
  readonly ended: Promise<number | null>;
  /** The first line that `pick` finds something in. Rejects with all lines when the process ends before. */
  find<T>(pick: (line: string) => T | undefined): Promise<T>;
}

/** Starts a program of this repository as a real process of its own, under the runtime of the test. */
export function startProgram(
  path: string,
  of: { env: Readonly<Record<string, string | undefined>>; args?: string[] },
): Started {
  const program = { entry: new URL(`../../${path}`, import.meta.url) };
  const [command, ...args] = programCommand(program.entry, of.args);
  const nothing = {
    MONGODB_URL: undefined,
    REDIS_URL: undefined,
    EVM_RPC_1: undefined,
    EVM_RPC_8453: undefined,
  };
  const child = spawn(command, args, {
    env: environmentOf(program, { ...nothing, ...of.env }),
    stdio: "pipe",
  });
  child.stdin.on("error", () => {});
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      for (const look of waiting) look(line);
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  return {
    child,
    lines,
    ended,
    find: (pick) =>
      new Promise((resolve, reject) => {
        const look = (line: string) => {
          const found = pick(line);
          if (found !== undefined) resolve(found);
        };
        waiting.push(look);
        lines.forEach(look);
        void ended.then((code) => reject(new Error(`${path} ended with ${code}:\n${lines.join("\n")}`)));
      }),
  };
}

/** The addresses a service or gateway logs once it listens. */
export function listening(line: string): { httpUrl: string; grpcAddress: string; url: string } | undefined {
  if (!line.startsWith("{")) return undefined;
  const entry = JSON.parse(line);
  return entry.msg === "listening" ? entry : undefined;
}

/** Sends the signal and waits for the exit code. Not child.kill, after which Deno hides the code. */
export function stopProgram(started: Started, signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
  const { pid, exitCode, signalCode } = started.child;
  if (exitCode === null && signalCode === null && pid !== undefined) process.kill(pid, signal);
  return started.ended;
}
