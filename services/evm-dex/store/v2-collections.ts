import { collection, type RowOf } from "../../shared/storage/collection.ts";

// Collections that only Aerodrome v2 needs. Integers that are always read together are one text, as
// protocols/integers.ts writes them.

/** The gauges of known pools, as their voter created them: they map a gauge's logs to its pool. */
export const gauges = collection({
  name: "gauges",
  fields: { chainId: "int", gauge: "text", poolAddress: "text", voter: "text", createdBlock: "int" },
  key: ["chainId", "gauge"],
  indexes: [{ fields: ["chainId", "createdBlock"] }],
  shardKey: ["chainId"],
});

/**
 * Swaps and fees of one v2 pool in one hour or day: the mergeable buckets of v2-bucket.ts. Beside `rollups`, because
 * the v2 endpoints read one row of every pool at once, which must stay narrow.
 */
export const v2Rollups = collection({
  name: "v2_rollups",
  fields: {
    chainId: "int",
    poolAddress: "hex",
    /** Seconds: 3600 or 86400. */
    span: "int",
    /** Unix seconds, a multiple of span. */
    start: "int",
    swapCount: "int",
    /** Swaps and fees with an unpriced token at their block: a window that holds one has no USD sum. */
    unpricedCount: "int",
    /** USD of the swaps that took token0 in and gave token1, and of those the other way; multiples of 2^-20. */
    zeroForOneUsd: "float",
    oneForZeroUsd: "float",
    feesUsd: "float",
    /** volume0, volume1, fees0, fees1 (raw units), growth0, growth1 (by how much the pool's index0 and index1 rose): v2AmountsText. */
    amounts: "text",
  },
  key: ["chainId", "poolAddress", "span", "start"],
  indexes: [],
  shardKey: ["chainId", "poolAddress", "span", "start"],
});

/** The ten largest swaps of a v2 pool in one hour, in the order of metrics/large-swaps.ts; hours without swaps have no row. */
export const v2LargeSwaps = collection({
  name: "v2_large_swaps",
  fields: {
    chainId: "int",
    poolAddress: "hex",
    /** Unix seconds, a multiple of 3600. */
    start: "int",
    /** LargeSwap objects. */
    swaps: "json",
  },
  key: ["chainId", "poolAddress", "start"],
  indexes: [],
  shardKey: ["chainId", "poolAddress", "start"],
});

/**
 * One row per log and wallet whose LP tokens of a v2 pool it moved, staked, unstaked or settled (Transfer has two
 * wallets; gauge Deposit and Withdraw, and the pool's Claim, one), with the wallet's position after it: the position
 * at any block is the last row up to it. The zero address, 0x…01 (the minimum that every pool keeps), the pool itself
 * and its gauge have no positions: a gauge's holdings belong to its stakers.
 */
export const lpEvents = collection({
  name: "lp_events",
  fields: {
    chainId: "int",
    blockNumber: "int",
    logIndex: "int",
    wallet: "hex",
    poolAddress: "hex",
    blockHash: "hex",
    /** Unix seconds. */
    time: "int",
    /** The position after the event: balance, staked, index0, index1, earned0, earned1 (positionText, metrics/lp-position.ts). */
    position: "text",
  },
  key: ["chainId", "blockNumber", "logIndex", "wallet"],
  indexes: [{ fields: ["chainId", "wallet", "poolAddress", "time", "blockNumber", "logIndex"] }],
  shardKey: ["chainId", "wallet", "poolAddress", "time"],
});

/** Every position, emptied ones too, as of its last row in lp_events. */
export const lpPositions = collection({
  name: "lp_positions",
  fields: {
    chainId: "int",
    wallet: "hex",
    poolAddress: "hex",
    /** As in lp_events. */
    position: "text",
    /**
     * The position on the chain before its first indexed event: zeros unless the pool is older than the index. Its
     * earned0 and earned1 are 0: earnings count from the first indexed block.
     */
    anchor: "text",
    /** Unix seconds of its first and last indexed events. */
    firstTime: "int",
    lastTime: "int",
    /** Of the last event. */
    lastBlock: "int",
  },
  key: ["chainId", "wallet", "poolAddress"],
  indexes: [],
  shardKey: ["chainId", "wallet", "poolAddress"],
});

/**
 * Default fees of a factory that changes them without an event, for its pools without a custom fee
 * (ingest/state/factory-fee-book.ts decides when they are read).
 */
export const factoryFees = collection({
  name: "factory_fees",
  fields: {
    chainId: "int",
    factory: "text",
    /** Ten-thousandths at `block`; null where the call failed. */
    volatileFee: "int?",
    stableFee: "int?",
    block: "int",
  },
  key: ["chainId", "factory"],
  indexes: [{ fields: ["chainId", "block"] }],
  shardKey: ["chainId", "factory"],
});

/** Wallets that a service was asked for and whose past the ingest has yet to read: services add, the ingest removes. */
export const walletRequests = collection({
  name: "wallet_requests",
  fields: {
    chainId: "int",
    wallet: "text",
    /** Unix milliseconds. */
    requestedAtMs: "int",
  },
  key: ["chainId", "wallet"],
  indexes: [{ fields: ["chainId", "requestedAtMs"] }],
  shardKey: ["chainId"],
});

/** Wallets whose positions older than the index have been read. Written after the wallet's rows in lp_anchors. */
export const knownWallets = collection({
  name: "known_wallets",
  fields: {
    chainId: "int",
    wallet: "text",
    /** Pools and gauges older than the index that were known then. With more of them the wallet is read again. */
    contracts: "int",
    /** The block whose balances were read. */
    readAtBlock: "int",
  },
  key: ["chainId", "wallet"],
  indexes: [],
  shardKey: ["chainId", "wallet"],
});

/**
 * What a known wallet held and had staked just before the first indexed block, in pools older than that; none where it
 * had nothing. A fact about final history: no rollback above that block changes it. A row in lp_positions takes
 * precedence.
 */
export const lpAnchors = collection({
  name: "lp_anchors",
  fields: { chainId: "int", wallet: "hex", poolAddress: "hex", balance: "bigint", staked: "bigint" },
  key: ["chainId", "wallet", "poolAddress"],
  indexes: [],
  shardKey: ["chainId", "wallet", "poolAddress"],
});

export const V2_COLLECTIONS = [
  factoryFees,
  gauges,
  v2Rollups,
  v2LargeSwaps,
  lpEvents,
  lpPositions,
  walletRequests,
  knownWallets,
  lpAnchors,
];

export type FactoryFeeRow = RowOf<typeof factoryFees>;
export type GaugeRow = RowOf<typeof gauges>;
export type V2RollupRow = RowOf<typeof v2Rollups>;
export type V2LargeSwapsRow = RowOf<typeof v2LargeSwaps>;
export type LpEventRow = RowOf<typeof lpEvents>;
export type LpPositionRow = RowOf<typeof lpPositions>;
export type WalletRequestRow = RowOf<typeof walletRequests>;
export type LpAnchorRow = RowOf<typeof lpAnchors>;
