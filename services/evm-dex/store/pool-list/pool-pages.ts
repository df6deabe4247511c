import type { Filter, Store } from "../../../shared/storage/port.ts";
import { poolListColumns } from "../../endpoints/pool-list-columns.ts";
import { type PoolListingRow, poolListings } from "../collections.ts";
import { PoolCounts, type Restriction } from "./pool-counts.ts";
import {
  after,
  comparePools,
  filterOf,
  indexOf,
  isServed,
  type PoolListField,
  type PoolSet,
  selectionOf,
  startingAt,
  type Term,
  tieOf,
  within,
} from "./pool-sets.ts";
import { RankIndex } from "./rank-index.ts";

export interface PageTuning {
  /** Cost of collecting and sorting a pool, relative to passing one in an index. */
  readonly sortCost: number;
  /** Pages this many rows deep in an index use ranks. */
  readonly rankFrom: number;
  /** Rows between two entries for a whole family. */
  readonly rankSpacing: number;
  /** Rows per read of a large page. */
  readonly cellsAtOnce: number;
}

/** Measured: 3.5 µs per collected and sorted pool, 1.3 µs per passed one. */
const TUNING: PageTuning = { sortCost: 2.7, rankFrom: 2_000, rankSpacing: 2_500, cellsAtOnce: 500 };

const ADDRESS_CELL = poolListColumns.findIndex(({ name }) => name === "poolAddress");

interface Page {
  readonly skip: number;
  readonly limit: number;
}

/**
 * Pages of pool lists in any order, of all pools or of a token's, from one index a column. No page sorts more than
 * a few thousand rows unless it returns as many:
 * - by one column: its index is walked, from the nearest entry where the page is deep (rank-index.ts);
 * - by several columns: pools that agree in the first are a group. A page is the end of a group, whole groups, which
 *   the engine sorts each for itself, and the beginning of a group; each end is a page of its own in fewer columns;
 * - of few pools (of a rare token, of a small group): collected and sorted.
 */
export class PoolPages {
  readonly #store: Store;
  readonly #tuning: PageTuning;
  readonly #rankIndex: RankIndex;
  readonly #counts: PoolCounts;

  constructor(store: Store, tuning: PageTuning = TUNING) {
    this.#store = store;
    this.#tuning = tuning;
    this.#counts = new PoolCounts(store);
    this.#rankIndex = new RankIndex(store, { spacing: tuning.rankSpacing, counts: this.#counts });
  }

  /** The cells of one page, ready; `order` is complete (completeOrder). */
  async read(set: PoolSet, order: readonly Term[], page: Page): Promise<string[]> {
    if (page.limit === 0) return [];
    const few = await this.#collectBy(set, page.limit);
    if (few?.by === "token") return this.#sortSides(set, order, page);
    if (few !== undefined) return this.#find(set, { order, ...page, via: indexOf(few.by) });
    if (isServed(order)) return this.#walkCells(set, order, page);
    return this.#readGroups(set, order, page);
  }

  /**
   * The restriction to collect pools by, where collecting and sorting costs less than walking the order's index past
   * all other pools.
   */
  async #collectBy(set: PoolSet, limit: number): Promise<Restriction | undefined> {
    const restrictions = await this.#counts.ofRestrictions(set);
    const [fewest] = restrictions.sort((a, b) => a.count - b.count);
    if (fewest === undefined) return undefined;
    const all = await this.#counts.ofFamily(set);
    const passed = Math.min(all, limit * (await this.#counts.rowsPerMatch(set)));
    return fewest.count * this.#tuning.sortCost <= passed ? fewest : undefined;
  }

  async #find(
    set: PoolSet,
    { order, via, skip, limit }: Page & { order: readonly Term[]; via: readonly (keyof PoolListingRow)[] },
  ): Promise<string[]> {
    const rows = await this.#store.find(poolListings, {
      filter: filterOf(set),
      ...selectionOf(set),
      via,
      order,
      skip,
      limit,
      fields: ["cells"],
    });
    return rows.map((row) => row.cells);
  }

  /** A token's pools are in two indexes, as token0 and as token1: reads both sorted, and merges them. */
  async #sortSides(set: PoolSet, order: readonly Term[], { skip, limit }: Page): Promise<string[]> {
    const sides = await Promise.all(
      (["token0Address", "token1Address"] as const).map(async (side) => {
        const { [side]: pinned } = set.where;
        if (pinned !== undefined && pinned !== set.token) return [];
        return this.#store.find(poolListings, {
          filter: { ...filterOf(set), [side]: set.token },
          via: indexOf(side),
          order,
          limit: skip + limit,
          fields: ["cells", ...order.map((term) => term.field)],
        });
      }),
    );
    const merged = sides.flat().sort((a, b) => comparePools(order, a, b));
    return merged.slice(skip, skip + limit).map((row) => row.cells);
  }

  /** Reads in the order of an index, skipping pools outside the set. */
  async #walk<K extends keyof PoolListingRow>(
    set: PoolSet,
    options: Page & { order: readonly Term[]; fields: readonly K[] },
  ): Promise<Pick<PoolListingRow, K>[]> {
    const { order, skip, limit, fields } = options;
    if (skip === 0 || !(await this.#isDeep(set, skip)))
      return this.#rankIndex.readFrom(set, undefined, options);
    const entry = await this.#rankIndex.before(set, { order, skip });
    return this.#rankIndex.readFrom(set, entry?.at, {
      order,
      skip: skip - (entry?.rank ?? 0),
      limit,
      fields,
    });
  }

  /** Cells of a walk, some at a time: a text of megabytes would cost fresh memory in SQLite, driver and V8. */
  async #walkCells(set: PoolSet, order: readonly Term[], { skip, limit }: Page): Promise<string[]> {
    const { cellsAtOnce } = this.#tuning;
    const page = { order, skip, limit: Math.min(limit, cellsAtOnce), fields: ["cells"] as const };
    const cells = (await this.#walk(set, page)).map((row) => row.cells);
    let isFull = cells.length === cellsAtOnce;
    while (isFull && cells.length < limit) {
      const last = await this.#poolOf(set, cells.at(-1) as string);
      const more = { ...page, limit: Math.min(limit - cells.length, cellsAtOnce) };
      // A reorg may have removed it meanwhile.
      const rows =
        last === undefined
          ? await this.#walk(set, { ...more, skip: skip + cells.length })
          : await this.#rankIndex.readFrom(set, last, { ...more, skip: 1 });
      for (const row of rows) cells.push(row.cells);
      isFull = rows.length === cellsAtOnce;
    }
    return cells;
  }

  #poolOf({ chainId, family }: PoolSet, cells: string): Promise<PoolListingRow | undefined> {
    const poolAddress = (JSON.parse(cells) as string[])[ADDRESS_CELL] as string;
    return this.#store.get(poolListings, { chainId, family, poolAddress });
  }

  async #isDeep(set: PoolSet, skip: number): Promise<boolean> {
    return skip * (await this.#counts.rowsPerMatch(set)) >= this.#tuning.rankFrom;
  }

  /** A page in an order of several columns: `first` makes the groups. */
  async #readGroups(set: PoolSet, order: readonly Term[], { skip, limit }: Page): Promise<string[]> {
    const [first, ...rest] = order as [Term, ...Term[]];
    const served = [first, tieOf(first)];
    const [start] = await this.#walk(set, { order: served, skip, limit: 1, fields: [first.field] });
    if (start === undefined) return [];
    const value = start[first.field];
    const group = within(set, { [first.field]: value });
    const earlier = skip === 0 ? 0 : await this.#countBefore(set, served, { value, skip });
    const rows = await this.read(group, rest, { skip: skip - earlier, limit });
    if (rows.length === limit) return rows;
    return [...rows, ...(await this.#readGroupsAfter(set, order, { value, limit: limit - rows.length }))];
  }

  /** Number of pools with values before this one, the value of the pool at `skip`. */
  async #countBefore(
    set: PoolSet,
    served: readonly Term[],
    { value, skip }: { value: PoolListingRow[PoolListField]; skip: number },
  ): Promise<number> {
    const [first] = served as [Term];
    const entry = (await this.#isDeep(set, skip))
      ? await this.#rankIndex.beforeValue(set, served, { value, skip })
      : undefined;
    const count = (where: Filter<PoolListingRow>): Promise<number> =>
      this.#store.count(poolListings, filterOf(within(set, where)), {
        ...selectionOf(set),
        via: indexOf(first.field),
      });
    if (entry === undefined) return count({ [first.field]: { [after(first, false)]: value } });
    const equal = { [first.field]: entry.at[first.field], ...startingAt(served[1] as Term, entry.at) };
    const between = {
      [first.field]: { [after(first, true)]: entry.at[first.field], [after(first, false)]: value },
    };
    return entry.rank + (await count(equal)) + (await count(between));
  }

  async #readGroupsAfter(
    set: PoolSet,
    order: readonly Term[],
    { value, limit }: { value: PoolListingRow[PoolListField]; limit: number },
  ): Promise<string[]> {
    const [first, ...rest] = order as [Term, ...Term[]];
    const rangeTo = (end: object): Filter<PoolListingRow> =>
      ({
        [first.field]: { [after(first, true)]: value, ...end },
      }) as Filter<PoolListingRow>;
    const [last] = await this.#rankIndex.readFrom(within(set, rangeTo({})), undefined, {
      order: [first, tieOf(first)],
      skip: limit - 1,
      limit: 1,
      fields: [first.field],
    });
    const end = last === undefined ? {} : { [after(first, false)]: last[first.field] };
    const whole = within(set, rangeTo(end));
    const rows = await this.#find(whole, { order, skip: 0, limit, via: indexOf(first.field) });
    if (last === undefined) return rows;
    const group = within(set, { [first.field]: last[first.field] });
    return [...rows, ...(await this.read(group, rest, { skip: 0, limit: limit - rows.length }))];
  }
}
