import { readConsistently } from "../../shared/index/consistent-read.ts";
import { hasData } from "../../shared/index/evm/checkpoint.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { UnitSet } from "../protocols/protocol.ts";
import { UnitTable } from "../protocols/unit-set.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { getCheckpoint, listUnits } from "../store/queries.ts";
import { fromStateText } from "../store/state-text.ts";
import type { Slices } from "./slices.ts";

/** Times to read what changed while it was read, before the next look at the head. */
const MAX_ATTEMPTS = 8;

/** What of the store is in memory. */
interface Known {
  /** All units up to this version are in the table. */
  readonly upTo: number;
  /** The checkpoint it was read at. */
  readonly at: CheckpointRow;
}

/** A chain's units in memory: read once, and from then on only those that were written since. */
export class UnitMirror {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #kinds: ReadonlySet<string>;
  #units = new UnitTable();
  #known: Known | undefined;

  /** @param of.kinds those of the protocols that are asked for rows; others stay in the store */
  constructor(store: Store, of: { chainId: number; kinds: Iterable<string> }) {
    this.#store = store;
    this.#chainId = of.chainId;
    this.#kinds = new Set(of.kinds);
  }

  /**
   * Brings the units up to the store's checkpoint and answers both; undefined where nothing is indexed, or a write is
   * under way (units stand before the checkpoint that names them) and the units are of no block: try again later. The
   * units are the same until the next call.
   */
  async read(slices: Slices): Promise<{ checkpoint: CheckpointRow; units: UnitSet } | undefined> {
    const found = await readConsistently({
      getCheckpoint: () => getCheckpoint(this.#store, this.#chainId),
      hasData,
      read: (checkpoint) => this.#readUpTo(checkpoint, slices),
      isSameState: (before, after) => after?.version === before.version && isContinued(before, after),
      maxAttempts: MAX_ATTEMPTS,
    });
    if (found === undefined || !found.isConsistent || !found.value) return undefined;
    return { checkpoint: found.checkpoint, units: this.#units };
  }

  /** Whether no write is under way: it would have left units of a version above the checkpoint's. */
  async #readUpTo(checkpoint: CheckpointRow, slices: Slices): Promise<boolean> {
    const known = this.#known;
    const isGrown = known !== undefined && isContinued(known.at, checkpoint);
    if (!isGrown) this.#units = new UnitTable();
    const newest = await this.#readChanged(isGrown ? known.upTo : -1, slices);
    // What is being written may be written anew under the same version, if the writer dies.
    this.#known = { upTo: Math.min(newest, checkpoint.version), at: checkpoint };
    return newest <= checkpoint.version;
  }

  /** The index is gone: the next one is another, though its versions may be the same. */
  clear(): void {
    this.#known = undefined;
  }

  /** Takes in every unit above a version; answers the highest seen. */
  async #readChanged(after: number, slices: Slices): Promise<number> {
    let newest = after;
    for await (const page of listUnits(this.#store, { chainId: this.#chainId, after })) {
      for (const { kind, id, version, block, time, state } of page) {
        newest = Math.max(newest, version);
        // What never could be read has no state, and no row.
        if (!this.#kinds.has(kind) || block === null || time === null || state === null) continue;
        this.#units.put({ kind, id, block, time, state: fromStateText(state) });
        if (slices.due()) await slices.pause();
      }
    }
    return newest;
  }
}

/** Whether one checkpoint came of the other by writes alone: nothing was taken back, and it is no other index. */
function isContinued(before: CheckpointRow, now: CheckpointRow): boolean {
  return (
    now.version >= before.version &&
    now.epoch === before.epoch &&
    now.fromBlock === before.fromBlock &&
    now.genesisHash === before.genesisHash
  );
}
