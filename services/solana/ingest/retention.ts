import type { Collection, RowOf } from "../../shared/storage/collection.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import {
  type Filter,
  type OrderBy,
  remove,
  removeWhere,
  type Store,
  type WriteStep,
} from "../../shared/storage/port.ts";
import {
  blockTimes,
  type CheckpointRow,
  poolRows,
  segments,
  supplyRows,
  tokenRows,
} from "../store/collections.ts";
import { firstSlotFrom } from "../store/queries.ts";
import { traders } from "../store/token-collections.ts";
import type { SyncHooks, WrittenBatch } from "./sync.ts";

/** A new pass begins once another hour of rows has expired. */
const PASS_SECONDS = 3_600;
/** Traders whose last signature is older than this are in no 24-hour count. */
const TRADER_SECONDS = 2 * 86_400;
/** Rows removed in one write: small enough not to delay blocks. */
const ROWS_AT_ONCE = 2_000;
/** Time budget between two batches. */
const BUDGET_MS = 40;

export interface RetentionDeps {
  readonly store: Store;
  readonly guard: Guard;
  /** Retention of rows of lists; 0 = for ever. */
  readonly rowSeconds: number;
  /** Everything that was due at this time of the chain is done. */
  readonly onFinished?: ((time: number) => void) | undefined;
  /** Default 40; Infinity for a whole pass at once. */
  readonly budgetMs?: number;
}

/** A pass through all lists, in small steps. */
interface Pass {
  /** Removes rows of earlier slots, and traders whose last time is earlier. */
  readonly rowsFrom: number;
  readonly tradersFrom: number;
  readonly steps: AsyncGenerator<void, void, undefined>;
}

/**
 * Removes expired rows of lists, between batches and in small steps. Rows have no index by time, which every insert would
 * pay for: a pass goes from list to list by their key, and the first row of each shows whether any is expired. The
 * checkpoint announces the first retained slot before any row is removed.
 */
export class Retention implements SyncHooks {
  readonly #deps: RetentionDeps;
  #rowsFrom: Pick<CheckpointRow, "rowsFromSlot" | "rowsFromTime"> | undefined;
  #pass: Pass | undefined;
  /** Time of the head when the last pass began. */
  #begunAt: number | undefined;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
  }

  /** The first retained slot and time, written with the next checkpoint. */
  checkpointFields(): Partial<Pick<CheckpointRow, "rowsFromSlot" | "rowsFromTime">> {
    return this.#rowsFrom ?? {};
  }

  async afterBatch({ checkpoint }: Pick<WrittenBatch, "checkpoint">): Promise<void> {
    const { budgetMs = BUDGET_MS } = this.#deps;
    if (this.#pass === undefined) await this.#begin(checkpoint);
    const pass = this.#pass;
    // Services must see the new bound before rows are removed.
    if (pass === undefined || checkpoint.rowsFromSlot < pass.rowsFrom) return;
    const until = performance.now() + budgetMs;
    do {
      if ((await pass.steps.next()).done !== true) continue;
      this.#pass = undefined;
      return this.#deps.onFinished?.(checkpoint.time);
    } while (performance.now() < until);
  }

  async #begin(checkpoint: CheckpointRow): Promise<void> {
    const { time } = checkpoint;
    if (this.#begunAt !== undefined && time - this.#begunAt < PASS_SECONDS) return;
    this.#begunAt = time;
    const { store, rowSeconds } = this.#deps;
    const since = time - rowSeconds;
    let { rowsFromSlot, rowsFromTime } = checkpoint;
    if (rowSeconds > 0 && since > rowsFromTime) {
      rowsFromSlot = (await firstSlotFrom(store, since)) ?? rowsFromSlot;
      rowsFromTime = since;
    }
    this.#rowsFrom = { rowsFromSlot, rowsFromTime };
    const tradersFrom = time - TRADER_SECONDS;
    const bounds = { rowsFromSlot, rowsFromTime, tradersFrom };
    this.#pass = { rowsFrom: rowsFromSlot, tradersFrom, steps: removeOldRows(this.#deps, bounds) };
  }
}

interface Bounds {
  readonly rowsFromSlot: number;
  readonly rowsFromTime: number;
  readonly tradersFrom: number;
}

/** Yields after every write and every list. */
async function* removeOldRows(
  deps: Pick<RetentionDeps, "store" | "guard" | "rowSeconds">,
  bounds: Bounds,
): AsyncGenerator<void, void, undefined> {
  if (deps.rowSeconds > 0) {
    yield* removeRowsOfLists(deps, { rows: tokenRows, list: "mint", listPrefix: "token" }, bounds);
    yield* removeRowsOfLists(deps, { rows: poolRows, list: "pool", listPrefix: "pool" }, bounds);
    yield* removeRowsOfLists(deps, { rows: supplyRows, list: "mint", listPrefix: undefined }, bounds);
    yield* removeOldTimes(deps, bounds);
  }
  yield* removeOldTraders(deps, bounds);
}

type Deps = Pick<RetentionDeps, "store" | "guard">;

interface RowLists {
  readonly rows: Collection;
  /** First field of the key. */
  readonly list: string;
  /** Prefix of their segments' lists, if they have segments. */
  readonly listPrefix: "token" | "pool" | undefined;
}

async function* removeRowsOfLists(
  { store, guard }: Deps,
  { rows, list, listPrefix }: RowLists,
  { rowsFromSlot }: Bounds,
): AsyncGenerator<void> {
  const where = (filter: Record<string, unknown>) => filter as Filter<RowOf<Collection>>;
  for await (const { key, slot } of firstRows(store, { rows, list })) {
    if (slot >= rowsFromSlot) {
      yield;
      continue;
    }
    if (listPrefix !== undefined)
      await store.write([
        ...guard(),
        ...(await removeOldSegments(store, `${listPrefix} ${key}`, rowsFromSlot)),
      ]);
    const old = where({ [list]: key, slot: { lt: rowsFromSlot } });
    for (;;) {
      const [last] = await store.find(rows, {
        filter: old,
        order: [{ field: "slot", direction: "asc" }] as OrderBy<RowOf<Collection>>[],
        skip: ROWS_AT_ONCE - 1,
        limit: 1,
        fields: ["slot"],
      });
      const part = last === undefined ? old : where({ [list]: key, slot: { lte: last.slot } });
      await store.write([...guard(), removeWhere(rows, part)]);
      yield;
      if (last === undefined) break;
    }
  }
}

/** The first row of every list, in the order of lists; tolerates concurrent removals. */
async function* firstRows(
  store: Store,
  { rows, list }: Pick<RowLists, "rows" | "list">,
): AsyncGenerator<{ key: string; slot: number }> {
  let after = "";
  for (;;) {
    const [row] = await store.find(rows, {
      filter: { [list]: { gt: after } } as Filter<RowOf<Collection>>,
      limit: 1,
      fields: [list, "slot"],
    });
    if (row === undefined) return;
    after = row[list] as string;
    yield { key: after, slot: row.slot as number };
  }
}

/** A list's last segment stays: the next one continues its number. */
async function removeOldSegments(store: Store, list: string, rowsFromSlot: number): Promise<WriteStep[]> {
  const [last] = await store.find(segments, {
    filter: { list },
    order: [{ field: "number", direction: "desc" }],
    limit: 1,
  });
  if (last === undefined) return [];
  const old = await store.find(segments, {
    filter: { list, number: { lt: last.number }, lastSlot: { lt: rowsFromSlot } },
    fields: ["list", "number"],
  });
  return [remove(segments, old)];
}

async function* removeOldTimes({ store, guard }: Deps, { rowsFromTime }: Bounds): AsyncGenerator<void> {
  for (;;) {
    const old = { time: { lt: rowsFromTime } };
    const [last] = await store.find(blockTimes, {
      filter: old,
      order: [{ field: "time", direction: "asc" }],
      skip: ROWS_AT_ONCE - 1,
      limit: 1,
    });
    const part = last === undefined ? old : { time: { lte: last.time } };
    await store.write([...guard(), removeWhere(blockTimes, part)]);
    yield;
    if (last === undefined) return;
  }
}

async function* removeOldTraders({ store, guard }: Deps, { tradersFrom }: Bounds): AsyncGenerator<void> {
  let after = "";
  for (;;) {
    const [next] = await store.find(traders, { filter: { mint: { gt: after } }, limit: 1, fields: ["mint"] });
    if (next === undefined) return;
    const { mint } = next;
    after = mint;
    for (;;) {
      const old = await store.find(traders, {
        filter: { mint, lastTime: { lt: tradersFrom } },
        order: [{ field: "lastTime", direction: "asc" }],
        limit: ROWS_AT_ONCE,
        fields: ["mint", "account"],
      });
      if (old.length > 0) await store.write([...guard(), remove(traders, old)]);
      yield;
      if (old.length < ROWS_AT_ONCE) break;
    }
  }
}
