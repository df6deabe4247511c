/**
 * "Nulls last" on an engine that sorts null before everything: right when descending, wrong when ascending.
 * A page is composed of reads in the engine's own order, so that an index can serve each of them.
 */
import type { FieldInfo } from "../declaration.ts";
import type { OrderTerm, Predicate } from "../query.ts";
import type { Stored } from "../values.ts";

/** A stored row; an absent field is null. */
export type StoredRow = Readonly<Record<string, Stored | undefined>>;

export interface PageRequest {
  readonly where: readonly Predicate[];
  readonly order: readonly OrderTerm[];
  readonly skip: number;
  readonly limit: number;
}

export interface NullsFirstSource {
  /** Rows in the engine's order. They must hold the fields of the order. */
  read(request: PageRequest): Promise<StoredRow[]>;
  count(where: readonly Predicate[]): Promise<number>;
}

/** The page of `request` with nulls last in either direction. Several reads: not one snapshot if others write meanwhile. */
export async function readNullsLast(source: NullsFirstSource, request: PageRequest): Promise<StoredRow[]> {
  const at = firstMisplaced(request.order);
  if (at < 0 || request.limit === 0) return source.read(request);
  return at === 0 ? readInTwoParts(source, request) : readByGroups(source, { ...request, at });
}

const firstMisplaced = (order: readonly OrderTerm[]): number =>
  order.findIndex((term) => term.nullable && term.direction === "asc");

/** Splits by the first term: all rows with a value, then all with null. */
async function readInTwoParts(source: NullsFirstSource, request: PageRequest): Promise<StoredRow[]> {
  const { where, skip, limit } = request;
  const [first, ...rest] = request.order as [OrderTerm, ...OrderTerm[]];
  const present = [...where, { field: first.field, op: "notNull" }] satisfies Predicate[];
  const rows = await readNullsLast(source, {
    where: present,
    order: [{ ...first, nullable: false }, ...rest],
    skip,
    limit,
  });
  if (rows.length === limit) return rows;
  // Only a page that begins beyond the first part needs its length.
  const skipped = rows.length > 0 || skip === 0 ? skip : Math.min(skip, await source.count(present));
  const absent = [...where, { field: first.field, op: "null" }] satisfies Predicate[];
  const more = await readNullsLast(source, {
    where: absent,
    order: rest,
    skip: skip - skipped,
    limit: limit - rows.length,
  });
  return [...rows, ...more];
}

/**
 * Terms before `at` are ordered correctly and split the rows into groups; only inside a group nulls are misplaced. The
 * engine's page therefore has the right number of rows of each group. Groups wholly inside the page are reordered in
 * memory; the first and the last may be cut and are read again.
 */
async function readByGroups(
  source: NullsFirstSource,
  request: PageRequest & { readonly at: number },
): Promise<StoredRow[]> {
  const { where, order, skip, limit, at } = request;
  const page = await source.read({ where, order, skip, limit });
  const groups = groupsOf(page, order.slice(0, at));
  const readGroup = async (group: readonly StoredRow[], groupSkip: number): Promise<StoredRow[]> => {
    const same = order.slice(0, at).map(({ field }) => equals(field, cellOf(group[0] as StoredRow, field)));
    const inGroup = {
      where: [...where, ...same],
      order: order.slice(at),
      skip: groupSkip,
      limit: group.length,
    };
    return readNullsLast(source, inGroup);
  };
  const result: StoredRow[] = [];
  for (const [i, group] of groups.entries()) {
    if (i === 0) {
      const before = skip === 0 ? 0 : await countBefore(source, request, group[0] as StoredRow);
      result.push(...(await readGroup(group, skip - before)));
    } else if (i === groups.length - 1) result.push(...(await readGroup(group, 0)));
    else result.push(...nullsLast(group, order.slice(at)));
  }
  return result;
}

/** The number of rows in groups before the row's group. */
async function countBefore(
  source: NullsFirstSource,
  { where, order, at }: PageRequest & { readonly at: number },
  row: StoredRow,
): Promise<number> {
  const same: Predicate[] = [];
  let total = 0;
  for (const { field, direction } of order.slice(0, at)) {
    const value = cellOf(row, field);
    if (value !== null) {
      total += await source.count([
        ...where,
        ...same,
        { field, op: direction === "asc" ? "lt" : "gt", value },
      ]);
    } else {
      // Only a descending term can be null here, and its nulls are last.
      total += await source.count([...where, ...same, { field, op: "notNull" }]);
    }
    same.push(equals(field, value));
  }
  return total;
}

/** Reorders a complete group from the engine's order. */
function nullsLast(rows: readonly StoredRow[], order: readonly OrderTerm[]): StoredRow[] {
  const at = firstMisplaced(order);
  if (at < 0) return [...rows];
  const { field } = order[at] as OrderTerm;
  const rest = order.slice(at + 1);
  return groupsOf(rows, order.slice(0, at)).flatMap((group) => {
    const present = group.filter((row) => cellOf(row, field) !== null);
    const absent = group.filter((row) => cellOf(row, field) === null);
    const known = { ...(order[at] as OrderTerm), nullable: false };
    return [...nullsLast(present, [known, ...rest]), ...nullsLast(absent, rest)];
  });
}

/** Consecutive rows that are equal in all the terms. */
function groupsOf(rows: readonly StoredRow[], terms: readonly OrderTerm[]): StoredRow[][] {
  const groups: StoredRow[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    const head = last?.[0];
    const sameGroup =
      head !== undefined && terms.every(({ field }) => cellOf(head, field) === cellOf(row, field));
    if (sameGroup) last?.push(row);
    else groups.push([row]);
  }
  return groups;
}

function cellOf(row: StoredRow, field: FieldInfo): Stored {
  return row[field.name] ?? null;
}

function equals(field: FieldInfo, value: Stored): Predicate {
  return value === null ? { field, op: "null" } : { field, op: "eq", value };
}
