import type { Collection, FieldSpec } from "../../shared/storage/collection.ts";
import { readIntegers, writeIntegers } from "../protocols/integers.ts";
import { KINDS } from "../protocols/protocol.ts";
import type { CheckpointRow } from "../store/collections.ts";
import type { Picker } from "./sample.ts";

interface Spoiling {
  readonly collection: Collection;
  readonly column: string;
  readonly row: Readonly<Record<string, unknown>>;
  readonly checkpoint: CheckpointRow;
  readonly pick: Picker;
}

/**
 * Columns of which the next value may be as true as the stored one: a head seen a block later, a balance or a fee that
 * is the same at the next block. Their wrong values are out of bounds.
 */
const OUT_OF_BOUNDS: Readonly<Record<string, (checkpoint: CheckpointRow) => number>> = {
  "checkpoints.chainHead": ({ blockNumber }) => blockNumber - 1,
  "pool_states.balanceBlock": ({ blockNumber }) => blockNumber + 1,
  "pool_fees.block": ({ blockNumber }) => blockNumber + 1,
  "factory_fees.block": ({ blockNumber }) => blockNumber + 1,
  "known_wallets.readAtBlock": ({ blockNumber }) => blockNumber + 1,
  "quiet_pools.balanceBlock": ({ fromBlock }) => fromBlock - 2,
};

/** Texts that are lists of integers. */
const INTEGER_LISTS = new Set(["state", "anchor", "position", "amounts", "previousUsers"]);

/** Another value of a column, close to the stored one: the least that an audit must see. */
export function wrongValue({ checkpoint, collection, column, pick, row }: Spoiling): unknown {
  const value = row[column];
  const bound = OUT_OF_BOUNDS[`${collection.name}.${column}`];
  if (bound !== undefined) return bound(checkpoint);
  // Not a kind that does not exist: nothing could read such a row.
  if (column === "protocol") return KINDS.find((kind) => kind !== value);
  if (typeof value === "string" && INTEGER_LISTS.has(column)) {
    const integers = readIntegers(value);
    const changed = pick(integers.length);
    return writeIntegers(integers.map((integer, i) => (i === changed ? integer + 1n : integer)));
  }
  if (value === null) return ifNull(collection.fields[column] as FieldSpec);
  switch (typeof value) {
    case "string":
      return value.slice(0, -1) + (value.endsWith("0") ? "1" : "0");
    case "bigint":
      return value + 1n;
    case "boolean":
      return !value;
    case "number":
      return collection.fields[column]?.startsWith("float") ? value * 1.001 + 1e-6 : value + 1;
    default:
      return Array.isArray(value) ? value.slice(1) : {};
  }
}

function ifNull(spec: FieldSpec): unknown {
  if (spec.startsWith("text")) return "0";
  if (spec.startsWith("hex")) return "0x00";
  return spec.startsWith("bool") ? true : 1;
}
