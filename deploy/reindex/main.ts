/** `npm run reindex -- --chain <chain>`: deletes the index of a chain. Exit code 1 = nothing done, 2 = the call was wrong. */
import { createInterface } from "node:readline/promises";
import { knowDeployedChains } from "../../services/shared/evm/deployed-chains.ts";
import { sanitizeText } from "../../services/shared/logging/log.ts";
import { ConfigError, readSettings } from "../../services/shared/settings/settings.ts";
import { parseReindexCall, REINDEX_USAGE, type ReindexCall, UsageError } from "./arguments.ts";
import { indexesOf } from "./indexes.ts";
import { type Contents, countIndex, isEmpty, refuseBesideIngest, reindexStore } from "./reindex.ts";
import { findPlace, type OpenedStore, openIndexStore } from "./store.ts";

interface Found {
  readonly opened: OpenedStore;
  readonly contents: Contents;
}

const say = (text: string) => process.stderr.write(`${text}\n`);

async function run(call: ReindexCall): Promise<number> {
  const { chain, service, asJson } = call;
  const place = findPlace(process.env);
  if (place.note !== undefined) say(place.note);
  const { LEASE_TTL_MS: ttlMs } = readSettings(process.env, ["LEASE_TTL_MS"]);
  const found: Found[] = [];
  try {
    for (const index of indexesOf(chain, service)) {
      const opened = await openIndexStore(place, index);
      if (opened !== undefined) found.push({ opened, contents: await countIndex(opened) });
    }
    const held = found.filter(({ contents }) => !isEmpty(contents));
    for (const { contents } of held) describe(contents, chain);
    if (held.length === 0) say(`There is no index of chain ${chain} in ${describePlace(place)}.`);
    await Promise.all(held.map(({ opened }) => refuseBesideIngest(opened, ttlMs)));
    if (held.length > 0 && !call.isConfirmed && !(await isConfirmed(chain))) {
      say("Nothing was deleted.");
      return 1;
    }
    const reclaimed: number[] = [];
    for (const { opened, contents } of held) {
      reclaimed.push(await reindexStore(opened, ttlMs));
      say(`${contents.service}: deleted. Its ingest reads the chain again from the start.`);
    }
    const services = held.map(({ contents: { rows, store, service: name } }, i) => ({
      ...{ service: name, store, deleted: rows, reclaimedBytes: reclaimed[i] ?? 0 },
    }));
    if (asJson) process.stdout.write(`${JSON.stringify({ chain, services }, undefined, 2)}\n`);
    return 0;
  } finally {
    for (const { opened } of found) await opened.store.close();
  }
}

function describe({ service, store, rows, isUnfinished, isToRenew }: Contents, chain: string): void {
  const counted = Object.entries(rows).filter(([, count]) => count > 0);
  say(`${service}, chain ${chain}, in ${store}:`);
  for (const [name, count] of counted) say(`  ${String(count).padStart(12)}  ${name}`);
  if (isToRenew)
    say(
      "  Another version has made its tables, which are empty: they are deleted too, and the next start makes them anew.",
    );
  if (isUnfinished) say("  A reindex was cut short here: this one finishes it.");
}

function describePlace({ dataDir, mongodbUrl }: { dataDir: string; mongodbUrl: string | undefined }): string {
  return mongodbUrl === undefined ? dataDir : "the MongoDB databases of MONGODB_URL";
}

async function isConfirmed(chain: string): Promise<boolean> {
  if (process.stdin.isTTY !== true)
    throw new UsageError("Cannot confirm without a terminal: add --yes to delete");
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await prompt.question(`Type ${chain} to delete this index: `)).trim() === chain;
  } finally {
    prompt.close();
  }
}

try {
  knowDeployedChains(process.env.DEPLOYMENTS_FILE);
  const call = parseReindexCall(process.argv.slice(2));
  if (call === "help") process.stdout.write(REINDEX_USAGE);
  else process.exitCode = await run(call);
} catch (error) {
  const isUsage = error instanceof UsageError;
  const message = error instanceof Error ? error.message : String(error);
  // The store's own words may hold its address with credentials.
  process.stderr.write(`${sanitizeText(message)}\n${isUsage ? `\n${REINDEX_USAGE}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}
