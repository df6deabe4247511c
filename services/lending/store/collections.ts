import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { CHECKPOINT_FIELDS } from "../../shared/index/evm/checkpoint.ts";
import { headers } from "../../shared/index/evm/headers.ts";
import { collection, type RowOf } from "../../shared/storage/collection.ts";

/** How far a chain is indexed. Written last in every write, so that all rows it covers are stored. */
export const checkpoints = collection({
  name: "checkpoints",
  fields: {
    ...CHECKPOINT_FIELDS,
    /** Increases with every write; an entity has the version of its last write, so that readers load only changes. */
    version: "int",
    /** Increases when entities are removed (a reorg): readers then load everything again. */
    epoch: "int",
  },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});

/** The progress of each discovery scan. */
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

/** Every entity with its latest state. The stored names say "units": renaming them would mean to index again. */
export const entities = collection({
  name: "units",
  fields: {
    chainId: "int",
    kind: "text",
    id: "text",
    /** checkpoints.version of its last write. */
    version: "int",
    /** The block that first named it: a rollback below it removes the entity. */
    foundBlock: "int",
    /** The block its state was read at, and that block's hash and Unix seconds; null before the first successful reading. */
    block: "int?",
    blockHash: "text?",
    time: "int?",
    /** The state of its protocol, as state-text writes it. */
    state: "text?",
    /** Consecutive failed readings since. */
    failures: "int",
  },
  contents: "state-text 1",
  key: ["chainId", "kind", "id"],
  indexes: [{ fields: ["chainId", "version"] }, { fields: ["chainId", "block"] }],
  shardKey: ["chainId"],
});

/**
 * The last state of each entity in each hour in which it changed: the state at any time is the last row up to it,
 * accrued from there. It also locates forks deeper than the kept headers, by the hashes of blocks that were read.
 */
export const entityHistory = collection({
  name: "unit_history",
  fields: {
    chainId: "int",
    kind: "text",
    id: "text",
    /** Unix seconds of the hour's start. */
    hour: "int",
    block: "int",
    blockHash: "text",
    time: "int",
    state: "text",
  },
  contents: "state-text 1",
  key: ["chainId", "kind", "id", "hour"],
  indexes: [{ fields: ["chainId", "block"] }],
  shardKey: ["chainId", "kind", "id", "hour"],
});

export const COLLECTIONS = [
  checkpoints,
  finalBlocks,
  headers,
  discoveries,
  tokens,
  entities,
  entityHistory,
] as const;

export type CheckpointRow = RowOf<typeof checkpoints>;
export type DiscoveryRow = RowOf<typeof discoveries>;
export type TokenRow = RowOf<typeof tokens>;
export type EntityRow = RowOf<typeof entities>;
export type EntityHistoryRow = RowOf<typeof entityHistory>;
