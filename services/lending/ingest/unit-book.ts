import type { Store } from "../../shared/storage/port.ts";
import type { KnownUnits, UnitRef, UnitState } from "../protocols/protocol.ts";
import { type UnitRow, units } from "../store/collections.ts";
import { fromStateText } from "../store/state-text.ts";
import { keyOf } from "./unit-key.ts";

interface Entry {
  readonly row: UnitRow;
  /** When its turn comes within a refresh period: in [0, 1), the same at every start. */
  readonly phase: number;
  /** Unix seconds of the chain; a unit that could not be read is left alone until then. */
  readonly retryAt: number;
}

/** Seconds until the first new attempt at a unit that could not be read; doubled with every further failure. */
const RETRY_SECONDS = 10;

/** Every unit of a chain as it is stored, in memory: known, and read when its time has come. */
export class UnitBook implements KnownUnits {
  readonly #entries = new Map<string, Entry>();
  readonly #parsed = new WeakMap<UnitRow, UnitState>();

  /** Those of some kinds: others belong to protocols that are not indexed (any more). */
  static async load(store: Store, of: { chainId: number; kinds: ReadonlySet<string> }): Promise<UnitBook> {
    const book = new UnitBook();
    for (const row of await store.find(units, { filter: { chainId: of.chainId } })) {
      if (of.kinds.has(row.kind)) book.put(row);
    }
    return book;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(kind: string, id: string): boolean {
    return this.#entries.has(keyOf({ kind, id }));
  }

  get(ref: UnitRef): UnitRow | undefined {
    return this.#entries.get(keyOf(ref))?.row;
  }

  state<S = UnitState>(kind: string, id: string): S | undefined {
    const row = this.get({ kind, id });
    if (row === undefined || row.state === null) return undefined;
    let state = this.#parsed.get(row);
    if (state === undefined) {
      state = fromStateText(row.state);
      this.#parsed.set(row, state);
    }
    // A kind has one type of state, which its protocol alone makes and reads.
    return state as S;
  }

  *rows(): Generator<UnitRow> {
    for (const { row } of this.#entries.values()) yield row;
  }

  /** `now`, Unix seconds of the chain, and the refresh period are needed for a unit that could not be read. */
  put(row: UnitRow, failed?: { now: number; refreshSeconds: number }): void {
    const key = keyOf(row);
    const phase = this.#entries.get(key)?.phase ?? phaseOf(key);
    const pause = RETRY_SECONDS * 2 ** Math.max(0, row.failures - 1);
    const retryAt = failed === undefined ? 0 : failed.now + Math.min(failed.refreshSeconds, pause);
    this.#entries.set(key, { row, phase, retryAt });
  }

  remove(ref: UnitRef): void {
    this.#entries.delete(keyOf(ref));
  }

  /**
   * Units to be read at `now` though nothing was heard of them: all that were never read, and at most `limit` whose
   * state is older than they may be, the oldest first. Each has a period of its own between half and the whole of
   * `refreshSeconds`, so that units read together come due one by one.
   */
  due(of: { now: number; refreshSeconds: number; limit: number }): UnitRow[] {
    const { now, refreshSeconds, limit } = of;
    const unread: UnitRow[] = [];
    const old: UnitRow[] = [];
    for (const { row, phase, retryAt } of this.#entries.values()) {
      if (now < retryAt) continue;
      if (row.time === null) unread.push(row);
      else if (row.failures > 0 || now - row.time >= refreshSeconds * (1 - phase / 2)) old.push(row);
    }
    old.sort((a, b) => (a.time ?? 0) - (b.time ?? 0));
    return [...unread, ...old.slice(0, limit)];
  }
}

/** FNV-1a, as a share of its range. */
function phaseOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
