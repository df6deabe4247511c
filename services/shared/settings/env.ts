import { readFileSync } from "node:fs";
import { isIP } from "node:net";

/**
 * Typed reading of environment variables: rules and errors; the product's variables are in settings.ts. Without zod, which
 * processes without HTTP do not load: docs/decisions/0036-libraries-by-measurement.md.
 */
import { keccak_256 } from "@noble/hashes/sha3.js";
import { registerSecret } from "./secrets.ts";

/** Parses the text of a variable; throws InvalidSetting with the rule in words. */
export type Parse<T> = (text: string) => T;

/** One environment variable: its parser and its documentation. */
export interface Setting<T> {
  readonly parse: Parse<T>;
  /** Text used when the variable is unset or empty; absent = the value is undefined then. */
  readonly default?: string;
  readonly meaning: string;
  /** Processes that read it. */
  readonly usedBy: readonly string[];
  /** The value may hold a credential: errors, logs and docs never show it. */
  readonly secret?: true;
}

export type Environment = Readonly<Record<string, string | undefined>>;

type ValueOf<S> = S extends { readonly default: string; readonly parse: Parse<infer T> }
  ? T
  : S extends { readonly parse: Parse<infer T> }
    ? T | undefined
    : never;

// biome-ignore lint/suspicious/noExplicitAny: a table of settings holds values of many types.
export type Settings = Readonly<Record<string, Setting<any>>>;
export type EnvOf<S extends Settings> = { readonly [K in keyof S]: ValueOf<S[K]> };

/** The rule that a value broke, as a phrase after "must be". */
export class InvalidSetting extends Error {
  override readonly name = "InvalidSetting";
}

/** One or more variables are missing or wrong. A restart does not help, so supervisors do not retry. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/**
 * Reads the variables of `spec` from `env`; an empty text counts as unset, since container tools set it so.
 * Throws one ConfigError that names every broken variable with its rule and value (never a secret's value).
 * Registers each secret: no log line of this process can contain it.
 */
export function readEnv<const S extends Settings>(env: Environment, spec: S): EnvOf<S> {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, setting] of Object.entries(spec)) {
    const raw = setting.secret === true ? readSecret(env, name, problems) : env[name];
    const text = raw === undefined || raw.trim() === "" ? setting.default : raw.trim();
    if (text === undefined) {
      values[name] = undefined;
      continue;
    }
    if (setting.secret) registerSecret(text);
    try {
      values[name] = setting.parse(text);
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      const shown = setting.secret
        ? "the value is not shown since it may hold a credential"
        : JSON.stringify(text);
      problems.push(`Cannot read ${name}: it must be ${error.message}, got ${shown}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return values as EnvOf<S>;
}

/** A secret's value, or that of the file which `<name>_FILE` names: orchestrators mount secrets as files. */
function readSecret(env: Environment, name: string, problems: string[]): string | undefined {
  const value = env[name];
  const file = env[`${name}_FILE`]?.trim() || undefined;
  if (file === undefined) return value;
  if (value !== undefined && value.trim() !== "") {
    problems.push(`Cannot read ${name}: it and ${name}_FILE are both set`);
    return undefined;
  }
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    problems.push(`Cannot read ${name}_FILE=${file}: ${(error as NodeJS.ErrnoException).code}`);
    return undefined;
  }
}

type Results<R extends readonly (() => unknown)[]> = { -readonly [K in keyof R]: ReturnType<R[K]> };

/**
 * Runs every reader and returns their results. Throws one ConfigError with the problems of all, so that every wrong
 * setting shows at the first try.
 */
export function collectConfigErrors<const R extends readonly (() => unknown)[]>(...readers: R): Results<R> {
  const problems = new Set<string>();
  const results = readers.map((read) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const problem of error.problems) problems.add(problem);
      return undefined;
    }
  });
  if (problems.size > 0) throw new ConfigError([...problems]);
  return results as Results<R>;
}

/**
 * Loads the file that a setting names by `load`, which gets undefined if it is unset. Throws ConfigError with the reason:
 * a missing or malformed file is a wrong setting.
 */
export function readNamedFile<T>(
  env: Environment,
  { setting, load }: { readonly setting: string; readonly load: (path: string | undefined) => T },
): T {
  const path = env[setting]?.trim() || undefined;
  if (path === undefined) return load(undefined);
  try {
    return load(path);
  } catch (error) {
    // The message has the path already.
    const reason = (error instanceof Error ? error.message : String(error)).replace(/, open '.*'$/, "");
    throw new ConfigError([`Cannot use ${setting}: ${reason}`]);
  }
}

export function text(): Parse<string> {
  return (value) => value;
}

/** Decimal digits only: no sign, exponent, hexadecimal or blanks. */
export function integer(bounds: { min: number; max: number }): Parse<number> {
  return (value) => {
    const number = Number(value);
    if (!/^\d{1,15}$/.test(value) || number < bounds.min || number > bounds.max) {
      throw new InvalidSetting(`an integer from ${bounds.min} to ${bounds.max}`);
    }
    return number;
  };
}

/** A plain decimal number with at most so many digits after its point. */
export function decimal(rule: { min: number; max: number; decimals: number }): Parse<number> {
  const shape = new RegExp(`^\\d{1,15}(\\.\\d{1,${rule.decimals}})?$`);
  return (value) => {
    const number = Number(value);
    if (!shape.test(value) || number < rule.min || number > rule.max) {
      throw new InvalidSetting(
        `a number from ${rule.min} to ${rule.max} with at most ${rule.decimals} decimals`,
      );
    }
    return number;
  };
}

/** 0 lets the system choose a free port. */
export function port(): Parse<number> {
  return integer({ min: 0, max: 65_535 });
}

/** A port, or one fixed word. */
export function portOr<const T extends string>(word: T): Parse<number | T> {
  const parse = port();
  return (value) => {
    if (value === word) return word;
    try {
      return parse(value);
    } catch (error) {
      throw error instanceof InvalidSetting ? new InvalidSetting(`${error.message}, or ${word}`) : error;
    }
  };
}

export function oneOf<const T extends string>(allowed: readonly T[]): Parse<T> {
  return (value) => {
    const found = allowed.find((item) => item === value);
    if (found === undefined) throw new InvalidSetting(`one of ${allowed.join(", ")}`);
    return found;
  };
}

/** An absolute URL with one of the schemes, given without colon. */
export function url(schemes: readonly string[]): Parse<string> {
  return (value) => {
    const scheme = /^([a-z][a-z0-9+.-]*):\/\/(?:[^/\s]|(?<=^file:\/\/)\/[^/\s])/i
      .exec(value)?.[1]
      ?.toLowerCase();
    // mongodb:// may list several hosts, which URL refuses: the scheme is checked here, the rest by the driver.
    const parses = scheme?.startsWith("mongodb") === true || URL.canParse(value);
    if (scheme === undefined || !schemes.includes(scheme) || !parses || /\s/.test(value)) {
      throw new InvalidSetting(`a URL that begins with ${schemes.map((item) => `${item}://`).join(" or ")}`);
    }
    return value;
  };
}

/** A value of either form. */
export function either<A, B>(one: Parse<A>, other: Parse<B>): Parse<A | B> {
  return (value) => {
    const rules: string[] = [];
    for (const parse of [one, other]) {
      try {
        return parse(value);
      } catch (error) {
        if (!(error instanceof InvalidSetting)) throw error;
        rules.push(error.message);
      }
    }
    throw new InvalidSetting(rules.join(", or "));
  };
}

/** Comma-separated list without empty items. */
export function list<T>(item: Parse<T>): Parse<readonly T[]> {
  return (value) =>
    value.split(",").map((part) => {
      try {
        return item(part.trim());
      } catch (error) {
        if (error instanceof InvalidSetting)
          throw new InvalidSetting(`a comma-separated list, each item ${error.message}`);
        throw error;
      }
    });
}

/** Text that matches a pattern; `rule` completes "must be …". */
export function pattern(form: RegExp, rule: string): Parse<string> {
  return (value) => {
    if (!form.test(value)) throw new InvalidSetting(rule);
    return value;
  };
}

/** Comma-separated `name=value` items with unique names; an empty text has no items. `rule` describes an item. */
export function pairs(
  name: RegExp,
  value: RegExp,
  rule: string,
): Parse<readonly (readonly [name: string, value: string])[]> {
  return (text) => {
    const items = text === "" ? [] : text.split(",");
    const read = items.map((item) => {
      const [left = "", right = "", ...rest] = item.split("=").map((part) => part.trim());
      if (rest.length > 0 || !name.test(left) || !value.test(right))
        throw new InvalidSetting(`a comma-separated list, each item ${rule}`);
      return [left, right] as const;
    });
    if (new Set(read.map(([left]) => left)).size < read.length)
      throw new InvalidSetting("a comma-separated list that names nothing twice");
    return read;
  };
}

/** An EVM address. One in mixed case carries a checksum (EIP-55), which must be right. */
export const evmAddress: Parse<string> = (value) => {
  const rule = "an address: 0x and 40 hexadecimal digits";
  if (!/^0x[0-9a-fA-F]{40}$/.test(value)) throw new InvalidSetting(rule);
  const digits = value.slice(2);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (isMixed && digits !== withChecksum(digits.toLowerCase()))
    throw new InvalidSetting(`${rule}, whose upper and lower case fit (EIP-55)`);
  return value;
};

/** EIP-55: a letter is upper case where the hash of the lower-case text has a digit of 8 or more. */
function withChecksum(digits: string): string {
  const hash = Buffer.from(keccak_256(Buffer.from(digits))).toString("hex");
  return [...digits]
    .map((digit, at) => (Number.parseInt(hash.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit))
    .join("");
}

/** host:port, or any target of grpc-js with a scheme such as dns:///name:port. */
export function grpcAddress(): Parse<string> {
  return (value) => {
    if (!/^([a-z0-9]+:(\/\/[^/\s]*\/)?)?[^\s/]+:\d{1,5}$/i.test(value))
      throw new InvalidSetting("an address host:port");
    return value;
  };
}

/** An IP address, or a network such as 10.0.0.0/8. */
export function network(): Parse<string> {
  return (value) => {
    const [address = "", bits, ...rest] = value.split("/");
    const longest = isIP(address) === 4 ? 32 : 128;
    const isLength = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest);
    if (isIP(address) === 0 || address.includes("%") || !isLength || rest.length > 0)
      throw new InvalidSetting("an IP address or a network such as 10.0.0.0/8");
    return value;
  };
}
