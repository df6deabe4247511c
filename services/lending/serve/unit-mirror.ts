import type { Store } from "../../shared/storage/port.ts";
import type { UnitSet } from "../protocols/protocol.ts";
import { UnitTable } from "../protocols/unit-set.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { getCheckpoint, hasData, listUnits } from "../store/queries.ts";
import { fromStateText } from "../store/state-text.ts";
import type { Slices } from "./slices.ts";

/** Times to read what changed while it was read, before the next look at the head. */
const MAX_ATTEMPTS = 8;

const NOTHING = { version: -1, epoch: Number.NaN };

/** A chain's units in memory: read once, and from then on only those that were written since. */
export class UnitMirror {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #kinds: ReadonlySet<string>;
  #units = new UnitTable();
  /** All units up to this version are in the table, while the epoch lasts. */
  #read = NOTHING;

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
    let checkpoint = await getCheckpoint(this.#store, this.#chainId);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      if (!hasData(checkpoint)) return undefined;
      const { version, epoch } = checkpoint;
      // A lower version is that of another index under the same name.
      if (epoch !== this.#read.epoch || version < this.#read.version) {
        this.#units = new UnitTable();
        this.#read = { version: -1, epoch };
      }
      const newest = await this.#readChanged(slices);
      // What is being written may be written anew under the same version, if the writer dies.
      this.#read = { version: Math.min(newest, version), epoch };
      if (newest > version) return undefined;
      const after = await getCheckpoint(this.#store, this.#chainId);
      if (after?.version === version && after.epoch === epoch) return { checkpoint, units: this.#units };
      checkpoint = after;
    }
    return undefined;
  }

  /** Takes in every unit above the known version; answers the highest seen. */
  async #readChanged(slices: Slices): Promise<number> {
    let newest = this.#read.version;
    for await (const page of listUnits(this.#store, { chainId: this.#chainId, after: newest })) {
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
