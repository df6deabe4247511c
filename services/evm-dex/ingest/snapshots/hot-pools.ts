import type { PoolRow } from "../../store/collections.ts";
import { findView, viewsOf } from "../../views/index.ts";
import { parseRequestedMember, requestedMember } from "../../views/snapshot.ts";
import type { PoolView } from "../../views/view.ts";

const MAX_TOUCHED = 1_000;
const HOUR_SECONDS = 3_600;

export interface HotPool {
  readonly poolAddress: string;
  readonly view: PoolView;
}

/** The pools that are likely to be requested, the likeliest first. */
export class HotPools {
  /** Oldest first: a Map keeps the order of insertion. */
  readonly #touched = new Map<string, { readonly pool: PoolRow; readonly time: number }>();

  /** Adds pools with events up to `time`, in chain seconds; drops those without one for an hour. */
  touch(pools: readonly PoolRow[], time: number): void {
    for (const pool of pools) {
      this.#touched.delete(pool.poolAddress);
      this.#touched.set(pool.poolAddress, { pool, time });
    }
    for (const [address, known] of this.#touched) {
      if (this.#touched.size <= MAX_TOUCHED && time - known.time <= HOUR_SECONDS) break;
      this.#touched.delete(address);
    }
  }

  /** Requested views in their order, then those of touched pools, the latest first; each once. */
  list(askedMembers: readonly string[]): HotPool[] {
    const hot = new Map<string, HotPool>();
    for (const member of askedMembers) {
      const { poolAddress, view: name } = parseRequestedMember(member) ?? {};
      const view = name === undefined ? undefined : findView(name);
      if (poolAddress !== undefined && view !== undefined) hot.set(member, { poolAddress, view });
    }
    for (const { pool } of [...this.#touched.values()].reverse()) {
      const { poolAddress } = pool;
      for (const view of viewsOf(pool)) {
        const member = requestedMember({ poolAddress, view: view.name });
        if (!hot.has(member)) hot.set(member, { poolAddress, view });
      }
    }
    return [...hot.values()];
  }
}
