import { parseArgs } from "node:util";

export const USAGE = `Usage:
  npm run backup -- --to <empty folder>     copies the stores of DATA_DIR or MONGODB_URL, while they are in use
  npm run backup -- --into <folder> [--keep <n>]
                                            the same, to a new folder in it that is named by the time (UTC); then
                                            removes the oldest of those, so that the newest n whole ones stay
  npm run restore -- --from <folder>        puts them back where there are none; stop everything before
  npm run check:store                       reads every page of each SQLite store and says what is wrong

  --json                                    prints what was done as JSON
`;

export class UsageError extends Error {
  override readonly name = "UsageError";
}

const OPTIONS = {
  to: { type: "string" },
  into: { type: "string" },
  keep: { type: "string" },
  from: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Where a backup goes: a folder that is empty or new, or one with others of which so many are kept. */
export type Target =
  | { readonly to: string }
  | { readonly into: string /** All if undefined. */; readonly keep: number | undefined };

export type Call =
  | { readonly command: "help" }
  | { readonly command: "backup"; readonly target: Target; readonly json: boolean }
  | { readonly command: "restore"; readonly from: string; readonly json: boolean }
  | { readonly command: "check"; readonly json: boolean };

/** What the words after the program's name ask for. Throws UsageError, in words. */
export function parseCall([command = "", ...args]: readonly string[]): Call {
  const given = optionsOf(args);
  if (given.help === true || command === "--help" || command === "-h") return { command: "help" };
  const { json = false, from } = given;
  if (command === "backup") return { command, target: targetOf(given), json };
  if (command === "check") return { command, json };
  if (command !== "restore") throw new UsageError(`there is no command ${command}`);
  if (from === undefined) throw new UsageError("--from is missing");
  return { command, from, json };
}

function optionsOf(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function targetOf({ to, into, keep }: ReturnType<typeof optionsOf>): Target {
  if (to !== undefined && into !== undefined) throw new UsageError("--to and --into exclude each other");
  if (to !== undefined && keep !== undefined) throw new UsageError("--keep goes with --into");
  if (to !== undefined) return { to };
  if (into === undefined) throw new UsageError("--to is missing, or --into");
  if (keep !== undefined && !/^[1-9]\d{0,3}$/.test(keep))
    throw new UsageError(`--keep ${keep} is no number from 1 on`);
  return { into, keep: keep === undefined ? undefined : Number(keep) };
}
