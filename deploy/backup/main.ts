/** `npm run backup`, `npm run restore` and `npm run check:store`. Exit code 1 = nothing done, or a fault; 2 = the call was wrong. */
import { join } from "node:path";
import { sanitizeText } from "../../services/shared/logging/log.ts";
import { printJson } from "../../services/shared/process/print-json.ts";
import { VERSION } from "../../services/shared/process/version.ts";
import { ConfigError, readSettings } from "../../services/shared/settings/settings.ts";
import { locateStore } from "../../services/shared/settings/store-location.ts";
import { type Call, parseCall, USAGE, UsageError } from "./call.ts";
import { backUpDated } from "./dated.ts";
import { backUp, listStores, requireWhole, restore } from "./files.ts";
import { BackupError, type BackupFile } from "./manifest.ts";
import { dumpMongodb } from "./mongodb/dump.ts";
import { loadMongodb } from "./mongodb/load.ts";

async function run(words: readonly string[]): Promise<void> {
  const call = parseCall(words);
  if (call.command === "help") {
    process.stdout.write(USAGE);
    return;
  }
  const { dataDir, mongodbUrl, running, note } = locateStore(process.env);
  if (note !== undefined) process.stderr.write(`${note}\n`);
  const { LEASE_TTL_MS: leaseTtlMs } = readSettings(process.env, ["LEASE_TTL_MS"]);
  const place = { dataDir, mongodbUrl, leaseTtlMs, running: running?.pid };
  if (call.command === "backup") return backUpAll(place, call);
  return call.command === "restore" ? restoreAll(place, call) : check(place, call);
}

interface Place {
  readonly dataDir: string;
  readonly mongodbUrl: string | undefined;
  readonly leaseTtlMs: number;
  readonly running: number | undefined;
}
type Given<C extends Call["command"]> = Extract<Call, { readonly command: C }>;

async function backUpAll(place: Place, { target, json }: Given<"backup">): Promise<void> {
  const { dataDir, leaseTtlMs, mongodbUrl } = place;
  const make = (to: string) =>
    mongodbUrl === undefined
      ? backUp(dataDir, { to, version: VERSION })
      : dumpMongodb(mongodbUrl, { to, version: VERSION, leaseTtlMs });
  const print = (files: readonly BackupFile[]) => {
    for (const { name, bytes } of files) process.stdout.write(`${name}  ${bytes} bytes\n`);
  };
  if ("to" in target) {
    const { files } = await make(target.to);
    if (json) printJson({ folder: target.to, files });
    else print(files);
    return;
  }
  const { folder, manifest, removed } = await backUpDated(target.into, { keep: target.keep, make });
  if (json) return printJson({ folder, files: manifest.files, removed });
  print(manifest.files);
  process.stdout.write(`${folder} is whole.\n`);
  for (const old of removed) process.stdout.write(`${old} is removed.\n`);
}

async function restoreAll(place: Place, { from, json }: Given<"restore">): Promise<void> {
  const { dataDir, mongodbUrl, running } = place;
  if (running !== undefined)
    throw new BackupError(`A server runs on ${dataDir} (process ${running}): stop it first.`);
  if (mongodbUrl !== undefined) {
    const { files, madeAt } = await loadMongodb(mongodbUrl, { from });
    if (json) printJson({ dataDir: null, madeAt, files });
    else process.stdout.write(`The databases of ${madeAt} are at MONGODB_URL (${files.length} files).\n`);
    return;
  }
  const { files, madeAt } = await restore(dataDir, { from });
  if (json) printJson({ dataDir, madeAt, files });
  else process.stdout.write(`${files.length} stores of ${madeAt} are in ${dataDir}.\n`);
}

async function check({ dataDir, mongodbUrl }: Place, { json }: Given<"check">): Promise<void> {
  if (mongodbUrl !== undefined)
    throw new BackupError("MongoDB sees to its own files. npm run doctor -- store looks at what is in them.");
  const names = await listStores(dataDir);
  if (names.length === 0) throw new BackupError(`There is no store in ${dataDir}.`);
  for (const name of names) {
    await requireWhole(join(dataDir, name));
    if (!json) process.stdout.write(`${name}: ok\n`);
  }
  // A store that is not whole ends the command with its fault.
  if (json) printJson({ dataDir, stores: names.map((name) => ({ name, isWhole: true })) });
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof UsageError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${sanitizeText(message)}\n${isUsage ? `\n${USAGE}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}
