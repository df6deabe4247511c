import type { Store } from "../../../shared/storage/port.ts";
import { poolListings } from "../collections.ts";
import { indexOf, type PoolListField, type PoolSet, pinnedIn } from "./pool-sets.ts";

/** A condition of a set, and how many pools of the family match it. */
export interface Restriction {
  readonly by: PoolListField | "token";
  readonly count: number;
}

/** Counts only choose between plans for the same page: an old one will do. */
const MAX_AGE_MS = 600_000;
const MAX_COUNTS = 5_000;

/** Counts of a family's pools, and of those with a value; at most some minutes old. */
export class PoolCounts {
  readonly #store: Store;
  readonly #known = new Map<string, { readonly count: number; readonly atMs: number }>();

  constructor(store: Store) {
    this.#store = store;
  }

  ofFamily({ chainId, family }: PoolSet): Promise<number> {
    return this.#count([chainId, family], () =>
      this.#store.count(poolListings, { chainId, family }, { via: poolListings.key }),
    );
  }

  /** Rows of an index per row of the set, if its restrictions are independent of each other. */
  async rowsPerMatch(set: PoolSet): Promise<number> {
    const all = Math.max(1, await this.ofFamily(set));
    const restrictions = await this.ofRestrictions(set);
    const found = restrictions.reduce((product, { count }) => product * (count / all), all);
    return all / Math.max(1, found);
  }

  async ofRestrictions(set: PoolSet): Promise<Restriction[]> {
    const { token } = set;
    const restrictions: Restriction[] = [];
    for (const by of pinnedIn(set))
      restrictions.push({ by, count: await this.#ofValue(set, by, set.where[by]) });
    if (token !== undefined) {
      const asToken0 = await this.#ofValue(set, "token0Address", token);
      const asToken1 = await this.#ofValue(set, "token1Address", token);
      restrictions.push({ by: "token", count: asToken0 + asToken1 });
    }
    return restrictions;
  }

  #ofValue({ chainId, family }: PoolSet, field: PoolListField, value: unknown): Promise<number> {
    return this.#count([chainId, family, field, value], () =>
      this.#store.count(poolListings, { chainId, family, [field]: value }, { via: indexOf(field) }),
    );
  }

  async #count(options: readonly unknown[], read: () => Promise<number>): Promise<number> {
    const name = JSON.stringify(options);
    const atMs = performance.now();
    const known = this.#known.get(name);
    if (known !== undefined && atMs - known.atMs < MAX_AGE_MS) return known.count;
    const count = await read();
    this.#known.delete(name);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= MAX_COUNTS) this.#known.delete(oldest);
    this.#known.set(name, { count, atMs });
    return count;
  }
}
