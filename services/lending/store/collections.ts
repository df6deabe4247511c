import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { CHECKPOINT_FIELDS } from "../../shared/index/evm/checkpoint.ts";
import { headers } from "../../shared/index/evm/headers.ts";
import { collection, type RowOf } from "../../shared/storage/port.ts";

/** How far a chain is indexed. Written last in every write, so that whatever it names is there. */
export const checkpoints = collection({
  name: "checkpoints",
  fields: {
    ...CHECKPOINT_FIELDS,
    /** Grows with every write; a unit carries that of its last write, so that readers need only what changed. */
    version: "int",
    /** Grows when units are taken away (a reorg): what was read before it is read anew as a whole. */
    epoch: "int",
  },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});

/** How far each discovery scan has read. */
export const discoveries = collection({
  name: "discoveries",
  fields: { chainId: "int", name: "text", blockNumber: "int" },
  key: ["chainId", "name"],
  indexes: [],
  shardKey: ["chainId"],
});

export const tokens = collection({
  name: "tokens",
  fields: { chainId: "int", address: "text", symbol: "text", name: "text", decimals: "int" },
  key: ["chainId", "address"],
  indexes: [],
  shardKey: ["chainId", "address"],
});

/** Every unit with its latest state. */
export const units = collection({
  name: "units",
  fields: {
    chainId: "int",
    kind: "text",
    id: "text",
    /** checkpoints.version of its last write. */
    version: "int",
    /** The block in which it was heard of first: taken back with that block. */
    foundBlock: "int",
    /** The block its state was read at, and that block's hash and Unix seconds; null while it never could be read. */
    block: "int?",
    blockHash: "text?",
    time: "int?",
    /** Its protocol's own, as state-text writes it. */
    state: "text?",
    /** How often in a row reading it failed since. */
    failures: "int",
  },
  contents: "state-text 1",
  key: ["chainId", "kind", "id"],
  indexes: [{ fields: ["chainId", "version"] }, { fields: ["chainId", "block"] }],
  shardKey: ["chainId"],
});

/**
 * The last state of each unit in each hour in which its state changed: what held at any time is the last row up to it,
 * accrued from there.
 */
export const unitHistory = collection({
  name: "unit_history",
  fields: {
    chainId: "int",
    kind: "text",
    id: "text",
    /** Unix seconds of the hour's beginning. */
    hour: "int",
    block: "int",
    blockHash: "text",
    time: "int",
    state: "text",
  },
  contents: "state-text 1",
  key: ["chainId", "kind", "id", "hour"],
  indexes: [{ fields: ["chainId", "block"] }],
  shardKey: ["chainId"],
});

export const COLLECTIONS = [
  checkpoints,
  finalBlocks,
  headers,
  discoveries,
  tokens,
  units,
  unitHistory,
] as const;

export type CheckpointRow = RowOf<typeof checkpoints>;
export type DiscoveryRow = RowOf<typeof discoveries>;
export type TokenRow = RowOf<typeof tokens>;
export type UnitRow = RowOf<typeof units>;
export type UnitHistoryRow = RowOf<typeof unitHistory>;
