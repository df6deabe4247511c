import type { Log } from "../../services/shared/host/log.ts";
import { type SupervisedProcess, superviseProcess } from "../../services/shared/host/supervisor.ts";

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

interface ChainProcess<R> {
  readonly ready: R;
  readonly process: SupervisedProcess;
}

interface ChainOptions {
  readonly dataDir: string;
  readonly port: number;
  readonly log: Log;
  readonly say: (line: string) => void;
}

export function startDevnetProcess(of: ChainOptions): Promise<ChainProcess<DevnetReady>> {
  return startChainProcess({ ...of, name: "devnet", entry: new URL("../devnet/main.ts", import.meta.url) });
}

export function startSolanaDevnetProcess(of: ChainOptions): Promise<ChainProcess<SolanaDevnetReady>> {
  const entry = new URL("../devnet/solana/main.ts", import.meta.url);
  return startChainProcess({ ...of, name: "solana-devnet", entry });
}

/**
 * Starts a local chain as a process of its own and waits until it serves. When it dies later it is started again on
 * the same port and goes on with its chain. Rejects when it does not come up at first.
 */
async function startChainProcess<R>(
  of: ChainOptions & { name: string; entry: URL },
): Promise<ChainProcess<R>> {
  let process: SupervisedProcess | undefined;
  try {
    const ready = await new Promise<R>((resolve, reject) => {
      const said: string[] = [];
      process = superviseProcess({
        name: of.name,
        program: {
          entry: of.entry,
          args: ["--watch-stdin", "--port", String(of.port), "--data-dir", of.dataDir],
        },
        log: of.log,
        // Saving the chain takes a moment.
        stopTimeoutMs: 20_000,
        onLine: (line, from) => {
          if (from === "stdout" && line.startsWith("{")) resolve(JSON.parse(line));
          else {
            said.push(line);
            of.say(line);
          }
        },
        onExit: ({ code }) =>
          reject(new Error(`The local chain (${of.name}) ended with ${code}: ${said.slice(-5).join(" ")}`)),
      });
    });
    return { ready, process: process as SupervisedProcess };
  } catch (error) {
    await process?.stop();
    throw error;
  }
}
