/** `npm run curators`: takes public lists into the registry. Exit code 1 = nothing done, 2 = the call was wrong. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { printJson } from "../../shared/process/print-json.ts";
import { type CuratorEntry, CuratorRegistry, parseCurators } from "../curators.ts";
import { CURATORS_USAGE, parseCuratorsCall, type UpdateCall, UsageError } from "./arguments.ts";
import { readExports } from "./exports.ts";
import { formatJson } from "./format-json.ts";
import { updateCurators, updateDeployments } from "./update.ts";

const builtIn = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const say = (text: string) => process.stderr.write(`${text}\n`);

async function update(call: UpdateCall): Promise<void> {
  const {
    date,
    files,
    curators = builtIn("curators.json"),
    deployments = builtIn("deployments.json"),
  } = call;
  const texts = await Promise.all(files.map(async (path) => ({ path, text: await readFile(path, "utf8") })));
  const exports = readExports(texts);
  const before = await readRegistry(curators);
  const after = updateCurators(before, { exports, date });
  // A registry that could not be loaded is not written.
  new CuratorRegistry(after);
  await replaceFile(curators, formatJson({ curators: after }));
  say(`${curators}: ${after.length} curators, ${before.length} before.`);
  const gone = namesOf(before).filter((each) => !namesOf(after).includes(each));
  for (const name of gone) say(`  no longer listed: ${name}`);
  const isListed = exports.morphoVaults !== undefined;
  if (exports.morphoVaults !== undefined)
    await updateListing(deployments, { vaults: exports.morphoVaults, date });
  const count = { before: before.length, after: after.length, noLongerListed: gone };
  if (call.asJson) printJson({ curators, ...count, deployments: isListed ? deployments : null });
}

type Listing = Parameters<typeof updateDeployments>[1];

async function updateListing(deployments: string, { vaults, date }: Listing): Promise<void> {
  const document: unknown = JSON.parse(await readFile(deployments, "utf8"));
  await replaceFile(deployments, formatJson(updateDeployments(document, { vaults, date })));
  say(`${deployments}: Morpho's listed vaults as of ${date}.`);
}

/** With its addresses as they are written there, not in lower case. */
async function readRegistry(path: string): Promise<readonly CuratorEntry[]> {
  const text = await readFile(path, "utf8").catch(() => '{ "curators": [] }');
  parseCurators(text);
  return (JSON.parse(text) as { curators: CuratorEntry[] }).curators;
}

function namesOf(entries: readonly CuratorEntry[]): string[] {
  return [...new Set(entries.map(({ name }) => name))];
}

/** Whole or not at all. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, text);
  await rename(temporary, path);
}

try {
  const call = parseCuratorsCall(process.argv.slice(2));
  if (call === "help") process.stdout.write(CURATORS_USAGE);
  else await update(call);
} catch (error) {
  const isUsage = error instanceof UsageError;
  process.stderr.write(`${(error as Error).message}\n${isUsage ? `\n${CURATORS_USAGE}` : ""}`);
  process.exitCode = isUsage ? 2 : 1;
}
