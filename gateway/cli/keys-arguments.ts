import { parseArgs } from "node:util";
import type { KeyChange } from "../auth/keys/key-rows.ts";
import {
  parseCount,
  parseDuration,
  parseLimit,
  parseLine,
  parseQuota,
  parseScopes,
  UsageError,
} from "./keys-values.ts";

/** The flags of `create` and `set`; durations count from the run of the command. */
export interface KeyInput extends Omit<KeyChange, "expiresAt"> {
  /** null = never. */
  readonly expiresInSeconds?: number | null;
}

interface WithKeyId {
  readonly id: string;
}

export type KeysCommand = { readonly asJson: boolean } & (
  | { readonly name: "create"; readonly input: KeyInput & { readonly label: string } }
  | { readonly name: "list"; readonly owner?: string }
  | ({ readonly name: "set"; readonly input: KeyInput } & WithKeyId)
  | ({
      readonly name: "rotate";
      readonly overlapSeconds: number;
      readonly expiresInSeconds?: number | null;
    } & WithKeyId)
  | ({ readonly name: "suspend" | "resume" | "revoke" } & WithKeyId)
  | { readonly name: "usage"; readonly id?: string; readonly days: number }
);

const TEXT = { type: "string" } as const;
const SETTINGS = {
  label: TEXT,
  owner: TEXT,
  note: TEXT,
  scopes: TEXT,
  expires: TEXT,
  rate: TEXT,
  burst: TEXT,
  "daily-quota": TEXT,
};
const DAY_SECONDS = 86_400;
const MAX_DAYS = 400;

/**
 * Parses the arguments of the program; "help" if they request it. Throws UsageError.
 * Needs no store, so invalid arguments open none.
 */
export function parseKeysCommand(args: readonly string[]): KeysCommand | "help" {
  const [name, ...rest] = args;
  // The help of all commands is short enough for each.
  if (rest.includes("--help") || rest.includes("-h")) return "help";
  switch (name) {
    case "create": {
      const { values, asJson } = parse(rest, SETTINGS, 0);
      const input = toKeyInput(values);
      const { label } = input;
      if (!label) throw new UsageError("create needs --label <text>, to identify the key later.");
      return { name, asJson, input: { ...input, label } };
    }
    case "list": {
      const { values, asJson } = parse(rest, { owner: TEXT }, 0);
      return { name, asJson, ...(values.owner !== undefined && { owner: values.owner.trim() }) };
    }
    case "set": {
      const { values, id, asJson } = parseWithKeyId(name, rest, SETTINGS);
      const input = toKeyInput(values);
      if (Object.keys(input).length === 0)
        throw new UsageError("set needs something to set, as --note <text>.");
      return { name, asJson, id, input };
    }
    case "rotate": {
      const { values, id, asJson } = parseWithKeyId(name, rest, { overlap: TEXT, expires: TEXT });
      const overlapSeconds =
        values.overlap === undefined ? DAY_SECONDS : parseDuration("--overlap", values.overlap, 0);
      return { name, asJson, id, overlapSeconds, ...toExpiry(values.expires) };
    }
    case "suspend":
    case "resume":
    case "revoke": {
      const { id, asJson } = parseWithKeyId(name, rest, {});
      return { name, asJson, id };
    }
    case "usage": {
      const { values, asJson, ids } = parse(rest, { days: TEXT }, 1);
      const days = values.days === undefined ? 7 : parseCount("--days", values.days, MAX_DAYS);
      const [id] = ids;
      return { name, asJson, days, ...(id !== undefined && { id }) };
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

type Options = Readonly<Record<string, typeof TEXT>>;
type Values<O extends Options> = { readonly [N in keyof O]?: string };

function parse<O extends Options>(args: string[], options: O, positionals: number) {
  try {
    const all = { ...options, json: { type: "boolean" } } as const;
    const parsed = parseArgs({ args, options: all, allowPositionals: true, strict: true });
    const extra = parsed.positionals[positionals];
    if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one word too many.`);
    const values = parsed.values as Values<O> & { readonly json?: boolean };
    return { values, ids: parsed.positionals, asJson: values.json === true };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function parseWithKeyId<O extends Options>(name: string, args: string[], options: O) {
  const { values, ids, asJson } = parse(args, options, 1);
  const [id] = ids;
  if (id === undefined) throw new UsageError(`${name} needs the id of a key, as list shows it.`);
  return { values, id, asJson };
}

/** Only the given flags; an empty owner or note is null. */
function toKeyInput(values: Values<typeof SETTINGS>): KeyInput {
  const { label, owner, note, scopes, expires, rate, burst } = values;
  const quota = values["daily-quota"];
  const limits = {
    ...(rate !== undefined && { ratePerSecond: parseLimit("--rate", rate, "ratePerSecond") }),
    ...(burst !== undefined && { burst: parseLimit("--burst", burst, "burst") }),
    ...(quota !== undefined && { dailyQuota: parseQuota("--daily-quota", quota) }),
  };
  return {
    ...(label !== undefined && { label: parseLine("--label", label, 1) }),
    ...(owner !== undefined && { owner: parseLine("--owner", owner, 0) || null }),
    ...(note !== undefined && { note: parseLine("--note", note, 0) || null }),
    ...(scopes !== undefined && { scopes: parseScopes(scopes) }),
    ...toExpiry(expires),
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}

function toExpiry(text: string | undefined): { readonly expiresInSeconds?: number | null } {
  if (text === undefined) return {};
  return { expiresInSeconds: text === "never" ? null : parseDuration("--expires", text, 1) };
}
