import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isOnPath, killGroup, ROOT, run } from "./command.ts";

/** A server for the length of the checks. */
export interface Server {
  readonly url: string;
  readonly stop: () => void;
  /** Starts it again at the same address; absent where it is not ours to start. Throws when it cannot. */
  readonly restart?: () => Promise<void>;
}

const START_TIMEOUT_MS = 30_000;
const BUSY_MS = 5_000;
const INSTALL_TIMEOUT_MS = 10 * 60_000;
/** A mirror that is away for a moment is no fault of what is checked. */
const RETRIES = "-o Acquire::Retries=3";

/** Starts a Redis without persistence on a free port; installs it first where it is missing and we may. */
export async function startRedis(): Promise<Server> {
  if (!(await isOnPath("redis-server"))) await installPackage("redis-server");
  const port = await findFreePort();
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  return { url: `redis://127.0.0.1:${port}`, ...(await startRestartable("redis-server", args, port)) };
}

/**
 * A MongoDB to test against: the workplace's own starter where there is one beside the repository, else MONGODB_URL,
 * else `mongod` on PATH. Throws with what to do when none is found.
 */
export async function startMongodb(): Promise<Server> {
  const starter = join(ROOT, "../shared/mongo/start");
  if (existsSync(starter)) {
    const start = async (): Promise<string> => {
      const { ok, stdout, output } = await run([starter], { timeoutMs: INSTALL_TIMEOUT_MS });
      const url = stdout.trim().split("\n").at(-1) ?? "";
      if (ok && url.startsWith("mongodb")) return url;
      throw new Error(`Cannot start MongoDB by ${starter}: ${output.trim()}`);
    };
    const restart = async (): Promise<void> => {
      // What is left of it would stand in the way of a second one.
      await run([starter, "--stop"]);
      await start();
    };
    // It is left running: the next start is then instant.
    return { url: await start(), stop: () => {}, restart };
  }
  const { MONGODB_URL: url } = process.env;
  if (url !== undefined && url !== "") return { url, stop: () => {} };
  if (await isOnPath("mongod")) return startMongod();
  throw new Error("Cannot test against MongoDB: set MONGODB_URL, or put mongod on PATH.");
}

async function startMongod(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "mongod-"));
  const port = await findFreePort();
  const args = ["--dbpath", folder, "--port", String(port), "--bind_ip", "127.0.0.1", "--quiet"];
  const mongod = await startRestartable("mongod", args, port);
  return {
    url: `mongodb://127.0.0.1:${port}/?directConnection=true`,
    ...mongod,
    stop: () => {
      mongod.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** promtool, which the tests of alerts run; Debian has it in its package of Prometheus. */
export async function ensurePromtool(): Promise<void> {
  if (!(await isOnPath("promtool"))) await installPackage("prometheus");
}

/** Chromium, which the test of the explorer looks through; Debian has it under its own name. */
export async function ensureChromium(): Promise<void> {
  if (!process.env.CHROMIUM && !(await isOnPath("chromium"))) await installPackage("chromium");
}

/** pandas for Debian's own Python, which the test of the Python client makes data frames with. */
export async function ensurePandas(): Promise<void> {
  const { ok } = await run(["sh", "-c", `\${PYTHON:-/usr/bin/python3} -c "import pandas"`]);
  if (!ok) await installPackage("python3-pandas");
}

async function installPackage(name: string): Promise<void> {
  if (process.getuid?.() !== 0 || !(await isOnPath("apt-get"))) {
    throw new Error(`Cannot find ${name}: install it, it is not on PATH.`);
  }
  const command = `apt-get ${RETRIES} update -q && DEBIAN_FRONTEND=noninteractive apt-get ${RETRIES} install -y -q --no-install-recommends ${name}`;
  const { ok, output } = await run(["sh", "-c", command], { timeoutMs: INSTALL_TIMEOUT_MS });
  if (!ok) throw new Error(`Cannot install ${name}: ${output.trim()}`);
}

/** Starts a server; returns how to end it and how to start it again. */
async function startRestartable(
  program: string,
  args: readonly string[],
  port: number,
): Promise<Required<Pick<Server, "stop" | "restart">>> {
  let stop = await startProgram(program, args, port);
  return {
    stop: () => stop(),
    restart: async () => {
      stop();
      stop = await startProgram(program, args, port);
    },
  };
}

/** Starts a server and waits until it listens; returns how to end it. */
async function startProgram(program: string, args: readonly string[], port: number): Promise<() => void> {
  const child: ChildProcess = spawn(program, args, { stdio: "ignore", detached: true });
  const stop = (): void => killGroup(child, "SIGKILL");
  process.once("exit", stop);
  let ended = false;
  child.once("error", () => {
    ended = true;
  });
  child.once("exit", () => {
    ended = true;
  });
  const deadlineMs = Date.now() + START_TIMEOUT_MS;
  while (!(await isListening(port))) {
    if (ended || Date.now() > deadlineMs) {
      stop();
      throw new Error(`Cannot start ${program}: ${ended ? "it ended at once" : "it does not listen"}.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return stop;
}

/** Whether a server of this machine accepts connections. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    const find = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("connect", () => find(true)).once("error", () => find(false));
    // One that does not come to it is busy: who is away refuses at once.
    socket.setTimeout(BUSY_MS, () => find(true));
  });
}

/** A TCP port of this machine that is free at the moment. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
