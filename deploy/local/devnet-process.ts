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

/**
 * Starts the local chain as a process of its own and waits until it serves. When it dies later it is started again on
 * the same port and goes on with its chain. Rejects when it does not come up at first.
 */
export async function startDevnetProcess(of: {
  dataDir: string;
  port: number;
  log: Log;
  say: (line: string) => void;
}): Promise<{ ready: DevnetReady; process: SupervisedProcess }> {
  let process: SupervisedProcess | undefined;
  try {
    const ready = await new Promise<DevnetReady>((resolve, reject) => {
      const said: string[] = [];
      process = superviseProcess({
        name: "devnet",
        program: {
          entry: new URL("../devnet/main.ts", import.meta.url),
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
          reject(new Error(`The local chain ended with ${code}: ${said.slice(-5).join(" ")}`)),
      });
    });
    return { ready, process: process as SupervisedProcess };
  } catch (error) {
    await process?.stop();
    throw error;
  }
}
