import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { createRpc, type Rpc } from "./rpc.ts";

/** The well-known development phrase: its keys are public, never fund them on a real chain. */
export const DEV_MNEMONIC = "test test test test test test test test test test test junk";

export interface AnvilOptions {
  /** 0 or absent = a free port. */
  readonly port?: number;
  readonly host?: string;
  readonly chainId?: number;
  /** Absent = blocks are mined on demand only (evm_mine). */
  readonly blockTimeS?: number;
  /** Chain to continue, written by `saveState`; ignored where the file does not exist. */
  readonly stateFile?: string;
  readonly mnemonic?: string;
  readonly accounts?: number;
  /** Unix seconds of the genesis block; absent = now. */
  readonly timestamp?: number;
  /** How many of the newest blocks answer eth_call; logs, blocks and receipts are kept for all. */
  readonly keptStates?: number;
  readonly quiet?: boolean;
  readonly startTimeoutMs?: number;
}

export interface Anvil {
  readonly url: string;
  readonly wsUrl: string;
  readonly port: number;
  readonly rpc: Rpc;
  /** The supervising process; anvil itself dies with it and with this process. */
  readonly process: ChildProcess;
  /** Resolves when anvil has ended, for whatever reason. */
  readonly exited: Promise<void>;
  /** Writes the whole chain to `file` in one step (temporary file, then rename): a kill never leaves half a file. */
  saveState(file: string): Promise<void>;
  stop(): Promise<void>;
}

const PLATFORM_PACKAGES: Record<string, string> = {
  "linux-x64": "@foundry-rs/anvil-linux-amd64",
  "linux-arm64": "@foundry-rs/anvil-linux-arm64",
  "darwin-x64": "@foundry-rs/anvil-darwin-amd64",
  "darwin-arm64": "@foundry-rs/anvil-darwin-arm64",
  "win32-x64": "@foundry-rs/anvil-win32-amd64",
};

/** Path of the anvil binary that npm installed for this machine. Throws a readable error where there is none. */
export function findAnvilBinary(platform: string = process.platform, arch: string = process.arch): string {
  const name = PLATFORM_PACKAGES[`${platform}-${arch}`];
  if (!name) {
    const known = Object.keys(PLATFORM_PACKAGES).join(", ");
    throw new Error(
      `No anvil for ${platform}-${arch} (there is one for ${known}); set EVM_RPC_8453 to use a real node`,
    );
  }
  const require = createRequire(import.meta.url);
  try {
    const root = dirname(require.resolve(`${name}/package.json`));
    return join(root, "bin", platform === "win32" ? "anvil.exe" : "anvil");
  } catch (cause) {
    throw new Error(`${name} is not installed; run npm ci with development and optional dependencies`, {
      cause,
    });
  }
}

// Holds anvil for as long as the parent holds stdin open: the pipe closes even when the parent is killed by SIGKILL.
const SUPERVISE = `exec 3<&0
"$@" </dev/null 1>&2 &
child=$!
( read _ <&3; kill -TERM $child; sleep 5; kill -KILL $child ) >/dev/null 2>&1 &
watch=$!
wait $child
code=$?
kill $watch 2>/dev/null
exit $code`;

function spawnSupervised(binary: string, args: readonly string[]): ChildProcess {
  const stdio: ["pipe", "ignore", "pipe"] = ["pipe", "ignore", "pipe"];
  if (process.platform === "win32") {
    const child = spawn(binary, args, { stdio });
    process.once("exit", () => child.kill());
    return child;
  }
  // Detached: a Ctrl-C in the terminal must reach us, not anvil, so that we can save the chain first.
  return spawn("/bin/sh", ["-c", SUPERVISE, "anvil", binary, ...args], { stdio, detached: true });
}

/** A port nobody listens on at this moment. */
export function findFreePort(host = "127.0.0.1"): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() =>
        address && typeof address === "object" ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

/**
 * Boots anvil from npm and answers when it serves requests. Mines on demand, in submission order.
 * With `port` 0 another free port is tried when the first was taken meanwhile.
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const binary = findAnvilBinary();
  const fixedPort = options.port ?? 0;
  for (let attempt = 1; ; attempt++) {
    const port = fixedPort || (await findFreePort(options.host));
    try {
      return await boot(binary, port, options);
    } catch (error) {
      if (fixedPort || attempt === 3 || !String(error).includes("in use")) throw error;
    }
  }
}

function commandLine(port: number, options: AnvilOptions): string[] {
  const { host = "127.0.0.1", chainId = 8453, accounts = 10, mnemonic = DEV_MNEMONIC } = options;
  const args = ["--host", host, "--port", String(port), "--chain-id", String(chainId), "--order", "fifo"];
  args.push("--accounts", String(accounts), "--balance", "1000000000", "--mnemonic", mnemonic);
  args.push("--gas-limit", "500000000", "--prune-history", String(options.keptStates ?? 300));
  args.push("--no-request-size-limit", "--quiet");
  if (options.blockTimeS === undefined) args.push("--no-mining");
  else args.push("--block-time", String(options.blockTimeS));
  if (options.timestamp !== undefined) args.push("--timestamp", String(options.timestamp));
  if (options.stateFile !== undefined && existsSync(options.stateFile))
    args.push("--load-state", options.stateFile);
  return args;
}

async function boot(binary: string, port: number, options: AnvilOptions): Promise<Anvil> {
  const { host = "127.0.0.1", chainId = 8453, quiet = true, startTimeoutMs = 60_000 } = options;
  const child = spawnSupervised(binary, commandLine(port, options));
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-2000);
    if (!quiet) process.stderr.write(chunk);
  });
  child.stdin?.on("error", () => {});
  let running = true;
  const exited = new Promise<void>((resolve) => {
    const finish = () => {
      running = false;
      resolve();
    };
    child.once("exit", finish);
    child.once("error", finish);
  });
  const stop = () => {
    if (running) child.stdin?.end();
    if (process.platform === "win32") child.kill();
    return exited;
  };

  const url = `http://${host}:${port}`;
  const rpc = createRpc(url);
  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    if (!running) throw new Error(`anvil ended while starting on port ${port}: ${complaint.trim()}`);
    const answer = await rpc.call<string>("eth_chainId").catch(() => null);
    if (answer !== null && Number(answer) !== chainId) {
      await stop();
      throw new Error(`Port ${port} is in use by a node of chain ${Number(answer)}`);
    }
    if (answer !== null && running) break;
    if (Date.now() > deadline) {
      await stop();
      throw new Error(
        `anvil did not answer on port ${port} within ${startTimeoutMs} ms: ${complaint.trim()}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return {
    url,
    wsUrl: `ws://${host}:${port}`,
    port,
    rpc,
    process: child,
    exited,
    saveState: (file) => dumpState(rpc, file),
    stop,
  };
}

async function dumpState(rpc: Rpc, file: string): Promise<void> {
  // The node answers hex of gzip; --load-state wants the JSON inside.
  const hex = await rpc.call<string>("anvil_dumpState");
  const json = await promisify(gunzip)(Buffer.from(hex.slice(2), "hex"));
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, json);
  await rename(temporary, file);
}
