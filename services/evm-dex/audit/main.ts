/**
 * `npm run audit`: compares rows of the store with each other and with the chain. Exit code 1 = differences, or a planted
 * value that was not reported; 2 = wrong usage.
 */

import { knowDeployedChains } from "../../shared/evm/deployed-chains.ts";
import { sanitizeText } from "../../shared/logging/log.ts";
import { printJson } from "../../shared/process/print-json.ts";
import { readRpcUrls } from "../../shared/settings/rpc-urls.ts";
import { ConfigError } from "../../shared/settings/settings.ts";
import { locateStore } from "../../shared/settings/store-location.ts";
import { openStore } from "../../shared/storage/open.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { loadDeployments } from "../deployments.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { AUDIT_USAGE, type AuditCommand, parseAuditArguments, UsageError } from "./arguments.ts";
import { type AuditOptions, audit } from "./audit.ts";
import { copyChain, plant } from "./plant.ts";
import { AuditRpc } from "./rpc.ts";

/** Differences that are printed of one pool. */
const PRINTED = 50;
/** Wrong values of each column with --plant. */
const ROWS_A_COLUMN = 3;

try {
  knowDeployedChains(process.env.DEPLOYMENTS_FILE);
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

/** Returns the number of differences, or of planted values that were not reported. */
async function run(command: AuditCommand): Promise<number> {
  const { chain, pools, seed, storeOnly } = command;
  const { dataDir, isLocal, mongodbUrl, running, note } = locateStore(process.env);
  if (note !== undefined) process.stderr.write(`${note}\n`);
  const url = running?.localRpc?.[chain] ?? readRpcUrls(process.env).get(chain)?.find(isHttp);
  if (url === undefined && !storeOnly)
    throw new ConfigError([
      note === undefined || running?.isLocalChain
        ? `EVM_RPC_${chain} must name an RPC endpoint, or --store-only leaves out what needs one.`
        : "The local chain does not run: start it with npm start, or name an RPC endpoint in EVM_RPC_8453.",
    ]);
  const file = process.env.DEPLOYMENTS_FILE ?? running?.deploymentsFile;
  // Of a local chain that does not run, nothing says what is deployed there.
  const registry = file === undefined && isLocal ? [] : loadDeployments(file);
  const deployments = registry.find(({ chainId }) => chainId === chain);
  const store = await openStore({
    service: "evm-dex",
    dataDir,
    access: "read",
    ...(mongodbUrl !== undefined && { mongodbUrl }),
  });
  await store.declare(COLLECTIONS);
  const rpc = url === undefined || storeOnly ? undefined : new AuditRpc(url);
  const options = { store, rpc, chainId: chain, deployments, pools, seed };
  try {
    return await (command.plant ? printPlants(options, command.asJson) : printAudit(options, command.asJson));
  } finally {
    await store.close();
  }
}

async function printAudit(options: AuditOptions, asJson: boolean): Promise<number> {
  const sum = { values: 0, differences: 0, unavailable: 0, pools: 0 };
  const checks: object[] = [];
  for await (const check of audit(options)) {
    const { pool, name, note = null, tally } = check;
    const { differences, unavailable, values } = tally;
    if (pool !== "") sum.pools += 1;
    sum.values += values;
    sum.differences += differences.length;
    sum.unavailable += unavailable;
    if (asJson) checks.push({ pool: pool === "" ? null : pool, name, values, differences, note });
    else printCheck(check);
  }
  if (asJson) {
    printJson({ chainId: options.chainId, seed: options.seed, ...sum, checks });
    return sum.differences;
  }
  const node =
    options.rpc === undefined ? "no node was asked" : `${sum.unavailable} not available from the node`;
  console.log(
    `${sum.values} values of ${sum.pools} pools: ${sum.differences} differ, ${node} (seed ${options.seed})`,
  );
  return sum.differences;
}

type Check = ReturnType<typeof audit> extends AsyncIterable<infer Found> ? Found : never;

function printCheck({ pool, name, note, tally: { differences, values } }: Check): void {
  const verdict = differences.length === 0 ? "ok  " : "DIFF";
  console.log(`${verdict} ${pool === "" ? name : `${pool} ${name}`}: ${values} values`);
  for (const { at, expected, field, pool: where, stored } of differences.slice(0, PRINTED)) {
    const place = [where === pool ? "" : where, at].filter((part) => part !== "").join(", ");
    console.log(`     ${field} at ${place}: stored ${stored}, must be ${expected}`);
  }
  if (note !== undefined) console.log(`     ${note}`);
  if (differences.length > PRINTED) console.log(`     and ${differences.length - PRINTED} more`);
}

async function printPlants(options: AuditOptions, asJson: boolean): Promise<number> {
  const copy = await openSqliteStore({ path: ":memory:" });
  let [columns, missedCount] = [0, 0];
  const plants: object[] = [];
  try {
    await copyChain(options.store, copy, options.chainId);
    for await (const { column, missed, planted } of plant({
      ...options,
      store: copy,
      rowsAColumn: ROWS_A_COLUMN,
    })) {
      columns += planted > 0 ? 1 : 0;
      missedCount += missed.length;
      if (asJson) {
        plants.push({ column, planted, missed });
        continue;
      }
      const verdict = missed.length > 0 ? `NOT FOUND in ${missed.join("; ")}` : "found";
      console.log(`${column.padEnd(34)} ${planted === 0 ? "no rows" : `${verdict} (${planted})`}`);
    }
  } finally {
    await copy.close();
  }
  if (asJson)
    printJson({ chainId: options.chainId, seed: options.seed, columns, missed: missedCount, plants });
  else console.log(`${columns} columns, ${missedCount} planted values not found (seed ${options.seed})`);
  return missedCount;
}
