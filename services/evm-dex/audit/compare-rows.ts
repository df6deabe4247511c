import type { Collection, RowOf } from "../../shared/storage/collection.ts";
import { compareNullable, type Finding, textOf } from "./finding.ts";

/** Sums of USD beyond 2^33 depend on their order, and so do the last digits of a price. */
const RELATIVE = 1e-9;

interface RowComparison<C extends Collection> {
  readonly collection: C;
  /** Address of the pool that all rows are of. */
  readonly pool: string;
  readonly stored: readonly Partial<RowOf<C>>[];
  /** With every column of the key; of the rest, only the columns given are compared. */
  readonly expected: readonly Partial<RowOf<C>>[];
  /** How far floats may be apart beside a relative 1e-9; default 0. */
  readonly step?: number;
}

/**
 * Compares rows by their keys, column by column. A row that is missing, or that should not exist, is a difference of
 * `<collection> (row)`.
 */
export function compareRows<C extends Collection>(options: RowComparison<C>): Finding[] {
  const { collection, expected, pool, step = 0, stored } = options;
  const keyOf = (row: Partial<RowOf<C>>) =>
    collection.key
      .filter((name) => name !== "chainId" && row[name as keyof typeof row] !== pool)
      .map((name) => `${name} ${String(row[name as keyof typeof row])}`)
      .join(", ");
  const storedBy = new Map(stored.map((row) => [keyOf(row), row]));
  const expectedKeys = new Set(expected.map(keyOf));
  const findings: Finding[] = [];
  const rowField = `${collection.name} (row)`;
  for (const row of expected) {
    const at = keyOf(row);
    const found = storedBy.get(at);
    findings.push({ pool, at, field: rowField, stored: found ? "a row" : "no row", expected: "a row" });
    if (found === undefined) continue;
    for (const [name, value] of Object.entries(row)) {
      if (collection.key.includes(name)) continue;
      const there = found[name as keyof typeof found] as unknown;
      const isFloat = collection.fields[name]?.startsWith("float") === true;
      const isEqual = isFloat ? isClose(there, value, step) : textOf(there) === textOf(value);
      const field = `${collection.name}.${name}`;
      findings.push(
        compareNullable({ pool, at }, { field, stored: there, expected: isEqual ? there : value }),
      );
    }
  }
  for (const at of storedBy.keys()) {
    if (!expectedKeys.has(at))
      findings.push({ pool, at, field: rowField, stored: "a row", expected: "no row" });
  }
  return findings;
}

/** Whether two floats are equal but for rounding. */
export function isClose(a: unknown, b: unknown, step = 0): boolean {
  if (typeof a !== "number" || typeof b !== "number") return a === b;
  return Math.abs(a - b) <= step + RELATIVE * Math.max(Math.abs(a), Math.abs(b));
}
