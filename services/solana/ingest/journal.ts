import type { Collection, RowOf } from "../../shared/storage/collection.ts";
import { fromExactJson, toExactJson } from "../../shared/storage/exact-json.ts";
import { put, remove, removeWhere, type Store, type WriteStep } from "../../shared/storage/port.ts";
import {
  candles,
  type JournalRow,
  journal,
  poolRows,
  prices,
  priceVerdicts,
  supplyRows,
  tokenRows,
} from "../store/collections.ts";
import { holderAccounts, holders, tokenFragments, tokens, traders } from "../store/token-collections.ts";
import type { Change } from "./state/document-cache.ts";

/** Collections whose documents a batch replaces. */
const DOCUMENTS = {
  candles,
  holderAccounts,
  holders,
  prices,
  priceVerdicts,
  tokenFragments,
  tokens,
  traders,
};
type DocumentName = keyof typeof DOCUMENTS;

/** Changes of a batch of slots. */
export interface BatchChanges {
  /** Lists with new rows, by mint or pool. */
  readonly tokenRows: Iterable<string>;
  readonly poolRows: Iterable<string>;
  readonly supplyRows: Iterable<string>;
  readonly documents: { readonly [N in DocumentName]?: readonly Change<RowOf<(typeof DOCUMENTS)[N]>>[] };
}

/** Stored form: keys and documents, so that undoing is idempotent. */
interface Undo {
  readonly tokenRows: readonly string[];
  readonly poolRows: readonly string[];
  readonly supplyRows: readonly string[];
  readonly documents: Readonly<
    Record<string, readonly { readonly key: object; readonly before: object | null }[]>
  >;
}

/** The undo row of a batch, stored before the batch itself. */
export function toJournalRow(
  changes: BatchChanges,
  slots: { readonly fromSlot: number; readonly toSlot: number },
): JournalRow {
  const documents = Object.fromEntries(
    Object.entries(changes.documents).map(([name, changed]) => [
      name,
      changed.map(({ key, before }) => ({ key, before })),
    ]),
  );
  const undo: Undo = {
    tokenRows: [...changes.tokenRows],
    poolRows: [...changes.poolRows],
    supplyRows: [...changes.supplyRows],
    documents,
  };
  return { ...slots, undo: toExactJson(undo) };
}

/**
 * The steps that undo every journalled batch from `fromSlot` on, the last first, each followed by the removal of its
 * journal row. Batches are undone whole: the caller continues where the first of them began.
 */
export async function buildUndoSteps(store: Store, fromSlot: number): Promise<WriteStep[]> {
  const rows = await store.find(journal, {
    filter: { toSlot: { gte: fromSlot } },
    order: [{ field: "fromSlot", direction: "desc" }],
  });
  return rows.flatMap((row) => [...undoBatch(row), remove(journal, [{ fromSlot: row.fromSlot }])]);
}

function undoBatch({ fromSlot, undo: text }: JournalRow): WriteStep[] {
  const undo = fromExactJson(text) as Undo;
  const slot = { gte: fromSlot };
  return [
    ...undo.tokenRows.map((mint) => removeWhere(tokenRows, { mint, slot })),
    ...undo.poolRows.map((pool) => removeWhere(poolRows, { pool, slot })),
    ...undo.supplyRows.map((mint) => removeWhere(supplyRows, { mint, slot })),
    ...Object.entries(undo.documents).flatMap(([name, changed]) => {
      const collection: Collection = DOCUMENTS[name as DocumentName];
      const there = changed.flatMap(({ before }) => before ?? []);
      const absent = changed.flatMap(({ key, before }) => (before === null ? [key] : []));
      return [put(collection, there as RowOf<Collection>[]), remove(collection, absent)];
    }),
  ];
}
