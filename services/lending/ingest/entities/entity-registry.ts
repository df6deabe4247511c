import { fnv1a } from "../../../shared/fnv1a.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { EntityRef, EntityState, KnownEntities } from "../../protocols/protocol.ts";
import { type EntityRow, entities } from "../../store/collections.ts";
import { fromStateText } from "../../store/state-text.ts";
import { entityKey } from "./entity-key.ts";

interface Entry {
  readonly row: EntityRow;
  /** Position within the refresh period: in [0, 1), the same at every start. */
  readonly phase: number;
  /** Unix seconds of the chain: an unreadable entity is retried from then on. */
  readonly retryAt: number;
}

/** Seconds before the first retry of an unreadable entity; doubled with every further failure, up to the refresh period. */
const RETRY_SECONDS = 10;

/** `stateOf` returns the entity's last state. */
type IsVolatile = (kind: string, stateOf: () => EntityState | undefined) => boolean;

/** A chain's stored entities in memory, and when each is due to be read again. */
export class EntityRegistry implements KnownEntities {
  readonly #entries = new Map<string, Entry>();
  readonly #parsed = new WeakMap<EntityRow, EntityState>();
  /** Keys of the entities that may change at any block. */
  readonly #volatile = new Set<string>();
  readonly #isVolatile: IsVolatile;

  constructor(isVolatile: IsVolatile = () => false) {
    this.#isVolatile = isVolatile;
  }

  /** Loads the entities of some kinds: others belong to protocols that are not indexed (any more). */
  static async load(
    store: Store,
    { chainId, kinds, isVolatile }: { chainId: number; kinds: ReadonlySet<string>; isVolatile?: IsVolatile },
  ): Promise<EntityRegistry> {
    const registry = new EntityRegistry(isVolatile);
    for (const row of await store.find(entities, { filter: { chainId } })) {
      if (kinds.has(row.kind)) registry.put(row);
    }
    return registry;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(kind: string, id: string): boolean {
    return this.#entries.has(entityKey({ kind, id }));
  }

  get(ref: EntityRef): EntityRow | undefined {
    return this.#entries.get(entityKey(ref))?.row;
  }

  state<S = EntityState>(kind: string, id: string): S | undefined {
    const row = this.get({ kind, id });
    if (row === undefined || row.state === null) return undefined;
    let state = this.#parsed.get(row);
    if (state === undefined) {
      state = fromStateText(row.state);
      this.#parsed.set(row, state);
    }
    // A kind has one type of state, written and read by its protocol alone.
    return state as S;
  }

  *rows(): Generator<EntityRow> {
    for (const { row } of this.#entries.values()) yield row;
  }

  /** @param failure for an unreadable entity; `now` is Unix seconds of the chain */
  put(row: EntityRow, failure?: { now: number; refreshSeconds: number }): void {
    const key = entityKey(row);
    const phase = this.#entries.get(key)?.phase ?? phaseOf(key);
    const pause = RETRY_SECONDS * 2 ** Math.max(0, row.failures - 1);
    const retryAt = failure === undefined ? 0 : failure.now + Math.min(failure.refreshSeconds, pause);
    this.#entries.set(key, { row, phase, retryAt });
    const isVolatile = this.#isVolatile(row.kind, () => this.state(row.kind, row.id));
    if (isVolatile) this.#volatile.add(key);
    else this.#volatile.delete(key);
  }

  remove(ref: EntityRef): void {
    this.#entries.delete(entityKey(ref));
    this.#volatile.delete(entityKey(ref));
  }

  /** Entities that may change at any block, unless they failed and are to be retried later. */
  volatile(now: number): EntityRow[] {
    return [...this.#volatile].flatMap((key) => {
      const entry = this.#entries.get(key);
      return entry === undefined || now < entry.retryAt ? [] : [entry.row];
    });
  }

  /**
   * Entities to read at `now` even without a log, as not every change has an event: all unread ones, and at most `limit`
   * with an outdated state, the oldest first. Each has its own period between half and the whole of `refreshSeconds`, so
   * that entities read together do not become due together.
   */
  due({ now, refreshSeconds, limit }: { now: number; refreshSeconds: number; limit: number }): EntityRow[] {
    const unread: EntityRow[] = [];
    const old: EntityRow[] = [];
    for (const { row, phase, retryAt } of this.#entries.values()) {
      if (now < retryAt) continue;
      if (row.time === null) unread.push(row);
      else if (row.failures > 0 || now - row.time >= refreshSeconds * (1 - phase / 2)) old.push(row);
    }
    old.sort((a, b) => (a.time ?? 0) - (b.time ?? 0));
    return [...unread, ...old.slice(0, limit)];
  }
}

/** FNV-1a hash, scaled to [0, 1). */
function phaseOf(text: string): number {
  return (fnv1a(text) >>> 0) / 2 ** 32;
}
