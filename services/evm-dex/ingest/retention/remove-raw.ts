import type { Collection, RowOf } from "../../../shared/storage/collection.ts";
import type { Guard } from "../../../shared/storage/lease.ts";
import {
  type Filter,
  inParallel,
  type OrderBy,
  remove,
  removeWhere,
  type Store,
} from "../../../shared/storage/port.ts";
import type { DayBlocks, RawCollection } from "./raw-collections.ts";

export interface RemoveDeps {
  readonly store: Store;
  readonly guard: Guard;
  readonly chainId: number;
  /** Rows of one write: small enough not to delay blocks. */
  readonly rowsAtOnce: number;
}

type Row = Record<string, unknown>;
const untyped = (filter: Row) => filter as Filter<RowOf<Collection>>;

/**
 * Removes all rows of some blocks but the last one of each group, and what earlier days kept of the groups that have
 * one here. Goes from the last block to the first: the first row of a group that it meets is its last. Repeating it is
 * harmless. Yields the number of removed rows after every write.
 */
export async function* removeRaw(
  deps: RemoveDeps,
  { raw, blocks }: { raw: RawCollection; blocks: DayBlocks },
): AsyncGenerator<number, void, undefined> {
  const { chainId, guard, rowsAtOnce, store } = deps;
  const { collection, group } = raw;
  /** The key of each group's row that stays. */
  const kept = new Map<string, string>();
  for await (const rows of pagesBackwards(deps, { raw, blocks, size: rowsAtOnce })) {
    const old: Row[] = [];
    const met: Row[] = [];
    for (const row of rows) {
      const name = textOf(row, group);
      const key = textOf(row, collection.key);
      const last = kept.get(name);
      if (last === undefined) {
        kept.set(name, key);
        met.push(row);
      } else if (last !== key) old.push(row);
    }
    const earlier = met.map((row) =>
      removeWhere(
        collection,
        untyped({ chainId, ...pick(row, group), ...(raw.before(blocks) as Row) }) as never,
      ),
    );
    if (old.length > 0 || earlier.length > 0)
      await store.write([...guard(), ...inParallel(...earlier), remove(collection, old as never)]);
    yield old.length;
  }
}

/** The rows of some blocks in pages, the last block first; tolerates removals. A page may repeat rows of the last one. */
async function* pagesBackwards(
  { chainId, store }: Pick<RemoveDeps, "store" | "chainId">,
  { raw, blocks, size }: { raw: RawCollection; blocks: DayBlocks; size: number },
): AsyncGenerator<Row[]> {
  const { collection, group, within } = raw;
  const fields = [...new Set([...collection.key, ...group])];
  const order = [
    { field: "blockNumber", direction: "desc" },
    { field: within, direction: "desc" },
  ] as OrderBy<RowOf<Collection>>[];
  const read = (filter: Row, limit: number): Promise<Row[]> =>
    store.find(collection, { filter: untyped({ chainId, ...filter }), order, limit, fields });
  const { fromBlock } = blocks;
  let end = blocks.toBlock;
  let last: Row | undefined;
  for (;;) {
    // A block may have more rows than a page.
    const rest: Row[] =
      last === undefined ? [] : await read({ blockNumber: end, [within]: { lte: last[within] } }, size);
    const more =
      rest.length < size ? await read({ blockNumber: { gte: fromBlock, lt: end } }, size - rest.length) : [];
    const page = [...rest, ...more];
    if (page.length > 0) yield page;
    if (page.length < size) return;
    last = page.at(-1) as Row;
    end = last.blockNumber as number;
  }
}

function pick(row: Row, fields: readonly string[]): Row {
  return Object.fromEntries(fields.map((field) => [field, row[field]]));
}

function textOf(row: Row, fields: readonly string[]): string {
  return fields.map((field) => String(row[field])).join(" ");
}
