import { headers } from "../../shared/index/evm/headers.ts";
import type { Filter, Store } from "../../shared/storage/port.ts";
import {
  type CheckpointRow,
  discoveries,
  type PoolListingRow,
  type PoolRow,
  poolListings,
  pools,
} from "./collections.ts";
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
import { getCheckpoint } from "./queries.ts";

type Place = Pick<PoolListingRow, PoolListField>;

/** A place in a list and how many of its pools stand before it. */
export interface Mark {
  readonly at: Place;
  readonly rank: number;
}

/** Marks of one list in one order, as far as it has been walked. Ranks count the pools of the epoch's beginning. */
interface Marks {
  readonly every: number;
  readonly found: Mark[];
  isComplete: boolean;
  /** Work on them, one after another. */
  work: Promise<void>;
}

/** A time through which pools were only added, and few. */
interface Epoch {
  /** The checkpoint when it was last looked at. */
  checkpoint: CheckpointRow;
  readonly discovered: string;
  /** Pools created later are counted apart. */
  readonly block: number;
  recent: readonly PoolRow[];
  readonly marks: Map<string, Marks>;
}

/** More new pools than this, and marks are made anew. */
const MAX_RECENT = 256;
const MAX_LISTS = 200;

/**
 * How to reach deep pages without passing all that lies before them: counts of whole stretches of a list, kept in
 * memory. Made while a list is first walked so deep; right until a reorg or a newly discovered factory, since
 * pools are never changed: those created since are added to the counts.
 */
export class PoolMarks {
  readonly #store: Store;
  readonly #every: number;
  readonly #counts: PoolCounts;
  readonly #epochs = new Map<number, Epoch>();

  /** `every`: rows between two marks of a whole family. */
  constructor(store: Store, { every, counts }: { every: number; counts: PoolCounts }) {
    this.#store = store;
    this.#every = every;
    this.#counts = counts;
  }

  /** The last known place that at most `skip` pools stand before; undefined where marks cannot be relied on now. */
  async before(set: PoolSet, of: { order: readonly Term[]; skip: number }): Promise<Mark | undefined> {
    const found = await this.#upTo(set, of);
    return found && lastOf(found.marks, (mark) => found.rankNow(mark) <= of.skip, found.rankNow);
  }

  /** The last known place before all pools with this value, of marks up to `skip`; `order` begins with its column. */
  async beforeValue(
    set: PoolSet,
    order: readonly Term[],
    { value, skip }: { value: Value; skip: number },
  ): Promise<Mark | undefined> {
    const [first] = order as [Term];
    const found = await this.#upTo(set, { order, skip });
    const isBefore = ({ at }: Mark): boolean => comparePools([first], at, { [first.field]: value }) < 0;
    return found && lastOf(found.marks, isBefore, found.rankNow);
  }

  /** Marks of the list, at least up to `skip`, and what their ranks have become. */
  async #upTo(
    set: PoolSet,
    of: { order: readonly Term[]; skip: number },
  ): Promise<{ marks: readonly Mark[]; rankNow: (mark: Mark) => number } | undefined> {
    const epoch = await this.#epoch(set.chainId);
    if (epoch === undefined) return undefined;
    const marks = await this.#marksOf(epoch, set, of.order);
    const work = marks.work.then(() => this.#extend(epoch, marks, { set, ...of }));
    marks.work = work.catch(() => {});
    await work;
    if (this.#epochs.get(set.chainId) !== epoch) return undefined;
    const recent = epoch.recent.filter((pool) => isIn(set, pool));
    const rankNow = ({ at, rank }: Mark): number =>
      rank + recent.filter((pool) => comparePools(of.order, pool, at) < 0).length;
    return { marks: marks.found, rankNow };
  }

  /** Rows of the set in an index's order, from a place on (itself included) or from the beginning. */
  async readFrom<K extends keyof PoolListingRow>(
    set: PoolSet,
    at: Place | undefined,
    of: { order: readonly Term[]; skip: number; limit: number; fields: readonly K[] },
  ): Promise<Pick<PoolListingRow, K>[]> {
    const { order, skip, limit, fields } = of;
    const [first, tie] = order as [Term, Term | undefined];
    // By address, any index will do whose column is fixed: the one that leaves out most.
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

  /** Walks on until no further mark can lie before the page. */
  async #extend(
    epoch: Epoch,
    marks: Marks,
    of: { set: PoolSet; order: readonly Term[]; skip: number },
  ): Promise<void> {
    const { set, order, skip } = of;
    const found: Mark[] = [];
    const { recent } = epoch;
    const own = recent.filter((pool) => isIn(set, pool));
    let isComplete = marks.isComplete;
    for (let last = marks.found.at(-1); !isComplete && (last?.rank ?? 0) + marks.every <= skip; ) {
      const fields = [...order.map((term) => term.field), "poolAddress"] as const;
      const [at] = await this.readFrom(set, last?.at, { order, skip: marks.every, limit: 1, fields });
      if (at === undefined) isComplete = true;
      else {
        const place = at as Place;
        const passed = (pool: PoolRow): boolean =>
          comparePools(order, pool, place) < 0 &&
          (last === undefined || comparePools(order, pool, last.at) >= 0);
        last = { at: place, rank: (last?.rank ?? 0) + marks.every - own.filter(passed).length };
        found.push(last);
        // Each step holds an embedded store for some milliseconds: other requests go between.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    if (found.length === 0 && isComplete === marks.isComplete) return;
    // What was counted while pools came or went is not kept.
    if ((await this.#epoch(set.chainId)) !== epoch || !isSame(recent, epoch.recent)) return;
    marks.found.push(...found);
    marks.isComplete = isComplete;
  }

  async #marksOf(epoch: Epoch, set: PoolSet, order: readonly Term[]): Promise<Marks> {
    const name = JSON.stringify([set, order]);
    const known = epoch.marks.get(name);
    if (known !== undefined) return known;
    const every = await this.#spacing(set);
    if (epoch.marks.size >= MAX_LISTS) {
      const [oldest] = epoch.marks.keys();
      epoch.marks.delete(oldest as string);
    }
    const marks = { every, found: [], isComplete: false, work: Promise.resolve() };
    epoch.marks.set(name, marks);
    return marks;
  }

  /** So many rows between two marks that about as many of the index as of a whole family are passed. */
  async #spacing(set: PoolSet): Promise<number> {
    const rarity = await this.#counts.rarity(set);
    return Math.max(Math.ceil(this.#every / 50), Math.round(this.#every / rarity));
  }

  /** The time since which pools were only added; a new one where that cannot be told. */
  async #epoch(chainId: number): Promise<Epoch | undefined> {
    const checkpoint = await getCheckpoint(this.#store, chainId);
    if (checkpoint === undefined) return undefined;
    const discovered = JSON.stringify(await this.#store.find(discoveries, { filter: { chainId } }));
    const known = this.#epochs.get(chainId);
    if (known?.discovered === discovered && (await this.#goesOn(known, checkpoint))) return known;
    const block = checkpoint.blockNumber;
    const recent = await this.#createdAfter(chainId, block);
    if (recent.length > MAX_RECENT) return undefined;
    const epoch = { checkpoint, discovered, block, recent, marks: new Map() };
    this.#epochs.set(chainId, epoch);
    return epoch;
  }

  /** Whether the chain has gone on from where the epoch was last looked at; takes its new pools in. */
  async #goesOn(epoch: Epoch, checkpoint: CheckpointRow): Promise<boolean> {
    const { chainId, blockNumber, blockHash } = epoch.checkpoint;
    if (checkpoint.blockHash === blockHash) return true;
    const header = await this.#store.get(headers, { chainId, number: blockNumber });
    if (header?.hash !== blockHash || checkpoint.blockNumber < blockNumber) return false;
    const recent = await this.#createdAfter(chainId, epoch.block);
    if (recent.length > MAX_RECENT) return false;
    epoch.recent = recent;
    epoch.checkpoint = checkpoint;
    return true;
  }

  #createdAfter(chainId: number, block: number): Promise<PoolRow[]> {
    return this.#store.find(pools, {
      filter: { chainId, createdBlock: { gt: block } },
      limit: MAX_RECENT + 1,
    });
  }
}

/** The last mark for which it holds; it holds up to some mark and not after it. */
function lastOf(
  marks: readonly Mark[],
  holds: (mark: Mark) => boolean,
  rankNow: (mark: Mark) => number,
): Mark | undefined {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(marks[middle] as Mark)) low = middle + 1;
    else high = middle;
  }
  const mark = marks[low - 1];
  return mark && { at: mark.at, rank: rankNow(mark) };
}

function isSame(a: readonly PoolRow[], b: readonly PoolRow[]): boolean {
  return a === b || (a.length === b.length && a.every((pool, i) => pool.poolAddress === b[i]?.poolAddress));
}
