/**
 * `npm run audit`: compares a sample of the store's rows with the chain. Exit code 1 = differences, 2 = wrong usage.
 */

import { sanitizeText } from "../../shared/logging/log.ts";
import { readRpcUrls } from "../../shared/settings/rpc-urls.ts";
import { ConfigError } from "../../shared/settings/settings.ts";
import { locateStore } from "../../shared/settings/store-location.ts";
import { openStore } from "../../shared/storage/open.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { AUDIT_USAGE, type AuditCommand, parseAuditArguments, UsageError } from "./arguments.ts";
import { audit } from "./audit.ts";
import { type Finding, isDifference } from "./finding.ts";
import { AuditRpc } from "./rpc.ts";

try {
  const command = parseAuditArguments(process.argv.slice(2), Math.floor(Date.now() / 1000));
  if (command === "help") process.stdout.write(AUDIT_USAGE);
  else process.exitCode = (await run(command)) === 0 ? 0 : 1;
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const isUsage = error instanceof UsageError;
  process.stderr.write(`${sanitizeText(message)}\n${isUsage ? `\n${AUDIT_USAGE}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}

function isHttp(url: string): boolean {
  return /^https?:/i.test(url);
}

/** Returns the number of differences. */
async function run({ chain, pools, seed }: AuditCommand): Promise<number> {
  const { dataDir, mongodbUrl, running, note } = locateStore(process.env);
  if (note !== undefined) process.stderr.write(`${note}\n`);
  const url = running?.localRpc?.[chain] ?? readRpcUrls(process.env).get(chain)?.find(isHttp);
  if (url === undefined)
    throw new ConfigError([
      note === undefined || running?.isLocalChain
        ? `EVM_RPC_${chain} must name an RPC endpoint.`
        : "The local chain does not run: start it with npm start, or name an RPC endpoint in EVM_RPC_8453.",
    ]);
  const store = await openStore({
    service: "evm-dex",
    dataDir,
    ...(mongodbUrl !== undefined && { mongodbUrl }),
  });
  await store.declare(COLLECTIONS);
  const all: Finding[] = [];
  try {
    let sampled = 0;
    for await (const { pool, name, findings } of audit({
      store,
      rpc: new AuditRpc(url),
      chainId: chain,
      pools,
      seed,
    })) {
      sampled += 1;
      all.push(...findings);
      const wrong = findings.filter(isDifference);
      console.log(`${wrong.length === 0 ? "ok  " : "DIFF"} ${pool} ${name}: ${findings.length} values`);
      for (const { field, block, stored, chain: there } of wrong) {
        console.log(`     ${field} at block ${block}: stored ${stored}, the chain's ${there}`);
      }
    }
    const differences = all.filter(isDifference).length;
    const unanswered = all.filter((finding) => finding.chain === null).length;
    console.log(
      `${all.length} values of ${sampled} pools: ${differences} differ, ${unanswered} not available from the node (seed ${seed})`,
    );
    return differences;
  } finally {
    await store.close();
  }
}
