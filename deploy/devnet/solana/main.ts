import { parseArgs } from "node:util";
import { openSolanaDevnet } from "./devnet.ts";
import { chainOfBlocks, readRecordedBlocks } from "./server/recorded-chain.ts";
import { startRpcServer } from "./server/rpc-server.ts";

const USAGE = `devnet/solana: a chain with pools of Raydium, Orca, Meteora and Pump.fun and with traders, kept in DATA_DIR/solana-devnet

  --port <n>           port of JSON-RPC and websocket, 0 = a free one  (default 8899)
  --data-dir <path>    where the chain is kept                         (DATA_DIR, default ./data)
  --slot-ms <n>        time between slots                              (default 400)
  --history-hours <n>  how far back a new chain begins                 (default 192)
  --blocks <folder>    serve recorded blocks instead: files <slot>.json with getBlock's result
  --watch-stdin        end when standard input closes: for a parent process, whose death then ends the chain too

Prints one line of JSON on standard output when it serves requests; everything else goes to standard error.`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8899" },
      "data-dir": { type: "string", default: process.env.DATA_DIR || "./data" },
      "slot-ms": { type: "string", default: "400" },
      "history-hours": { type: "string", default: "192" },
      blocks: { type: "string" },
      "watch-stdin": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  return {
    port: readInteger("--port", values.port, { min: 0, max: 65_535 }),
    dataDir: values["data-dir"],
    slotMs: readInteger("--slot-ms", values["slot-ms"], { min: 20, max: 60_000 }),
    historyS: 3_600 * readInteger("--history-hours", values["history-hours"], { min: 0, max: 24 * 365 }),
    blocks: values.blocks,
    watchStdin: values["watch-stdin"],
    help: values.help,
  };
}

function readInteger(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new Error(`Cannot use ${name}: ${text} is not an integer from ${min} to ${max}`);
  return value;
}

async function main(): Promise<void> {
  const { help, watchStdin, blocks, ...options } = readOptions();
  if (help) {
    console.log(USAGE);
    return;
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  if (watchStdin) process.stdin.on("close", () => stop.abort()).resume();
  const say = (message: string) => console.error(`solana devnet: ${message}`);
  const { run, ...ready } =
    blocks === undefined
      ? await openSolanaDevnet({ ...options, say })
      : await openRecorded(blocks, options.port);
  console.log(JSON.stringify(ready));
  await run(stop.signal);
}

/** A node that has come to the last of the recorded blocks, and stays there. */
async function openRecorded(folder: string, port: number) {
  const chain = chainOfBlocks(readRecordedBlocks(folder));
  const { url, wsUrl, close } = await startRpcServer(chain, { port });
  const ended = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(close()), { once: true }));
  return { url, wsUrl, firstSlot: chain.firstAvailable(), lastSlot: chain.head("confirmed"), run: ended };
}

try {
  await main();
  // Standard input may still be open, and would keep the process.
  process.exit(0);
} catch (error) {
  console.error(`solana devnet: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
