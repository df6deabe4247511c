import { MEDIAN_WINDOW_SECONDS } from "../../../shared/pricing/median.ts";
import type { RowList, TakenRows } from "../../../shared/storage/row-list.ts";
import { HOUR, startOf } from "../../metrics/bucket.ts";
import type { PoolEventRow } from "../../store/collections.ts";
import type { CountedField } from "./count-swaps.ts";

/**
 * Of the events since the last time, those that are read of a chunk whose events do not stay: each pool's last one of every
 * hour, of which states and TVL are told; and all of the last five minutes, with each pool's last one before them, from which
 * medians go on after a kill.
 */
export class LastEvents implements RowList<PoolEventRow, CountedField> {
  readonly #kept: RowList<PoolEventRow, CountedField>;
  /** By pool, the last event before the five minutes, unless it is among `#kept`. */
  readonly #settled = new Map<string, PoolEventRow>();
  /** Events of the last five minutes, from a place on. */
  #recent: PoolEventRow[] = [];
  #first = 0;

  /** @param kept takes what stays */
  constructor(kept: RowList<PoolEventRow, CountedField>) {
    this.#kept = kept;
  }

  get length(): number {
    return this.#kept.length + this.#settled.size + this.#recent.length - this.#first;
  }

  /** An event that is not older than those before. */
  add(row: PoolEventRow): void {
    const from = row.time - MEDIAN_WINDOW_SECONDS;
    for (; this.#first < this.#recent.length; this.#first++) {
      const first = this.#recent[this.#first] as PoolEventRow;
      if (first.time > from) break;
      this.#settle(first);
    }
    if (2 * this.#first > this.#recent.length) {
      this.#recent = this.#recent.slice(this.#first);
      this.#first = 0;
    }
    this.#recent.push(row);
  }

  #settle(row: PoolEventRow): void {
    const { poolAddress, time } = row;
    const before = this.#settled.get(poolAddress);
    if (before !== undefined && startOf(before.time, HOUR) !== startOf(time, HOUR)) this.#kept.add(before);
    this.#settled.set(poolAddress, row);
  }

  take(): TakenRows<PoolEventRow, CountedField> {
    for (const row of this.#settled.values()) this.#kept.add(row);
    for (let i = this.#first; i < this.#recent.length; i++) this.#kept.add(this.#recent[i] as PoolEventRow);
    this.#settled.clear();
    this.#recent = [];
    this.#first = 0;
    return this.#kept.take();
  }
}
