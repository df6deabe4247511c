import { headers } from "../../../shared/index/evm/headers.ts";
import type { Filter, Store } from "../../../shared/storage/port.ts";
import {
  type CheckpointRow,
  discoveries,
  type PoolListingRow,
  type PoolRow,
  poolListings,
  pools,
} from "../collections.ts";
import { getCheckpoint } from "../queries.ts";
import type { PoolCounts } from "./pool-counts.ts";
import {
  comparePools,
  filterOf,
  following,
  indexOf,
  isIn,
  type PoolListField,
  type PoolSet,
  pinnedIn,
  selectionOf,
  startingAt,
  type Term,
  type Value,
} from "./pool-sets.ts";

type ListPosition = Pick<PoolListingRow, PoolListField>;

/** A position in a list and the number of its pools before it. */
interface RankEntry {
  readonly at: ListPosition;
  readonly rank: number;
}

/** Ranks of one list in one order, as far as it has been walked. They count the pools at the snapshot's start. */
interface RankList {
  readonly spacing: number;
  readonly entries: RankEntry[];
  isComplete: boolean;
  /** Work on them, one after another. */
  work: Promise<void>;
}

/** A period in which pools were only added, and few. */
interface RankSnapshot {
  /** The checkpoint of the last check. */
  checkpoint: CheckpointRow;
  readonly discovered: string;
  /** Pools created later are counted separately. */
  readonly block: number;
  recent: readonly PoolRow[];
  readonly lists: Map<string, RankList>;
}

/** More new pools than this start a new snapshot. */
const MAX_RECENT = 256;
const MAX_LISTS = 200;

/**
 * A skip index for deep pages: ranks of every `spacing`-th pool of a list, in memory. Built when a list is first read
 * so deep; valid until a reorg or a newly discovered factory, since pools never change: pools created since are added
 * to the ranks.
 */
export class RankIndex {
  readonly #store: Store;
  readonly #spacing: number;
  readonly #counts: PoolCounts;
  readonly #snapshots = new Map<number, RankSnapshot>();

  /** `spacing`: rows between two entries of a whole family. */
  constructor(store: Store, { spacing, counts }: { spacing: number; counts: PoolCounts }) {
    this.#store = store;
    this.#spacing = spacing;
    this.#counts = counts;
  }

  /** The last known position with at most `skip` pools before it; undefined where ranks are not valid now. */
  async before(
    set: PoolSet,
    options: { order: readonly Term[]; skip: number },
  ): Promise<RankEntry | undefined> {
    const found = await this.#upTo(set, options);
    return found && lastOf(found.ranks, (entry) => found.rankNow(entry) <= options.skip, found.rankNow);
  }

  /**
   * The last known position before all pools with this value, of ranks up to `skip`; `order` begins with its column.
   */
  async beforeValue(
    set: PoolSet,
    order: readonly Term[],
    { value, skip }: { value: Value; skip: number },
  ): Promise<RankEntry | undefined> {
    const [first] = order as [Term];
    const found = await this.#upTo(set, { order, skip });
    const isBefore = ({ at }: RankEntry): boolean => comparePools([first], at, { [first.field]: value }) < 0;
    return found && lastOf(found.ranks, isBefore, found.rankNow);
  }

  /** Entries of the list, at least up to `skip`, and what their ranks have become. */
  async #upTo(
    set: PoolSet,
    options: { order: readonly Term[]; skip: number },
  ): Promise<{ ranks: readonly RankEntry[]; rankNow: (entry: RankEntry) => number } | undefined> {
    const snapshot = await this.#snapshot(set.chainId);
    if (snapshot === undefined) return undefined;
    const ranks = await this.#rankList(snapshot, set, options.order);
    const work = ranks.work.then(() => this.#extend(snapshot, ranks, { set, ...options }));
    ranks.work = work.catch(() => {});
    await work;
    if (this.#snapshots.get(set.chainId) !== snapshot) return undefined;
    const recent = snapshot.recent.filter((pool) => isIn(set, pool));
    const rankNow = ({ at, rank }: RankEntry): number =>
      rank + recent.filter((pool) => comparePools(options.order, pool, at) < 0).length;
    return { ranks: ranks.entries, rankNow };
  }

  /** Rows of the set in an index's order, from a position on (inclusive) or from the beginning. */
  async readFrom<K extends keyof PoolListingRow>(
    set: PoolSet,
    at: ListPosition | undefined,
    {
      order,
      skip,
      limit,
      fields,
    }: { order: readonly Term[]; skip: number; limit: number; fields: readonly K[] },
  ): Promise<Pick<PoolListingRow, K>[]> {
    const [first, tie] = order as [Term, Term | undefined];
    // By address, any index with a fixed column will do: the first pinned one.
    const via = indexOf(tie === undefined ? (pinnedIn(set)[0] ?? first.field) : first.field);
    const find = (
      where: Filter<PoolListingRow>,
      by: readonly Term[],
      page: { skip: number; limit: number },
    ) =>
      this.#store.find(poolListings, {
        filter: { ...filterOf(set), ...where },
        ...selectionOf(set),
        via,
        order: by,
        ...page,
        fields,
      });
    if (at === undefined) return find({}, order, { skip, limit });
    if (tie === undefined) return find(startingAt(first, at), order, { skip, limit });
    // Equal values from the address on, then all values beyond.
    const equal = { [first.field]: at[first.field], ...startingAt(tie, at) };
    const rows = await find(equal, [tie], { skip, limit });
    if (rows.length === limit) return rows;
    const passed =
      rows.length > 0 || skip === 0
        ? skip
        : await this.#store.count(poolListings, { ...filterOf(set), ...equal }, { ...selectionOf(set), via });
    const more = await find(following(first, at), order, {
      skip: skip - passed,
      limit: limit - rows.length,
    });
    return [...rows, ...more];
  }

  /** Extends the ranks until no further entry can lie before the page. */
  async #extend(
    snapshot: RankSnapshot,
    ranks: RankList,
    { set, order, skip }: { set: PoolSet; order: readonly Term[]; skip: number },
  ): Promise<void> {
    const found: RankEntry[] = [];
    const { recent } = snapshot;
    const own = recent.filter((pool) => isIn(set, pool));
    let isComplete = ranks.isComplete;
    for (let last = ranks.entries.at(-1); !isComplete && (last?.rank ?? 0) + ranks.spacing <= skip; ) {
      const fields = [...order.map((term) => term.field), "poolAddress"] as const;
      const [at] = await this.readFrom(set, last?.at, { order, skip: ranks.spacing, limit: 1, fields });
      if (at === undefined) isComplete = true;
      else {
        const place = at as ListPosition;
        const passed = (pool: PoolRow): boolean =>
          comparePools(order, pool, place) < 0 &&
          (last === undefined || comparePools(order, pool, last.at) >= 0);
        last = { at: place, rank: (last?.rank ?? 0) + ranks.spacing - own.filter(passed).length };
        found.push(last);
        // Each step blocks an embedded store for some milliseconds: other requests run in between.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    if (found.length === 0 && isComplete === ranks.isComplete) return;
    // Discards ranks that were counted while pools changed.
    if ((await this.#snapshot(set.chainId)) !== snapshot || !isSame(recent, snapshot.recent)) return;
    ranks.entries.push(...found);
    ranks.isComplete = isComplete;
  }

  async #rankList(snapshot: RankSnapshot, set: PoolSet, order: readonly Term[]): Promise<RankList> {
    const name = JSON.stringify([set, order]);
    const known = snapshot.lists.get(name);
    if (known !== undefined) return known;
    const spacing = await this.#spacingOf(set);
    if (snapshot.lists.size >= MAX_LISTS) {
      const [oldest] = snapshot.lists.keys();
      snapshot.lists.delete(oldest as string);
    }
    const ranks = { spacing, entries: [], isComplete: false, work: Promise.resolve() };
    snapshot.lists.set(name, ranks);
    return ranks;
  }

  /** Spacing for a set: it passes about as many rows of the index as a whole family's spacing does. */
  async #spacingOf(set: PoolSet): Promise<number> {
    const rarity = await this.#counts.rowsPerMatch(set);
    return Math.max(Math.ceil(this.#spacing / 50), Math.round(this.#spacing / rarity));
  }

  /** The current snapshot; a new one where pools may have changed otherwise than by additions. */
  async #snapshot(chainId: number): Promise<RankSnapshot | undefined> {
    const checkpoint = await getCheckpoint(this.#store, chainId);
    if (checkpoint === undefined) return undefined;
    const discovered = JSON.stringify(await this.#store.find(discoveries, { filter: { chainId } }));
    const known = this.#snapshots.get(chainId);
    if (known?.discovered === discovered && (await this.#extendsChain(known, checkpoint))) return known;
    const block = checkpoint.blockNumber;
    const recent = await this.#createdAfter(chainId, block);
    if (recent.length > MAX_RECENT) return undefined;
    const snapshot = { checkpoint, discovered, block, recent, lists: new Map() };
    this.#snapshots.set(chainId, snapshot);
    return snapshot;
  }

  /** Whether the chain extends the snapshot's checkpoint; adds its new pools. */
  async #extendsChain(snapshot: RankSnapshot, checkpoint: CheckpointRow): Promise<boolean> {
    const { chainId, blockNumber, blockHash } = snapshot.checkpoint;
    if (checkpoint.blockHash === blockHash) return true;
    const header = await this.#store.get(headers, { chainId, number: blockNumber });
    if (header?.hash !== blockHash || checkpoint.blockNumber < blockNumber) return false;
    const recent = await this.#createdAfter(chainId, snapshot.block);
    if (recent.length > MAX_RECENT) return false;
    snapshot.recent = recent;
    snapshot.checkpoint = checkpoint;
    return true;
  }

  #createdAfter(chainId: number, block: number): Promise<PoolRow[]> {
    return this.#store.find(pools, {
      filter: { chainId, createdBlock: { gt: block } },
      limit: MAX_RECENT + 1,
    });
  }
}

/** The last entry for which `holds` is true: it is true up to some entry and false after it. */
function lastOf(
  ranks: readonly RankEntry[],
  holds: (entry: RankEntry) => boolean,
  rankNow: (entry: RankEntry) => number,
): RankEntry | undefined {
  let low = 0;
  let high = ranks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(ranks[middle] as RankEntry)) low = middle + 1;
    else high = middle;
  }
  const entry = ranks[low - 1];
  return entry && { at: entry.at, rank: rankNow(entry) };
}

function isSame(a: readonly PoolRow[], b: readonly PoolRow[]): boolean {
  return a === b || (a.length === b.length && a.every((pool, i) => pool.poolAddress === b[i]?.poolAddress));
}
