/** `npm run backup`, `npm run restore` and `npm run check:store`. Exit code 1 = nothing done, or a fault; 2 = the call was wrong. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sanitizeText } from "../../services/shared/logging/log.ts";
import { printJson } from "../../services/shared/process/print-json.ts";
import { VERSION } from "../../services/shared/process/version.ts";
import { ConfigError } from "../../services/shared/settings/settings.ts";
import { locateStore } from "../../services/shared/settings/store-location.ts";
import { BackupError, backUp, listStores, requireWhole, restore } from "./files.ts";

const USAGE = `Usage:
  npm run backup -- --to <empty folder>     copies the SQLite stores of DATA_DIR, while they are in use
  npm run restore -- --from <folder>        puts them back into a DATA_DIR without stores; stop everything before
  npm run check:store                       reads every page of each store and says what is wrong

  --json                                    prints what was done as JSON
Stores in MongoDB are backed up by its own tools: docs/runbook.md.
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
  if (mongodbUrl !== undefined)
    throw new BackupError("MONGODB_URL is set: back MongoDB up by mongodump, as docs/runbook.md says.");
  if (note !== undefined) process.stderr.write(`${note}\n`);
  const place = { dataDir, running: running?.pid };
  const act = COMMANDS.get(command ?? "");
  if (act === undefined) throw new UsageError(`there is no command ${command ?? ""}`);
  return act(place, given);
}

type Act = (
  place: { readonly dataDir: string; readonly running: number | undefined },
  given: {
    readonly to?: string | undefined;
    readonly from?: string | undefined;
    readonly json?: boolean | undefined;
  },
) => Promise<void>;

const COMMANDS: ReadonlyMap<string, Act> = new Map<string, Act>([
  [
    "backup",
    async ({ dataDir }, { to, json }) => {
      if (to === undefined) throw new UsageError("--to is missing");
      const { files } = await backUp(dataDir, { to, version: VERSION });
      if (json === true) printJson({ folder: to, files });
      else for (const { name, bytes } of files) process.stdout.write(`${name}  ${bytes} bytes\n`);
    },
  ],
  [
    "restore",
    async ({ dataDir, running }, { from, json }) => {
      if (from === undefined) throw new UsageError("--from is missing");
      if (running !== undefined)
        throw new BackupError(`A server runs on ${dataDir} (process ${running}): stop it first.`);
      const { files, madeAt } = await restore(dataDir, { from });
      if (json === true) printJson({ dataDir, madeAt, files });
      else process.stdout.write(`${files.length} stores of ${madeAt} are in ${dataDir}.\n`);
    },
  ],
  [
    "check",
    async ({ dataDir }, { json }) => {
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
