/** `npm run backup`, `npm run restore` and `npm run check:store`. Exit code 1 = nothing done, or a fault; 2 = the call was wrong. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sanitizeText } from "../../services/shared/logging/log.ts";
import { printJson } from "../../services/shared/process/print-json.ts";
import { VERSION } from "../../services/shared/process/version.ts";
import { ConfigError, readSettings } from "../../services/shared/settings/settings.ts";
import { locateStore } from "../../services/shared/settings/store-location.ts";
import { backUp, listStores, requireWhole, restore } from "./files.ts";
import { BackupError } from "./manifest.ts";
import { dumpMongodb } from "./mongodb/dump.ts";
import { loadMongodb } from "./mongodb/load.ts";

const USAGE = `Usage:
  npm run backup -- --to <empty folder>     copies the stores of DATA_DIR or MONGODB_URL, while they are in use
  npm run restore -- --from <folder>        puts them back where there are none; stop everything before
  npm run check:store                       reads every page of each SQLite store and says what is wrong

  --json                                    prints what was done as JSON
`;

class UsageError extends Error {
  override readonly name = "UsageError";
}

const OPTIONS = {
  to: { type: "string" },
  from: { type: "string" },
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

async function run([command, ...args]: readonly string[]): Promise<void> {
  const given = parseCall(args);
  if (given.help === true || command === "--help" || command === "-h") {
    process.stdout.write(USAGE);
    return;
  }
  const { dataDir, mongodbUrl, running, note } = locateStore(process.env);
  if (note !== undefined) process.stderr.write(`${note}\n`);
  const { LEASE_TTL_MS: leaseTtlMs } = readSettings(process.env, ["LEASE_TTL_MS"]);
  const place = { dataDir, mongodbUrl, leaseTtlMs, running: running?.pid };
  const act = COMMANDS.get(command ?? "");
  if (act === undefined) throw new UsageError(`there is no command ${command ?? ""}`);
  return act(place, given);
}

type Act = (
  place: {
    readonly dataDir: string;
    readonly mongodbUrl: string | undefined;
    readonly leaseTtlMs: number;
    readonly running: number | undefined;
  },
  given: {
    readonly to?: string | undefined;
    readonly from?: string | undefined;
    readonly json?: boolean | undefined;
  },
) => Promise<void>;

const COMMANDS: ReadonlyMap<string, Act> = new Map<string, Act>([
  [
    "backup",
    async ({ dataDir, leaseTtlMs, mongodbUrl }, { to, json }) => {
      if (to === undefined) throw new UsageError("--to is missing");
      const options = { to, version: VERSION };
      const { files } =
        mongodbUrl === undefined
          ? await backUp(dataDir, options)
          : await dumpMongodb(mongodbUrl, { ...options, leaseTtlMs });
      if (json === true) printJson({ folder: to, files });
      else for (const { name, bytes } of files) process.stdout.write(`${name}  ${bytes} bytes\n`);
    },
  ],
  [
    "restore",
    async ({ dataDir, mongodbUrl, running }, { from, json }) => {
      if (from === undefined) throw new UsageError("--from is missing");
      if (running !== undefined)
        throw new BackupError(`A server runs on ${dataDir} (process ${running}): stop it first.`);
      if (mongodbUrl !== undefined) {
        const { files, madeAt } = await loadMongodb(mongodbUrl, { from });
        if (json === true) printJson({ dataDir: null, madeAt, files });
        else process.stdout.write(`The databases of ${madeAt} are at MONGODB_URL (${files.length} files).\n`);
        return;
      }
      const { files, madeAt } = await restore(dataDir, { from });
      if (json === true) printJson({ dataDir, madeAt, files });
      else process.stdout.write(`${files.length} stores of ${madeAt} are in ${dataDir}.\n`);
    },
  ],
  [
    "check",
    async ({ dataDir, mongodbUrl }, { json }) => {
      if (mongodbUrl !== undefined)
        throw new BackupError(
          "MongoDB sees to its own files. npm run doctor -- store looks at what is in them.",
        );
      const names = await listStores(dataDir);
      if (names.length === 0) throw new BackupError(`There is no store in ${dataDir}.`);
      for (const name of names) {
        await requireWhole(join(dataDir, name));
        if (json !== true) process.stdout.write(`${name}: ok\n`);
      }
      // A store that is not whole ends the command with its fault.
      if (json === true) printJson({ dataDir, stores: names.map((name) => ({ name, isWhole: true })) });
    },
  ],
]);

try {
  await run(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof UsageError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${sanitizeText(message)}\n${isUsage ? `\n${USAGE}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}
