import type { RowOf } from "../../../shared/storage/collection.ts";
import type { Filter, OrderBy, Store } from "../../../shared/storage/port.ts";
import type { poolEvents } from "../../store/collections.ts";
import type { lpEvents } from "../../store/v2-collections.ts";
import type { HistoryChunk } from "./chunk.ts";

/** Rows of one write: the head of the chain waits for it. */
export const ROWS_A_WRITE = 10_000;

/**
 * A chunk's rows of a collection that is kept by block, newest first: in the order of their key, so that a write changes pages
 * that lie side by side.
 * @param pageSize rows at a time; all but tests use the default
 */
export async function* newestRows<C extends typeof poolEvents | typeof lpEvents>(
  past: Store,
  { collection, chunk, pageSize = ROWS_A_WRITE }: { collection: C; chunk: HistoryChunk; pageSize?: number },
): AsyncGenerator<readonly RowOf<C>[]> {
  type Row = RowOf<C> & { blockNumber: number };
  const order = collection.key
    .filter((field) => field !== "chainId")
    .map((field) => ({ field, direction: "desc" })) as unknown as OrderBy<RowOf<C>>[];
  for (let [to, skip] = [chunk.to, 0]; ; ) {
    const blockNumber = { gte: chunk.from.number, lte: to };
    const filter = { chainId: chunk.chainId, blockNumber } as unknown as Filter<RowOf<C>>;
    const found = (await past.find(collection, { filter, order, skip, limit: pageSize })) as Row[];
    const last = found.at(-1);
    if (last === undefined) return;
    yield found;
    if (found.length < pageSize) return;
    // A block may be longer than a page.
    const ofLast = found.filter((row) => row.blockNumber === last.blockNumber).length;
    skip = last.blockNumber === to ? skip + found.length : ofLast;
    to = last.blockNumber;
  }
}
