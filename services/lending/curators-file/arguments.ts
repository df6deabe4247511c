import { parseArgs } from "node:util";

export const CURATORS_USAGE = `Usage: npm run curators -- update --date <YYYY-MM-DD> [--curators <file>] [--deployments <file>] [--json]
                       <export…>

Writes what public lists say into the curator registry (and Morpho's listed vaults into the deployments). An export is a
file as its repository has it; its content tells which it is:

  curators-listing.json, vaults-listing.json         of morpho-org/morpho-blue-api-metadata (data/)
  <chain>/entities.json with <chain>/products.json   of euler-xyz/euler-labels; the folder names the chain

Everything that the registry had of the same list is replaced: who is no longer listed is no longer named.

  --date         the day the export was taken, or its last commit
  --curators     the registry to write; default: services/lending/curators.json
  --deployments  the deployments that get Morpho's listing; default: services/lending/deployments.json
  --json         prints what was written as JSON
`;

export interface UpdateCall {
  readonly date: string;
  readonly curators?: string | undefined;
  readonly deployments?: string | undefined;
  readonly files: readonly string[];
  readonly asJson: boolean;
}

/** The command was called wrongly. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Parses the command line. Throws UsageError. */
export function parseCuratorsCall(args: readonly string[]): UpdateCall | "help" {
  const { values, positionals } = parse(args);
  const [command, ...files] = positionals;
  if (values.help === true || command === undefined || command === "help") return "help";
  if (command !== "update") throw new UsageError(`There is no command ${command}.`);
  const { date, curators, deployments } = values;
  if (date === undefined || !/^\d{4}-\d\d-\d\d$/.test(date) || Number.isNaN(Date.parse(date)))
    throw new UsageError("--date is not a day such as 2026-05-05.");
  if (files.length === 0) throw new UsageError("No export is named.");
  return { date, curators, deployments, files, asJson: values.json === true };
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...{ date: text, curators: text, deployments: text },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}.`);
  }
}
