import type { Collection, RowOf } from "../../shared/storage/collection.ts";
import type { Filter, Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { CheckpointRow, PoolEventRow, PoolRow, PoolStateRow } from "../store/collections.ts";
import type { GaugeRow } from "../store/v2-collections.ts";
import type { Finding } from "./finding.ts";
import type { Kept } from "./kept.ts";
import type { AuditRpc } from "./rpc.ts";
import { type Picker, sample } from "./sample.ts";

/** How much of what cannot be compared as a whole is compared; Infinity = all. */
export interface Sampling {
  /** Price links, LP positions and inactive pools of the chain. */
  readonly rows: number;
  /** Stretches of blocks of a pool, of which all logs are compared. */
  readonly stretches: number;
  /** Blocks of a pool of which the senders are compared. */
  readonly transactions: number;
  /** Blocks of a pool's hour at whose end its prices are compared. */
  readonly pricedBlocks: number;
}

export const SOME: Sampling = { rows: 100, stretches: 2, transactions: 10, pricedBlocks: 1 };
const { POSITIVE_INFINITY: EVERY } = Number;
export const EVERYTHING: Sampling = {
  rows: EVERY,
  stretches: EVERY,
  transactions: EVERY,
  pricedBlocks: EVERY,
};

/** What checks of a chain's rows work on. */
export interface ChainScope {
  readonly store: Store;
  readonly chainId: number;
  readonly checkpoint: CheckpointRow;
  /** Absent: the store alone is checked. */
  readonly rpc: AuditRpc | undefined;
  /** Absent where the chain is not in the registry. */
  readonly deployments: ChainDeployments | undefined;
  readonly pick: Picker;
  readonly sampling: Sampling;
  /** What of the rows is still stored. */
  readonly kept: Kept;
}

/** What checks of one pool work on. */
export interface PoolScope extends ChainScope {
  readonly pool: PoolRow;
  /** Undefined for a pool without an event. */
  readonly state: PoolStateRow | undefined;
  readonly gauges: readonly GaugeRow[];
  /** The pool's last event before those that are all stored; undefined where these are all there were. */
  readonly before: PoolEventRow | undefined;
}

/** Events of a pool, whole hours of them at a time, oldest first; between two windows nothing is left out. */
export interface PoolPass<Window> {
  window(window: Window): Finding[] | Promise<Finding[]>;
  /** After the last window. */
  end?(): Promise<Finding[]>;
}

/**
 * Random rows of a collection, all where there are no more: each is the first from a random block or address on, as
 * skipping to a random row would read all before it.
 * @param by a column that leads an index after chainId: blockNumber, or one of addresses
 */
export async function sampleRows<C extends Collection>(
  { checkpoint, pick, sampling, store }: ChainScope,
  collection: C,
  { by, filter }: { filter: Filter<RowOf<C>>; by: keyof RowOf<C> & string },
): Promise<RowOf<C>[]> {
  const { rows: size } = sampling;
  const order = [{ field: by, direction: "asc" }] as const;
  if (size === EVERY) return store.find(collection, { filter });
  const first = await store.find(collection, { filter, order, limit: size + 1 });
  if (first.length <= size) return first;
  const { blockNumber, fromBlock } = checkpoint;
  const rows: RowOf<C>[] = [];
  for (let i = 0; i < size; i++) {
    const from =
      by === "blockNumber"
        ? fromBlock + pick(blockNumber - fromBlock + 1)
        : `0x${pick(2 ** 32)
            .toString(16)
            .padStart(8, "0")}`;
    const found = await store.find(collection, {
      filter: { ...filter, [by]: { gte: from } } as Filter<RowOf<C>>,
      order,
      limit: 1,
    });
    rows.push(found[0] ?? (first[0] as RowOf<C>));
  }
  return rows;
}

/** Random items, all where there are no more, in their order. */
export function sampleInOrder<T>(items: readonly T[], { size, pick }: { size: number; pick: Picker }): T[] {
  if (items.length <= size) return [...items];
  const chosen = new Set(
    sample(
      items.map((_, i) => i),
      { size, pick },
    ),
  );
  return items.filter((_, i) => chosen.has(i));
}
