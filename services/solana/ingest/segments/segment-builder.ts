import type { RowOf } from "../../../shared/storage/collection.ts";
import type { Guard } from "../../../shared/storage/lease.ts";
import { type Filter, type OrderBy, put, type Store } from "../../../shared/storage/port.ts";
import { type CountedRow, countByGroup } from "../../metrics/segment-counts.ts";
import { poolRows, SEGMENT_ROWS, type SegmentRow, segments, tokenRows } from "../../store/collections.ts";
import { toSides } from "../../store/token-sides.ts";
import type { SyncHooks, WrittenBatch } from "../sync.ts";

/** Once a list has grown by so many rows, counts the rows that it had before. */
const ROWS_BEFORE_COUNT = 64;
/** Beyond so many lists the counts are dropped, and queried again as lists grow. */
const MAX_LISTS = 200_000;
/** Segments built between two batches at most: a batch has rows for one or two. */
const MAX_SEGMENTS_PER_BATCH = 4;

/** Rows of a list after its last segment: those since the process began, or all of them. */
interface Growth {
  rows: number;
  isWhole: boolean;
}

export interface SegmentBuilderDeps {
  readonly store: Store;
  readonly guard: Guard;
  /** Default SEGMENT_ROWS. */
  readonly segmentRows?: number;
}

/** Builds segments of lists as they grow, of final slots only: they are never rolled back. */
export class SegmentBuilder implements SyncHooks {
  readonly #deps: SegmentBuilderDeps;
  #growth = new Map<string, Growth>();
  /** Lists with enough rows, with the slot that must be final before they are built. */
  readonly #due = new Map<string, number>();

  constructor(deps: SegmentBuilderDeps) {
    this.#deps = deps;
  }

  async afterBatch({ batch, checkpoint }: WrittenBatch): Promise<void> {
    const grown = new Set<string>();
    for (const { mint } of batch.tokenRows) grown.add(this.#count(`token ${mint}`));
    for (const { pool } of batch.poolRows) grown.add(this.#count(`pool ${pool}`));
    for (const list of grown) await this.#look(list, checkpoint.slot);
    let left = MAX_SEGMENTS_PER_BATCH;
    for (const [list, slot] of this.#due) {
      if (slot > checkpoint.finalizedSlot) continue;
      left -= await this.#close(list, { finalSlot: checkpoint.finalizedSlot, most: left });
      if (left <= 0) break;
    }
    if (this.#growth.size > MAX_LISTS) this.afterRollback();
  }

  /** Counted rows may no longer exist. */
  afterRollback(): void {
    this.#growth = new Map();
    this.#due.clear();
  }

  #count(list: string): string {
    const growth = this.#growth.get(list);
    if (growth === undefined) this.#growth.set(list, { rows: 1, isWhole: false });
    else growth.rows += 1;
    return list;
  }

  async #look(list: string, slot: number): Promise<void> {
    const growth = this.#growth.get(list);
    if (growth === undefined || growth.rows < ROWS_BEFORE_COUNT) return;
    if (!growth.isWhole) {
      const last = await findLastSegment(this.#deps.store, list);
      growth.rows = await countRowsAfter(this.#deps.store, { list, after: last?.lastSlot ?? -1 });
      growth.isWhole = true;
    }
    if (growth.rows >= this.#segmentRows && !this.#due.has(list)) this.#due.set(list, slot);
  }

  /** Builds the next segments of a list; returns how many. */
  async #close(list: string, { finalSlot, most }: { finalSlot: number; most: number }): Promise<number> {
    const { store, guard } = this.#deps;
    let last = await findLastSegment(store, list);
    let closed = 0;
    for (; closed < most; closed++) {
      const row = await buildNextSegment(store, { list, last, finalSlot, segmentRows: this.#segmentRows });
      if (row === undefined) {
        this.#due.delete(list);
        break;
      }
      await store.write([...guard(), put(segments, [row])]);
      const growth = this.#growth.get(list);
      if (growth !== undefined) growth.rows -= row.rows;
      last = row;
    }
    return closed;
  }

  get #segmentRows(): number {
    return this.#deps.segmentRows ?? SEGMENT_ROWS;
  }
}

async function findLastSegment(store: Store, list: string): Promise<SegmentRow | undefined> {
  const [last] = await store.find(segments, {
    filter: { list },
    order: [{ field: "number", direction: "desc" }],
    limit: 1,
  });
  return last;
}

/** Access to a list's rows. */
interface RowList {
  count(slot: { gt: number }): Promise<number>;
  /** Slot of the n-th row of the slots, from 0. */
  slotAt(slot: { gt: number; lte: number }, n: number): Promise<number | undefined>;
  read(slot: { gt: number; lte: number }): Promise<ListRows>;
}

interface ListRows {
  readonly rows: readonly { readonly slot: number; readonly time: number }[];
  readonly mints: readonly string[];
  readonly counted: readonly CountedRow[];
}

function openList(store: Store, list: string): RowList {
  const [kind, key = ""] = list.split(" ");
  return kind === "token" ? openTokenList(store, key) : openPoolList(store, key);
}

function openTokenList(store: Store, mint: string): RowList {
  return {
    ...createRowQueries(store, tokenRows, (slot) => ({ mint, slot })),
    async read(slot) {
      const rows = await store.find(tokenRows, {
        filter: { mint, slot },
        fields: ["slot", "time", "dex", "txType", "valueUsd"],
      });
      return { rows, mints: [], counted: rows.map((row) => toCounted(row, row.dex)) };
    },
  };
}

const POOL_FIELDS = [
  "slot",
  "time",
  "kind",
  "tokenIn",
  "amountIn",
  "priceInUsd",
  "tokenOut",
  "amountOut",
  "priceOutUsd",
  "valueUsd",
] as const;

function openPoolList(store: Store, pool: string): RowList {
  return {
    ...createRowQueries(store, poolRows, (slot) => ({ pool, slot })),
    async read(slot) {
      const rows = await store.find(poolRows, { filter: { pool, slot }, fields: POOL_FIELDS });
      const sides = rows.flatMap(toSides);
      const mints = [...new Set(sides.map(({ mint }) => mint))].sort();
      return { rows, mints, counted: sides.map((side) => toCounted(side, mints.indexOf(side.mint))) };
    },
  };
}

function toCounted({ txType, valueUsd }: Omit<CountedRow, "group">, group: number): CountedRow {
  return { group, txType, valueUsd };
}

type SlotBounds = { gt: number } | { gt: number; lte: number };

function createRowQueries<C extends typeof tokenRows | typeof poolRows>(
  store: Store,
  collection: C,
  where: (slot: SlotBounds) => Filter<RowOf<C>>,
): Pick<RowList, "count" | "slotAt"> {
  return {
    count: (slot) => store.count(collection, where(slot)),
    async slotAt(slot, n) {
      const order = [{ field: "slot", direction: "asc" }] as unknown as OrderBy<RowOf<C>>[];
      const [row] = await store.find(collection, {
        filter: where(slot),
        order,
        skip: n,
        limit: 1,
        fields: ["slot"],
      });
      return row?.slot as number | undefined;
    },
  };
}

function countRowsAfter(store: Store, { list, after }: { list: string; after: number }): Promise<number> {
  return openList(store, list).count({ gt: after });
}

/** The segment after the last one; undefined without enough final rows. */
async function buildNextSegment(
  store: Store,
  at: { list: string; last: SegmentRow | undefined; finalSlot: number; segmentRows: number },
): Promise<SegmentRow | undefined> {
  const { list, last } = at;
  const rowsOfList = openList(store, list);
  const after = last?.lastSlot ?? -1;
  const lastSlot = await rowsOfList.slotAt({ gt: after, lte: at.finalSlot }, at.segmentRows - 1);
  if (lastSlot === undefined) return undefined;
  const { rows, mints, counted } = await rowsOfList.read({ gt: after, lte: lastSlot });
  const [first] = rows;
  const end = rows[rows.length - 1];
  if (first === undefined || end === undefined) return undefined;
  return {
    list,
    number: last === undefined ? 0 : last.number + 1,
    firstSlot: first.slot,
    firstTime: first.time,
    lastSlot,
    lastTime: end.time,
    rows: rows.length,
    mints,
    counts: countByGroup(counted),
  };
}
