import { parseArgs } from "node:util";
import { openDevnet } from "./devnet.ts";

const USAGE = `devnet: a local chain with pools, gauges and traders, kept in DATA_DIR/devnet

  --port <n>           JSON-RPC port, 0 = a free one    (DEVNET_PORT, default 8545)
  --data-dir <path>    where the chain is kept          (DATA_DIR, default ./data)
  --block-ms <n>       time between blocks              (default 2000)
  --history-hours <n>  how far back a new chain begins  (default 192)
  --watch-stdin        end when standard input closes: for a parent process, whose death then ends the chain too

Prints one line of JSON on standard output when it serves requests; everything else goes to standard error.`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: process.env.DEVNET_PORT || "8545" },
      "data-dir": { type: "string", default: process.env.DATA_DIR || "./data" },
      "block-ms": { type: "string", default: "2000" },
      "history-hours": { type: "string", default: "192" },
      "watch-stdin": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  return {
    port: readInteger("--port", values.port, { min: 0, max: 65_535 }),
    dataDir: values["data-dir"],
    blockTimeMs: readInteger("--block-ms", values["block-ms"], { min: 50, max: 3_600_000 }),
    historyS: 3_600 * readInteger("--history-hours", values["history-hours"], { min: 0, max: 24 * 365 }),
    watchStdin: values["watch-stdin"],
    help: values.help,
  };
}

function readInteger(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new Error(`Cannot use ${name}: ${text} is not an integer from ${min} to ${max}`);
  }
  return value;
}

async function main(): Promise<void> {
  const { help, watchStdin, ...options } = readOptions();
  if (help) {
    console.log(USAGE);
    return;
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // Asked twice: do not wait for the save.
      if (stop.signal.aborted) process.exit(1);
      stop.abort();
    });
  }
  if (watchStdin) process.stdin.on("close", () => stop.abort()).resume();
  const { run, ...ready } = await openDevnet({
    ...options,
    say: (message) => console.error(`devnet: ${message}`),
  });
  console.log(JSON.stringify(ready));
  await run(stop.signal);
}

try {
  await main();
  // Standard input may still be open, and would keep the process.
  process.exit(0);
} catch (error) {
  console.error(`devnet: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
