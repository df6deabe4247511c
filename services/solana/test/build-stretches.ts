import { put, type Store } from "../../shared/storage/port.ts";
import { countRows } from "../metrics/stretch-counts.ts";
import {
  type PoolRowRow,
  poolRows,
  type StretchRow,
  stretches,
  type TokenRowRow,
  tokenRows,
} from "../store/collections.ts";
import { tokenSides } from "../store/token-sides.ts";

type ListRow = TokenRowRow | PoolRowRow;

/** Counts the rows of every list up to a slot, in stretches of whole slots with so many rows or more. */
export async function buildStretches(store: Store, of: { rows: number; upTo: number }): Promise<void> {
  const slot = { lte: of.upTo };
  const lists = new Map<string, ListRow[]>();
  const add = (list: string, row: ListRow): void => {
    lists.set(list, [...(lists.get(list) ?? []), row]);
  };
  for (const row of await store.find(tokenRows, { filter: { slot } })) add(`token ${row.mint}`, row);
  for (const row of await store.find(poolRows, { filter: { slot } })) add(`pool ${row.pool}`, row);
  for (const [list, rows] of lists) {
    const known = await store.find(stretches, { filter: { list } });
    const last = known.at(-1);
    const open = rows.filter((row) => last === undefined || row.slot > last.lastSlot);
    const cut = cutStretches(open, of.rows);
    const first = (last?.number ?? -1) + 1;
    await store.write([
      put(
        stretches,
        cut.map((held, i) => toStretch(held, { list, number: first + i })),
      ),
    ]);
  }
}

/** Runs of whole slots; what is left over at the end is none. */
function cutStretches(rows: readonly ListRow[], size: number): ListRow[][] {
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

function toStretch(rows: readonly ListRow[], of: { list: string; number: number }): StretchRow {
  const first = rows[0] as ListRow;
  const last = rows.at(-1) as ListRow;
  const sides = rows.flatMap((row) => ("kind" in row ? tokenSides(row) : []));
  const mints = [...new Set(sides.map(({ mint }) => mint))];
  const counted =
    sides.length > 0
      ? sides.map(({ mint, txType, valueUsd }) => ({ who: mints.indexOf(mint), txType, valueUsd }))
      : (rows as readonly TokenRowRow[]).map(({ dex, txType, valueUsd }) => ({ who: dex, txType, valueUsd }));
  return {
    ...of,
    firstSlot: first.slot,
    firstTime: first.time,
    lastSlot: last.slot,
    lastTime: last.time,
    rows: rows.length,
    mints,
    counts: countRows(counted),
  };
}
