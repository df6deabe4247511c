/** Strict reading of a JSON file's parts. Each reader throws Malformed with the part's place and the rule it breaks. */
export class Malformed extends Error {
  override readonly name = "Malformed";
  constructor(at: string, rule: string) {
    super(`${at === "" ? "the file" : at} must be ${rule}`);
  }
}

/** An object with all required fields and, unless others are allowed, no unknown ones. */
export function readObject(
  value: unknown,
  {
    at,
    required,
    optional = [],
    others,
  }: {
    at: string;
    required: readonly string[];
    optional?: readonly string[];
    others?: "allowed";
  },
): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Malformed(at, "an object");
  const place = (name: string) => (at === "" ? name : `${at}.${name}`);
  for (const name of required)
    if (!Object.hasOwn(value, name)) throw new Malformed(place(name), "there: it is required");
  for (const name of others === undefined ? Object.keys(value) : [])
    if (!required.includes(name) && !optional.includes(name))
      throw new Malformed(place(name), "left out: nothing has this name");
  return value as Record<string, unknown>;
}

/** A list of `min` items or more. */
export function readItems<T>(
  value: unknown,
  { at, min }: { at: string; min: 0 | 1 },
  read: (item: unknown, at: string) => T,
): T[] {
  if (!Array.isArray(value) || value.length < min)
    throw new Malformed(at, min === 0 ? "a list" : "a list of one item or more");
  return value.map((item, i) => read(item, `${at}[${i}]`));
}

export function readInteger(value: unknown, { at, min }: { at: string; min: number }): number {
  if (!Number.isSafeInteger(value) || (value as number) < min)
    throw new Malformed(at, `an integer from ${min} on, got ${shown(value)}`);
  return value as number;
}

export function readPositive(value: unknown, at: string): number {
  if (typeof value !== "number" || !Number.isFinite(value) || value <= 0)
    throw new Malformed(at, `a number above 0, got ${shown(value)}`);
  return value;
}

export function readText(value: unknown, at: string): string {
  if (typeof value !== "string" || value === "")
    throw new Malformed(at, `a text of one character or more, got ${shown(value)}`);
  return value;
}

export function readOneOf<const T extends string>(
  value: unknown,
  { at, allowed }: { at: string; allowed: readonly T[] },
): T {
  const found = allowed.find((item) => item === value);
  if (found === undefined) throw new Malformed(at, `one of ${allowed.join(", ")}, got ${shown(value)}`);
  return found;
}

/** Any case in, lower case out. */
export function readEvmAddress(value: unknown, at: string): `0x${string}` {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(value))
    throw new Malformed(at, `an EVM address, got ${shown(value)}`);
  return value.toLowerCase() as `0x${string}`;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80);
}
