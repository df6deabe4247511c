/** One value of a row compared with what it should be, by the chain or by other rows. */
export interface Finding {
  /** Address of the pool, or of what else the row is about; "" for rows about the chain. */
  readonly pool: string;
  /** Collection and column of the value. */
  readonly field: string;
  /** Which row: a block, or the rest of its key. */
  readonly at: string;
  readonly stored: string;
  /** Null where the node returns nothing: neither a difference nor a proof. */
  readonly expected: string | null;
}

type Place = Pick<Finding, "pool" | "at">;

/** A finding from two values of any kind, compared as text: integers must be exact. */
export function compareValues(
  place: Place,
  options: { readonly field: string; readonly stored: unknown; readonly expected: unknown },
): Finding {
  const { field, stored, expected } = options;
  const isUnknown = expected === null || expected === undefined;
  return { ...place, field, stored: textOf(stored), expected: isUnknown ? null : textOf(expected) };
}

/** The same where null is a value: a column that may be null, and must be. */
export function compareNullable(
  place: Place,
  options: { readonly field: string; readonly stored: unknown; readonly expected: unknown },
): Finding {
  const { field, stored, expected } = options;
  return { ...place, field, stored: textOf(stored), expected: textOf(expected) };
}

/** A condition that must hold, in words. */
export function requireThat(
  place: Place,
  options: {
    readonly field: string;
    readonly holds: boolean;
    readonly stored: unknown;
    readonly rule: string;
  },
): Finding {
  const stored = textOf(options.stored);
  return { ...place, field: options.field, stored, expected: options.holds ? stored : options.rule };
}

export function isDifference(finding: Finding): boolean {
  return finding.expected !== null && finding.expected !== finding.stored;
}

/** Text that is equal for equal values: JSON with sorted names for objects, whatever store they come from. */
export function textOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** Counts findings and keeps those that differ: a busy pool has millions of values. */
export class Tally {
  readonly differences: Finding[] = [];
  /** Values that the node did not have. */
  unavailable = 0;
  values = 0;
  /** How many values of each column were compared. */
  readonly fields = new Map<string, number>();

  add(findings: readonly Finding[]): void {
    for (const finding of findings) {
      this.values += 1;
      this.fields.set(finding.field, (this.fields.get(finding.field) ?? 0) + 1);
      if (finding.expected === null) this.unavailable += 1;
      else if (isDifference(finding)) this.differences.push(finding);
    }
  }
}
