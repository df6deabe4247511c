import { readConsistently } from "../../../shared/index/consistent-read.ts";
import { hasData } from "../../../shared/index/evm/checkpoint.ts";
import type { TimeSlices } from "../../../shared/process/time-slices.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { EntityMap } from "../../protocols/entity-map.ts";
import type { EntitySet } from "../../protocols/protocol.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { getCheckpoint, listEntities } from "../../store/queries.ts";
import { fromStateText } from "../../store/state-text.ts";

/** Attempts to read a state that no write changes meanwhile. */
const MAX_ATTEMPTS = 8;

/** The part of the store that is in memory. */
interface LoadedState {
  /** All entities up to this version are loaded. */
  readonly version: number;
  /** The checkpoint of the last load. */
  readonly checkpoint: CheckpointRow;
}

/** A chain's entities in memory: loaded once, then only those with a newer version. */
export class EntityMirror {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #kinds: ReadonlySet<string>;
  #entities = new EntityMap();
  #loaded: LoadedState | undefined;

  /** `kinds`: those of the served protocols; others are not loaded. */
  constructor(store: Store, { chainId, kinds }: { chainId: number; kinds: Iterable<string> }) {
    this.#store = store;
    this.#chainId = chainId;
    this.#kinds = new Set(kinds);
  }

  /**
   * Loads the entities up to the store's checkpoint and returns both. Undefined where nothing is indexed, or during a
   * write (MongoDB: entities are written before their checkpoint and are of no block yet): try again later. The entities
   * do not change until the next call.
   */
  async read(slices: TimeSlices): Promise<{ checkpoint: CheckpointRow; entities: EntitySet } | undefined> {
    const state = await readConsistently({
      getCheckpoint: () => getCheckpoint(this.#store, this.#chainId),
      hasData,
      read: (checkpoint) => this.#readUpTo(checkpoint, slices),
      isSameState: (before, after) => after?.version === before.version && isContinued(before, after),
      maxAttempts: MAX_ATTEMPTS,
    });
    if (state === undefined || !state.isConsistent || !state.value) return undefined;
    return { checkpoint: state.checkpoint, entities: this.#entities };
  }

  /** Loads the changes; returns whether no write is in progress, which shows by versions above the checkpoint's. */
  async #readUpTo(checkpoint: CheckpointRow, slices: TimeSlices): Promise<boolean> {
    const loaded = this.#loaded;
    const isSameIndex = loaded !== undefined && isContinued(loaded.checkpoint, checkpoint);
    if (!isSameIndex) this.#entities = new EntityMap();
    const newest = await this.#readChanged(isSameIndex ? loaded.version : -1, slices);
    // An unfinished write may be repeated with the same version, if the writer is killed.
    this.#loaded = { version: Math.min(newest, checkpoint.version), checkpoint };
    return newest <= checkpoint.version;
  }

  /** Call it when the index is deleted: the next index may reuse its versions. */
  clear(): void {
    this.#loaded = undefined;
  }

  /** Loads every entity above a version; returns the highest version. */
  async #readChanged(after: number, slices: TimeSlices): Promise<number> {
    let newest = after;
    for await (const page of listEntities(this.#store, { chainId: this.#chainId, after })) {
      for (const { kind, id, version, block, time, state } of page) {
        newest = Math.max(newest, version);
        // An entity without a successful reading has no state and no row.
        if (!this.#kinds.has(kind) || block === null || time === null || state === null) continue;
        this.#entities.put({ kind, id, block, time, state: fromStateText(state) });
        if (slices.due()) await slices.pause();
      }
    }
    return newest;
  }
}

/** Whether one checkpoint follows on the other by passes alone: no rollback, and the same index. */
function isContinued(before: CheckpointRow, now: CheckpointRow): boolean {
  return (
    now.version >= before.version &&
    now.epoch === before.epoch &&
    now.fromBlock === before.fromBlock &&
    now.genesisHash === before.genesisHash
  );
}
