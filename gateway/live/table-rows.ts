import type { Cell } from "../../services/shared/contract/column.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";

export type Row = readonly Cell[];

/** Columns that change with every block although nothing has happened, in any table: alone they are no change. */
const CLOCKS: ReadonlySet<string> = new Set(["updatedAt", "priceAgeSeconds"]);

export interface KeyedRow {
  readonly row: Row;
  /** Values of the columns that name it; a number behind them where several rows have the same. */
  readonly key: Row;
  /** The row without its clocks. */
  readonly text: string;
  /** Of rows that are only ever added: their block or slot. */
  readonly block: number;
}

/** A table's rows by their key, in its order. */
export type KeyedRows = ReadonlyMap<string, KeyedRow>;

/** Reads rows out of the specified JSON of an endpoint. Throws a plain Error where the body is not that. */
export function readRows(endpoint: Endpoint, body: Buffer): Row[] {
  const parsed = JSON.parse(body.toString()) as unknown;
  const table = (endpoint.body === "array" ? (parsed as unknown[])[0] : parsed) as { data?: unknown };
  if (!Array.isArray(table?.data)) throw new Error(`The table of ${endpoint.path} has no rows`);
  return table.data as Row[];
}

/** How the rows of an endpoint are named and compared. */
export function createRowReader({ columns, live }: Endpoint): (rows: readonly Row[]) => KeyedRows {
  const placeOf = (name: string) => columns.findIndex((column) => column.name === name);
  const keyPlaces = live === undefined || live.kind === "row" ? [] : live.key.map(placeOf);
  const blockPlace = live?.kind === "appends" ? placeOf(live.block) : -1;
  const own = live?.kind === "list" ? (live.clocks ?? []) : [];
  const clocks = columns.flatMap(({ name }, at) => (CLOCKS.has(name) || own.includes(name) ? [at] : []));
  const textOf = (row: Row): string =>
    JSON.stringify(clocks.length === 0 ? row : row.filter((_, at) => !clocks.includes(at)));

  return (rows) => {
    const keyed = new Map<string, KeyedRow>();
    for (const row of rows) {
      let key = keyPlaces.map((at) => row[at] as Cell);
      let name = JSON.stringify(key);
      for (let next = 2; keyed.has(name); next += 1) {
        key = [...keyPlaces.map((at) => row[at] as Cell), next];
        name = JSON.stringify(key);
      }
      keyed.set(name, { row, key, text: textOf(row), block: Number(row[blockPlace] ?? 0) });
    }
    return keyed;
  };
}

/** What turns one table into another. */
export interface RowChange {
  /** Added and changed rows, in the table's order. */
  readonly rows: readonly Row[];
  /** Keys of rows that are no longer in it. */
  readonly removed: readonly Row[];
  /** All keys in their order, where it is not that of the rows before with the added ones behind them. */
  readonly order?: readonly Row[];
}

export function isEmpty({ rows, removed, order }: RowChange): boolean {
  return rows.length === 0 && removed.length === 0 && order === undefined;
}

export function compareRows(before: KeyedRows, after: KeyedRows): RowChange {
  const rows: Row[] = [];
  const added: string[] = [];
  for (const [name, { row, text }] of after) {
    const known = before.get(name);
    if (known === undefined) added.push(name);
    if (known?.text !== text) rows.push(row);
  }
  const removed: Row[] = [];
  const expected: string[] = [];
  for (const [name, { key }] of before) {
    if (after.has(name)) expected.push(name);
    else removed.push(key);
  }
  expected.push(...added);
  let at = 0;
  let isOrdered = true;
  for (const name of after.keys()) isOrdered &&= expected[at++] === name;
  return isOrdered ? { rows, removed } : { rows, removed, order: [...after.values()].map(({ key }) => key) };
}

/**
 * Of a table whose rows are only ever added: the rows of blocks behind `floor` that were not known, and in a reorg the
 * known ones behind it that are gone. A page that is filled up again with old rows adds nothing.
 */
export function compareAppends(
  known: KeyedRows,
  after: KeyedRows,
  { floor, isFork }: { readonly floor: number; readonly isFork: boolean },
): RowChange {
  const rows: Row[] = [];
  for (const [name, { row, block }] of after) if (block > floor && !known.has(name)) rows.push(row);
  const removed: Row[] = [];
  if (isFork) {
    for (const [name, { key, block }] of known) if (block > floor && !after.has(name)) removed.push(key);
  }
  return { rows, removed };
}
