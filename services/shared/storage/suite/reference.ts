/** What a query means, written plainly over an array: every engine is compared with it. */
import { type Sample, type SampleQuery, samples } from "./sample.ts";

type Cell = string | number | boolean | bigint | null;

export function referenceFind(rows: readonly Sample[], query: SampleQuery): Partial<Sample>[] {
  const terms = [...(query.order ?? [])];
  const tieDirection = terms.at(-1)?.direction ?? "asc";
  for (const field of samples.key) terms.push({ field, direction: tieDirection });
  const compare = (a: Sample, b: Sample): number => {
    for (const { field, direction } of terms) {
      const [x, y] = [a[field] as Cell, b[field] as Cell];
      if (x === y) continue;
      if (x === null) return 1;
      if (y === null) return -1;
      return direction === "asc" ? compareCells(x, y) : compareCells(y, x);
    }
    return 0;
  };
  const matching = referenceSelect(rows, query).sort(compare);
  const skip = query.skip ?? 0;
  const page = matching.slice(skip, query.limit === undefined ? undefined : skip + query.limit);
  const fields = query.fields ?? (Object.keys(samples.fields) as (keyof Sample)[]);
  return page.map((row) => Object.fromEntries(fields.map((field) => [field, row[field]])) as Partial<Sample>);
}

export function referenceSelect(rows: readonly Sample[], query: SampleQuery): Sample[] {
  const matching = referenceMatch(rows, query.filter ?? {});
  const wanted = query.anyOf?.map((filter) => new Set(referenceMatch(rows, filter)));
  return matching.filter((row) => wanted === undefined || wanted.some((set) => set.has(row)));
}

export function referenceMatch(
  rows: readonly Sample[],
  filter: NonNullable<SampleQuery["filter"]>,
): Sample[] {
  return rows.filter((row) =>
    Object.entries(filter).every(([field, condition]) =>
      satisfies(row[field as keyof Sample] as Cell, condition),
    ),
  );
}

function satisfies(value: Cell, condition: unknown): boolean {
  if (typeof condition !== "object" || condition === null) return value === condition;
  if ("in" in condition) return (condition.in as Cell[]).includes(value);
  if (value === null) return false;
  return Object.entries(condition).every(([operator, bound]) => {
    const sign = compareCells(value, bound as Cell & {});
    return { gt: sign > 0, gte: sign >= 0, lt: sign < 0, lte: sign <= 0 }[operator];
  });
}

/** Text by its bytes in UTF-8: JavaScript's own order differs beyond U+FFFF. */
function compareCells(a: NonNullable<Cell>, b: NonNullable<Cell>): number {
  if (typeof a === "string" && typeof b === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
