import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { findAnvilBinary, type Supervised, spawnSupervised } from "./anvil-binary.ts";
import { createRpc, type Rpc } from "./rpc.ts";
import { savedGenesisTime, saveState } from "./state-file.ts";

/** The well-known development phrase: its keys are public, never fund them on a real chain. */
export const DEV_MNEMONIC = "test test test test test test test test test test test junk";

export interface AnvilOptions {
  /** 0 or absent = a free port. */
  readonly port?: number;
  readonly host?: string;
  readonly chainId?: number;
  /** Absent = blocks are mined on demand only (evm_mine), and bear times two seconds apart. */
  readonly blockTimeS?: number;
  /** Chain to continue, written by `saveState`; ignored where the file does not exist. */
  readonly stateFile?: string;
  readonly mnemonic?: string;
  readonly accounts?: number;
  /** Unix seconds of the genesis block; absent = now. */
  readonly timestamp?: number;
  /**
   * How many of the newest blocks answer eth_call (300, at least 1: with 0 anvil hangs after some thousand blocks). Logs, blocks and receipts are kept for all.
   * A kept state takes about 0.2 MB and 0.1 KB more for every block of the chain; a transaction takes 11 KB.
   */
  readonly keptStates?: number;
  /** Blocks behind the head that bear the tag `finalized`; absent = 64. */
  readonly finalDepth?: number;
  /** Absent = true; false shows the node's own log on standard error. */
  readonly quiet?: boolean;
  readonly startTimeoutMs?: number;
}

export interface Anvil {
  readonly url: string;
  readonly wsUrl: string;
  readonly port: number;
  readonly rpc: Rpc;
  /** The supervising process; anvil itself ends with it and with this process. */
  readonly process: ChildProcess;
  /** Resolves when anvil has ended, for whatever reason. */
  readonly exited: Promise<void>;
  /** Writes the whole chain to `file` in one step; see state-file.ts. */
  saveState(file: string): Promise<void>;
  stop(): Promise<void>;
}

/** Anvil ended before it served: the message has its own words. */
export class AnvilStartError extends Error {
  override readonly name = "AnvilStartError";
  readonly portInUse: boolean;
  constructor(words: string) {
    super(`anvil could not start: ${words}`);
    this.portInUse = /address already in use/i.test(words);
  }
}

/**
 * Boots anvil from npm and answers when it serves requests. Blocks hold transactions in the order of their arrival.
 * Throws AnvilStartError where anvil refuses (port in use, unreadable state file).
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const { host = "127.0.0.1", quiet = true, startTimeoutMs = 60_000 } = options;
  const child = spawnSupervised(findAnvilBinary(), commandLine(options));
  const port = await waitForPort(child, { quiet, startTimeoutMs });
  const url = `http://${host}:${port}`;
  const rpc = createRpc(url);
  // Its start must be loud, since that names the port; from now on it would log every request.
  if (quiet) await rpc.call("anvil_setLoggingEnabled", [false]);
  await setClock(rpc, options.blockTimeS ?? 2);
  return {
    url,
    wsUrl: `ws://${host}:${port}`,
    port,
    rpc,
    process: child.process,
    exited: child.exited,
    saveState: (file) => saveState(rpc, file),
    stop: child.stop,
  };
}

/** Block times go on from the head, `intervalS` apart: a loaded chain would else take nothing older than this start. */
async function setClock(rpc: Rpc, intervalS: number): Promise<void> {
  const head = await rpc.call<{ timestamp: string }>("eth_getBlockByNumber", ["latest", false]);
  await rpc.call("anvil_setTime", [Number(head.timestamp)]);
  await rpc.call("anvil_setBlockTimestampInterval", [intervalS]);
}

function commandLine(options: AnvilOptions): string[] {
  const { host = "127.0.0.1", port = 0, chainId = 8453, accounts = 10, mnemonic = DEV_MNEMONIC } = options;
  const args = ["--host", host, "--port", String(port), "--chain-id", String(chainId), "--order", "fifo"];
  args.push("--accounts", String(accounts), "--balance", "1000000000", "--mnemonic", mnemonic);
  // The default keeps 500 states in memory and thousands more in files; --transaction-block-keeper would drop logs.
  args.push("--prune-history", String(Math.max(1, options.keptStates ?? 300)));
  args.push("--gas-limit", "500000000", "--no-request-size-limit", "--color", "never");
  // The tag lies two epochs behind the head.
  if (options.finalDepth !== undefined)
    args.push("--slots-in-an-epoch", String(Math.ceil(options.finalDepth / 2)));
  if (options.blockTimeS === undefined) args.push("--no-mining");
  else args.push("--block-time", String(options.blockTimeS));
  const { stateFile } = options;
  const isContinued = stateFile !== undefined && existsSync(stateFile);
  const timestamp = isContinued ? savedGenesisTime(stateFile) : options.timestamp;
  if (timestamp !== undefined) args.push("--timestamp", String(timestamp));
  if (isContinued) args.push("--load-state", stateFile);
  return args;
}

/** The port that anvil names once it listens: no other node on the same port can be mistaken for it. */
function waitForPort(child: Supervised, wanted: { quiet: boolean; startTimeoutMs: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = "";
    let listening = false;
    const timer = setTimeout(() => {
      child.stop().catch(() => {});
      reject(new Error(`anvil did not listen within ${wanted.startTimeoutMs} ms`));
    }, wanted.startTimeoutMs);
    child.process.stderr?.on("data", (chunk: Buffer) => {
      if (!wanted.quiet) process.stderr.write(chunk);
      if (listening) return;
      output += chunk.toString();
      const port = /^Listening on \S+:(\d+)/m.exec(output)?.[1];
      if (port === undefined) return;
      listening = true;
      clearTimeout(timer);
      resolve(Number(port));
    });
    child.process.once("close", () => {
      clearTimeout(timer);
      reject(new AnvilStartError(output.trim().split("\n").slice(-3).join(" ")));
    });
    child.process.once("error", reject);
  });
}
