import { parseArgs } from "node:util";
import { readInteger, runCommand } from "../command-line.ts";
import { openSolanaDevnet } from "./devnet.ts";
import { startGeyserServer } from "./geyser/server.ts";
import { chainOfBlocks, readRecordedBlocks } from "./server/recorded-chain.ts";
import { startRpcServer } from "./server/rpc-server.ts";

const USAGE = `Usage: npm run devnet:solana -- [options]

A chain with pools of Raydium, Orca, Meteora and Pump.fun and with traders, kept in DATA_DIR/solana-devnet

  --port <n>           port of JSON-RPC and websocket, 0 = a free one  (default 8899)
  --grpc-port <n>      port of Yellowstone's gRPC interface, 0 = a free one  (default none)
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
      "grpc-port": { type: "string" },
      "data-dir": { type: "string", default: process.env.DATA_DIR || "./data" },
      "slot-ms": { type: "string", default: "400" },
      "history-hours": { type: "string", default: "192" },
      blocks: { type: "string" },
      "watch-stdin": { type: "boolean", default: false },
    },
  });
  return {
    port: readInteger("--port", values.port, { min: 0, max: 65_535 }),
    grpcPort:
      values["grpc-port"] === undefined
        ? undefined
        : readInteger("--grpc-port", values["grpc-port"], { min: 0, max: 65_535 }),
    dataDir: values["data-dir"],
    slotMs: readInteger("--slot-ms", values["slot-ms"], { min: 20, max: 60_000 }),
    historyS: 3_600 * readInteger("--history-hours", values["history-hours"], { min: 0, max: 24 * 365 }),
    blocks: values.blocks,
    watchStdin: values["watch-stdin"],
  };
}

/** A node that has come to the last of the recorded blocks, and stays there. */
async function openRecorded(
  folder: string,
  { port, grpcPort }: { port: number; grpcPort?: number | undefined },
) {
  const chain = chainOfBlocks(readRecordedBlocks(folder));
  const { url, wsUrl, close } = await startRpcServer(chain, { port });
  const geyser = grpcPort === undefined ? undefined : await startGeyserServer(chain, { port: grpcPort });
  const ended = (signal: AbortSignal) =>
    new Promise<void>((resolve) =>
      signal.addEventListener(
        "abort",
        () => resolve(Promise.all([close(), geyser?.close()]).then(() => {})),
        {
          once: true,
        },
      ),
    );
  return {
    url,
    wsUrl,
    grpcUrl: geyser?.url,
    firstSlot: chain.firstAvailable(),
    lastSlot: chain.head("confirmed"),
    run: ended,
  };
}

await runCommand({ name: "solana devnet", usage: USAGE }, async (lifetime) => {
  const { watchStdin, blocks, ...options } = readOptions();
  if (watchStdin) lifetime.watchStdin();
  const say = (message: string) => console.error(`solana devnet: ${message}`);
  const { run, ...ready } =
    blocks === undefined ? await openSolanaDevnet({ ...options, say }) : await openRecorded(blocks, options);
  lifetime.startServing();
  console.log(JSON.stringify(ready));
  await run(lifetime.signal);
});
