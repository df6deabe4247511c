import type { Cell } from "../../../services/shared/contract/column.ts";
import type { Answer } from "../asking.ts";

/** Characters of an answer at most, some 6,000 tokens: further rows are cut, and counted. */
export const MAX_CHARACTERS = 20_000;

export interface ShownRows {
  /** Columns to show; all by default. */
  readonly columns?: readonly string[] | undefined;
  /** Where the first shown row stands in the whole list. */
  readonly offset: number;
  /** The limit that was asked for; undefined where the endpoint has none and has answered with everything. */
  readonly limit: number | undefined;
  readonly nowMs: number;
  /** Rows beyond so many characters are cut; MAX_CHARACTERS by default. */
  readonly maxCharacters?: number;
}

/**
 * A table as JSON that is short and can be parsed: one row by name, several as `columns` and `rows`. Cells are those of the
 * HTTP answer, unrounded. What is not shown is told, with how to get it.
 */
export function renderTable(answer: Answer, shown: ShownRows): string {
  const all = answer.endpoint.columns.map(({ name }) => name);
  const columns = shown.columns ?? all;
  const places = columns.map((name) => all.indexOf(name));
  const rows = answer.rows.map((row) => places.map((at) => row[at] as Cell));
  const isOneRow = answer.endpoint.rowOrder === "one row";
  const kept = isOneRow ? rows.length : countFitting(rows, shown.maxCharacters ?? MAX_CHARACTERS);
  const head = {
    ...versionOf(answer, shown.nowMs),
    ...(isOneRow ? {} : { rowsShown: kept, rowsTotal: totalOf(answer, shown) }),
    ...describeRest(answer, shown, kept),
  };
  const first = rows[0];
  const body =
    isOneRow && first !== undefined
      ? { row: Object.fromEntries(columns.map((name, at) => [name, first[at]])) }
      : { columns, rows: rows.slice(0, kept) };
  return JSON.stringify({ ...head, ...body });
}

/** Which block the answer was made from and how old that is. */
export function versionOf(
  { block, asOf, stale }: Pick<Answer, "block" | "asOf" | "stale">,
  nowMs: number,
): Record<string, unknown> {
  return {
    ...(block === undefined ? {} : { block }),
    ...(asOf === undefined ? {} : { asOf, ageSeconds: ageSecondsOf(asOf, nowMs) }),
    ...(stale === undefined ? {} : { stale }),
  };
}

/** Seconds since a block's time; a clock that is behind the chain's does not make it younger than now. */
export function ageSecondsOf(asOf: string, nowMs: number): number {
  return Math.max(0, Math.round((nowMs - Date.parse(asOf)) / 1000));
}

/** As many rows as have room, at least one. */
function countFitting(rows: readonly (readonly Cell[])[], maxCharacters: number): number {
  let characters = 0;
  for (const [at, row] of rows.entries()) {
    characters += JSON.stringify(row).length + 1;
    if (characters > maxCharacters && at > 0) return at;
  }
  return rows.length;
}

/** Undefined where nobody knows: the list may go on behind a full page. */
function totalOf({ rows, total }: Answer, { offset, limit }: ShownRows): number | undefined {
  if (total !== undefined) return total;
  if (limit === undefined || rows.length < limit) return rows.length + offset;
  return undefined;
}

function describeRest(answer: Answer, shown: ShownRows, kept: number): { more?: string } {
  const total = totalOf(answer, shown);
  const next = shown.offset + kept;
  const cut = answer.rows.length - kept;
  const limit = shown.maxCharacters ?? MAX_CHARACTERS;
  const reason = cut === 0 ? "" : ` (${cut} of them were cut at ${limit} characters)`;
  const hint = `ask again with offset=${next}${cut === 0 ? "" : ", or for fewer columns"}`;
  if (total === undefined) return { more: `There may be more rows${reason}: ${hint}.` };
  if (next >= total) return {};
  return { more: `${total - next} more rows${reason}: ${hint}.` };
}
