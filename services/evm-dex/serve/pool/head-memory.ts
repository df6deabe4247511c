import type { Snapshot, SnapshotHead } from "../../views/snapshot.ts";

/** Some 4 KB each. */
const MAX_ENTRIES = 5_000;

interface HeadSnapshots {
  readonly head: SnapshotHead;
  readonly snapshots: Map<string, Snapshot>;
}

/** Snapshots of the head of each chain in this process. The next head replaces all of them. */
export class HeadMemory {
  readonly #chains = new Map<number, HeadSnapshots>();
  readonly #maxEntries: number;

  constructor(maxEntries = MAX_ENTRIES) {
    this.#maxEntries = maxEntries;
  }

  get(at: { chainId: number; head: SnapshotHead; key: string }): Snapshot | undefined {
    const entry = this.#chains.get(at.chainId);
    return entry !== undefined && isSameHead(entry.head, at.head) ? entry.snapshots.get(at.key) : undefined;
  }

  put(at: { chainId: number; head: SnapshotHead; key: string }, snapshot: Snapshot): void {
    let entry = this.#chains.get(at.chainId);
    if (entry === undefined || !isSameHead(entry.head, at.head)) {
      entry = { head: at.head, snapshots: new Map() };
      this.#chains.set(at.chainId, entry);
    }
    entry.snapshots.set(at.key, snapshot);
    // Drops the oldest one: the next block drops all of them anyway.
    if (entry.snapshots.size > this.#maxEntries) {
      entry.snapshots.delete(entry.snapshots.keys().next().value as string);
    }
  }
}

export function isSameHead(a: SnapshotHead, b: SnapshotHead): boolean {
  return a.blockHash === b.blockHash && a.fromBlock === b.fromBlock && a.fromTime === b.fromTime;
}
