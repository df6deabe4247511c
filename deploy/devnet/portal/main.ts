import { parseArgs } from "node:util";
import { readInteger, runCommand, UsageError } from "../command-line.ts";
import { PORTAL_FAULTS, type PortalFault } from "./faults.ts";
import { startPortal } from "./portal.ts";
import { recordedBlocks } from "./recorded-blocks.ts";
import { rpcBlocks } from "./rpc-blocks.ts";
import { solanaRpcBlocks } from "./solana/rpc-blocks.ts";
import { solanaDialect } from "./solana/select.ts";

const USAGE = `Usage: npm run devnet:portal -- (--rpc <url> | --solana-rpc <url> | --blocks <folder>) [options]

A portal on this machine: the blocks of a node, or recorded ones, over the protocol of an SQD Portal

  --rpc <url>          a node, also the local chain's; it must answer eth_getBlockReceipts
  --solana-rpc <url>   a Solana node, also the local cluster's
  --blocks <folder>    recorded blocks, as npm run record writes them (.jsonl, .jsonl.gz)
  --port <n>           0 = a free one                                   (default 8098)
  --dataset <name>     of the address      (default base-mainnet; solana-mainnet with --solana-rpc)
  --finalized-lag <n>  blocks that the finalized head is further behind (default 0)
  --faults <share>     probability of each fault for a request, in percent (default 0)
  --seed <n>           of the faults                                    (default 1)
  --no-limit           without the public portal's limit of 20 requests in 10 s

Prints one line of JSON with its address for EVM_PORTAL_<chain> or SOLANA_PORTAL; everything else goes to standard error.`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      rpc: { type: "string" },
      "solana-rpc": { type: "string" },
      blocks: { type: "string" },
      port: { type: "string", default: "8098" },
      dataset: { type: "string" },
      "finalized-lag": { type: "string", default: "0" },
      faults: { type: "string", default: "0" },
      seed: { type: "string", default: "1" },
      "no-limit": { type: "boolean", default: false },
    },
  });
  const solanaRpc = values["solana-rpc"];
  if ([values.rpc, solanaRpc, values.blocks].filter((each) => each !== undefined).length !== 1)
    throw new UsageError("Cannot tell where blocks come from: name one of --rpc, --solana-rpc and --blocks");
  const share = readInteger("--faults", values.faults, { min: 0, max: 100 }) / 100;
  return {
    rpc: values.rpc,
    solanaRpc,
    folder: values.blocks ?? "",
    port: readInteger("--port", values.port, { min: 0, max: 65_535 }),
    dataset: values.dataset ?? (solanaRpc === undefined ? "base-mainnet" : "solana-mainnet"),
    finalizedLag: readInteger("--finalized-lag", values["finalized-lag"], { min: 0, max: 1e9 }),
    faults: Object.fromEntries(PORTAL_FAULTS.map((name) => [name, share])) as Record<PortalFault, number>,
    seed: readInteger("--seed", values.seed, { min: 0, max: 2 ** 32 - 1 }),
    rateLimit: values["no-limit"] ? null : undefined,
  };
}

await runCommand({ name: "portal", usage: USAGE }, async (lifetime) => {
  const { rpc, solanaRpc, folder, rateLimit, ...options } = readOptions();
  const served =
    solanaRpc === undefined
      ? { blocks: rpc === undefined ? await recordedBlocks(folder) : rpcBlocks(rpc) }
      : { blocks: solanaRpcBlocks(solanaRpc), dialect: solanaDialect };
  const portal = await startPortal({ ...options, ...served, ...(rateLimit === null && { rateLimit }) });
  lifetime.startServing();
  console.log(JSON.stringify({ url: portal.url }));
  await new Promise((resolve) => lifetime.signal.addEventListener("abort", resolve, { once: true }));
  await portal.close();
});
