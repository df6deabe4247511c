import { parseArgs } from "node:util";
import { readInteger, runCommand } from "./command-line.ts";
import { openDevnet } from "./devnet.ts";

const USAGE = `Usage: npm run devnet -- [options]

A local chain with pools, gauges and traders, kept in DATA_DIR/devnet

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
    },
  });
  return {
    port: readInteger("--port", values.port, { min: 0, max: 65_535 }),
    dataDir: values["data-dir"],
    blockTimeMs: readInteger("--block-ms", values["block-ms"], { min: 50, max: 3_600_000 }),
    historyS: 3_600 * readInteger("--history-hours", values["history-hours"], { min: 0, max: 24 * 365 }),
    watchStdin: values["watch-stdin"],
  };
}

await runCommand({ name: "devnet", usage: USAGE }, async (lifetime) => {
  const { watchStdin, ...options } = readOptions();
  if (watchStdin) lifetime.watchStdin();
  const { run, ...ready } = await openDevnet({
    ...options,
    say: (message) => console.error(`devnet: ${message}`),
  });
  lifetime.startServing();
  console.log(JSON.stringify(ready));
  await run(lifetime.signal);
});
