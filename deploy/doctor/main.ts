/** `npm run doctor -- --chain 8453`, and `-- store`. Exit code 1 = a start would not do well, or a fault; 2 = the call was wrong. */
import { parseArgs } from "node:util";
import { loadDeployments as loadEvmDex } from "../../services/evm-dex/deployments.ts";
import { loadDeployments as loadLending } from "../../services/lending/deployments.ts";
import { evmChainName } from "../../services/shared/evm/chains.ts";
import { sanitizeText } from "../../services/shared/logging/log.ts";
import { readRpcUrls } from "../../services/shared/settings/rpc-urls.ts";
import { ConfigError } from "../../services/shared/settings/settings.ts";
import { runStoreDoctor, STORE_USAGE, StoreUsageError } from "../store-doctor/command.ts";
import { examine } from "./examine.ts";
import { report } from "./report.ts";
import { deployedOn } from "./work.ts";

const USAGE = `Usage:
  npm run doctor -- --chain 8453 [--days 7] [--json]
  npm run doctor -- store [--help]      looks at stores instead: docs/doctor.md

Asks the endpoints of EVM_RPC_<chain> some twenty questions, and EVM_PORTAL_<chain> one, and says what a first start will
ask of them: calls, units of the provider, bytes, hours, disk. Exits with 1 if something stands against it.

  --chain N  chain id
  --days N   days of history; default: START_BLOCK_<chain>, HISTORY_DAYS, or 7
  --json     prints everything as JSON
  --help     prints this text
`;

class UsageError extends Error {
  override readonly name = "UsageError";
}

const OPTIONS = {
  chain: { type: "string" },
  days: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

function parseCall(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readNumber(name: string, text: string | undefined): number {
  if (text === undefined) throw new UsageError(`${name} is missing.`);
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${name} takes a number, not "${text}".`);
  return Number(text);
}

async function run(args: readonly string[]): Promise<number> {
  if (args[0] === "store") return runStoreDoctor(args.slice(1), process.env);
  const { help, json, ...given } = parseCall(args);
  if (help === true) {
    process.stdout.write(USAGE);
    return 0;
  }
  const chainId = readNumber("--chain", given.chain);
  const days = given.days === undefined ? undefined : readNumber("--days", given.days);
  const file = process.env.DEPLOYMENTS_FILE;
  const deployed = deployedOn(chainId, { evmDex: loadEvmDex(file), lending: loadLending(file) });
  if (deployed === undefined) throw new UsageError(`The deployments have no chain ${chainId}.`);
  const urls = readRpcUrls(process.env).get(chainId);
  if (urls === undefined) throw new ConfigError([`EVM_RPC_${chainId} must name an RPC endpoint to look at.`]);
  const name = evmChainName(chainId);
  const diagnosis = await examine({ chainId, name, urls, deployed, days, env: process.env });
  process.stdout.write(json === true ? `${JSON.stringify(diagnosis, undefined, 2)}\n` : report(diagnosis));
  return diagnosis.warnings.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  const usage = error instanceof StoreUsageError ? STORE_USAGE : USAGE;
  const isUsage = error instanceof UsageError || error instanceof StoreUsageError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${sanitizeText(message)}\n${isUsage ? `\n${usage}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}
