import { parseArgs } from "node:util";
import type { Family } from "../../services/shared/contract/endpoint.ts";
import { FAMILIES, isFamily } from "./key-record.ts";

export const KEYS_USAGE = `Usage:
  npm run keys -- create --label <text> [--scopes ${FAMILIES.join(",")}] [--expires <n>d|<n>h]
  npm run keys -- list [--json]
  npm run keys -- revoke <id>

create  makes a key and shows it, once. Without --scopes it may ask every family; without --expires it never ends.
list    shows every key by id; the keys themselves are stored nowhere.
revoke  ends a key. Running gateways refuse it within 10 seconds.

The store is the one the gateway uses: MONGODB_URL, or the embedded database in DATA_DIR.
`;

/** A call that cannot be carried out as written; the caller shows the message and the usage, and exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export type KeysCommand =
  | {
      readonly name: "create";
      readonly label: string;
      readonly scopes: readonly Family[];
      readonly expiresInSeconds?: number;
    }
  | { readonly name: "list"; readonly asJson: boolean }
  | { readonly name: "revoke"; readonly id: string };

/**
 * Reads the words after the program's name; "help" when that is what they ask for. Throws UsageError.
 * Needs no store, so a wrong call opens none.
 */
export function parseKeysCommand(args: readonly string[]): KeysCommand | "help" {
  const [name, ...rest] = args;
  switch (name) {
    case "create": {
      const { values } = parse(
        rest,
        { label: { type: "string" }, scopes: { type: "string" }, expires: { type: "string" } },
        0,
      );
      const label = values.label?.trim();
      if (!label) throw new UsageError("create needs --label <text>, to know the key by later.");
      if (label.length > 100 || /\p{Cc}/u.test(label))
        throw new UsageError("--label takes up to 100 characters on one line.");
      const command = { name, label, scopes: parseScopes(values.scopes) } as const;
      return values.expires === undefined
        ? command
        : { ...command, expiresInSeconds: parseDuration(values.expires) };
    }
    case "list":
      return { name, asJson: parse(rest, { json: { type: "boolean" } }, 0).values.json === true };
    case "revoke": {
      const [id] = parse(rest, {}, 1).positionals;
      if (id === undefined) throw new UsageError("revoke needs the id of a key, as list shows it.");
      return { name, id };
    }
    case "help":
    case "--help":
    case "-h":
      return "help";
    default:
      throw new UsageError(
        name === undefined ? "A command is needed." : `There is no command ${JSON.stringify(name)}.`,
      );
  }
}

function parse<const O extends NonNullable<Parameters<typeof parseArgs>[0]>["options"]>(
  args: string[],
  options: O,
  positionals: number,
) {
  try {
    const parsed = parseArgs({ args, options, allowPositionals: true, strict: true });
    const extra = parsed.positionals[positionals];
    if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one word too many.`);
    return parsed;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function parseScopes(text: string | undefined): readonly Family[] {
  if (text === undefined) return FAMILIES;
  const names = text.split(",").map((name) => name.trim());
  const scopes = names.filter(isFamily);
  const wrong = names.find((name) => !isFamily(name));
  if (wrong !== undefined)
    throw new UsageError(`--scopes takes ${FAMILIES.join(", ")}, got ${JSON.stringify(wrong)}.`);
  return [...new Set(scopes)];
}

function parseDuration(text: string): number {
  const [, digits, unit] = /^([1-9]\d{0,4})([dh])$/.exec(text) ?? [];
  if (digits === undefined)
    throw new UsageError(`--expires takes days or hours such as 30d or 12h, got ${JSON.stringify(text)}.`);
  return Number(digits) * (unit === "d" ? 86_400 : 3_600);
}
