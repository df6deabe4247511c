import type { Log } from "../../services/shared/logging/log.ts";
import type { Parts } from "./parts.ts";
import { superviseProcess } from "./supervisor.ts";

/** What the devnet's process says of itself when it serves requests. */
export interface DevnetReady {
  readonly url: string;
  readonly wsUrl: string;
  readonly resumed: boolean;
  readonly deploymentsFile: string;
  readonly pools: readonly { readonly address: string; readonly name: string; readonly fee: number }[];
}

/** The same of the Solana devnet's process. */
export interface SolanaDevnetReady {
  readonly url: string;
  readonly wsUrl: string;
  readonly resumed: boolean;
  readonly tokens: readonly { readonly symbol: string; readonly mint: string }[];
}

interface ChainOptions {
  readonly dataDir: string;
  readonly port: number;
  readonly log: Log;
  readonly say: (line: string) => void;
  /** Gets the process as soon as there is one. */
  readonly parts: Parts;
  readonly stopTimeoutMs: number;
}

export function startDevnetProcess(options: ChainOptions): Promise<DevnetReady> {
  const entry = new URL("../devnet/main.ts", import.meta.url);
  return startChainProcess({ ...options, name: "devnet", entry });
}

export function startSolanaDevnetProcess(options: ChainOptions): Promise<SolanaDevnetReady> {
  const entry = new URL("../devnet/solana/main.ts", import.meta.url);
  return startChainProcess({ ...options, name: "solana-devnet", entry });
}

/**
 * Starts a local chain as a process of its own and waits until it serves. When it dies later it is started again on
 * the same port and goes on with its chain. Rejects when it does not come up at first.
 */
function startChainProcess<R>(options: ChainOptions & { name: string; entry: URL }): Promise<R> {
  const { name, entry, dataDir, port, parts } = options;
  return new Promise<R>((resolve, reject) => {
    const said: string[] = [];
    let isServing = false;
    const chain = superviseProcess({
      name,
      program: { entry, args: ["--watch-stdin", "--port", String(port), "--data-dir", dataDir] },
      log: options.log,
      stopTimeoutMs: options.stopTimeoutMs,
      onLine: (line, from) => {
        if (from === "stdout" && line.startsWith("{")) {
          isServing = true;
          resolve(JSON.parse(line));
        } else {
          said.push(line);
          if (!parts.isStopping) options.say(line);
        }
      },
      onExit: ({ code }) => {
        reject(new Error(`The local chain (${name}) ended with ${code}: ${said.slice(-5).join(" ")}`));
        // One that has never come up is not tried again: the start fails.
        if (!isServing) void chain.stop();
      },
    });
    parts.add("behind", chain);
  });
}
