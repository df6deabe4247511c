import { put, type Store } from "../../shared/storage/port.ts";
import { countByGroup } from "../metrics/segment-counts.ts";
import {
  type PoolTransactionRow,
  poolRows,
  type SegmentRow,
  segments,
  type TokenTransactionRow,
  tokenRows,
} from "../store/collections.ts";
import { toTokenRows } from "../store/token-sides.ts";

type ListRow = TokenTransactionRow | PoolTransactionRow;

/** Counts the rows of every list up to a slot, in segments of whole slots with so many rows or more. */
export async function buildSegments(store: Store, options: { rows: number; upTo: number }): Promise<void> {
  const slot = { lte: options.upTo };
  const lists = new Map<string, ListRow[]>();
  const add = (list: string, row: ListRow): void => {
    lists.set(list, [...(lists.get(list) ?? []), row]);
  };
  for (const row of await store.find(tokenRows, { filter: { slot } })) add(`token ${row.mint}`, row);
  for (const row of await store.find(poolRows, { filter: { slot } })) add(`pool ${row.pool}`, row);
  for (const [list, rows] of lists) {
    const known = await store.find(segments, { filter: { list } });
    const last = known.at(-1);
    const open = rows.filter((row) => last === undefined || row.slot > last.lastSlot);
    const cut = cutSegments(open, options.rows);
    const first = (last?.number ?? -1) + 1;
    await store.write([
      put(
        segments,
        cut.map((held, i) => toSegmentRow(held, { list, number: first + i })),
      ),
    ]);
  }
}

/** Runs of whole slots; the rest at the end forms no run. */
function cutSegments(rows: readonly ListRow[], size: number): ListRow[][] {
  const cut: ListRow[][] = [];
  let held: ListRow[] = [];
  rows.forEach((row, i) => {
    held.push(row);
    if (held.length < size || rows[i + 1]?.slot === row.slot) return;
    cut.push(held);
    held = [];
  });
  return cut;
}

function toSegmentRow(rows: readonly ListRow[], options: { list: string; number: number }): SegmentRow {
  const first = rows[0] as ListRow;
  const last = rows.at(-1) as ListRow;
  const sides = rows.flatMap((row) => ("kind" in row ? toTokenRows(row) : []));
  const mints = [...new Set(sides.map(({ mint }) => mint))];
  const counted =
    sides.length > 0
      ? sides.map(({ mint, txType, valueUsd }) => ({ group: mints.indexOf(mint), txType, valueUsd }))
      : (rows as readonly TokenTransactionRow[]).map(({ dex, txType, valueUsd }) => ({
          group: dex,
          txType,
          valueUsd,
        }));
  return {
    ...options,
    firstSlot: first.slot,
    firstTime: first.time,
    lastSlot: last.slot,
    lastTime: last.time,
    rows: rows.length,
    mints,
    counts: countByGroup(counted),
  };
}
