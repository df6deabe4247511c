/** A table: its rows as objects by column name, and what it was made from. */
export interface Table<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** The block (on Solana the slot) that all rows are of, and its time. */
  readonly block: number | undefined;
  readonly asOf: string | undefined;
  /** The first indexed block: nothing before it is in the rows. */
  readonly fromBlock: number | undefined;
  /** Lending: which part is older than the block, such as `prices; age=123`. */
  readonly stale: string | undefined;
  /** Rows of all pages, where that is known. */
  readonly total: number | undefined;
  /** Where the next page begins; undefined on the last one and where there are no pages. */
  readonly nextOffset: number | undefined;
  /** Of the answer; of the first one where a later one said that nothing has changed. */
  readonly headers: Headers;
}

interface TableBody {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly data: readonly (readonly unknown[])[];
}

const NEXT_OFFSET = /[?&]offset=(\d+)[^>]*>; rel="next"/;

/** The table of an answer's body; undefined where it is none. */
export function readTable<Row>(body: unknown, headers: Headers): Table<Row> | undefined {
  const { columns, data } = ((Array.isArray(body) ? body[0] : body) ?? {}) as Partial<TableBody>;
  if (!Array.isArray(columns) || !Array.isArray(data)) return undefined;
  const names = columns.map(({ name }) => String(name));
  const rows = data.map((cells: readonly unknown[]) =>
    Object.fromEntries(names.map((name, at) => [name, cells[at]])),
  );
  const numberOf = (name: string) => readNumber(headers.get(name));
  return {
    rows: rows as unknown[] as readonly Row[],
    columns,
    block: numberOf("x-data-block"),
    asOf: headers.get("x-data-as-of") ?? undefined,
    fromBlock: numberOf("x-data-from-block"),
    stale: headers.get("x-data-stale") ?? undefined,
    total: numberOf("x-total-count"),
    nextOffset: readNumber(NEXT_OFFSET.exec(headers.get("link") ?? "")?.[1] ?? null),
    headers,
  };
}

function readNumber(text: string | null): number | undefined {
  return text === null ? undefined : Number(text);
}
