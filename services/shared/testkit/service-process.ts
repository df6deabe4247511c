import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { environmentOf, signalProcess } from "../process/program.ts";
import { programCommand } from "./program-command.ts";

export interface ServiceProcess {
  readonly httpUrl: string;
  readonly grpcAddress: string;
  /** Parsed log lines, oldest first. */
  readonly lines: Record<string, unknown>[];
  readonly child: ChildProcess;
  /** Sends the signal (SIGTERM by default) and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/**
 * Starts a service's main.ts as a real process on free ports of its own and waits until it listens. It ends with
 * this process at the latest. Throws with the process's log when it ends before.
 */
export async function startServiceProcess(
  entry: URL,
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<ServiceProcess> {
  const program = { entry };
  const [command, ...args] = programCommand(entry);
  const ports = { HTTP_PORT: "0", GRPC_PORT: "0", BIND_HOST: undefined, LOG_LEVEL: undefined };
  const child = spawn(command, args, {
    env: environmentOf(program, { ...ports, MONGODB_URL: undefined, REDIS_URL: undefined, ...env }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {});
  const lines: Record<string, unknown>[] = [];
  const other: string[] = [];
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  createInterface({ input: child.stderr }).on("line", (line) => other.push(line));
  const addresses = await new Promise<{ httpUrl: string; grpcAddress: string }>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line = JSON.parse(text);
      lines.push(line);
      if (line.msg === "listening") resolve(line);
    });
    void ended.then(({ code }) => {
      const said = [...lines.map((line) => JSON.stringify(line)), ...other].join("\n");
      reject(new Error(`The service ended with ${code} before it listened:\n${said}`));
    });
  });
  return {
    httpUrl: addresses.httpUrl,
    grpcAddress: addresses.grpcAddress,
    lines,
    child,
    stop(signal = "SIGTERM") {
      // Not by child.kill(): Deno would then report that signal in place of the exit code.
      signalProcess(child.pid, signal);
      return ended;
    },
  };
}
