import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { CHECKPOINT_FIELDS } from "../../shared/index/evm/checkpoint.ts";
import { headers } from "../../shared/index/evm/headers.ts";
import { collection, type RowOf } from "../../shared/storage/collection.ts";
import { poolListColumns } from "../endpoints/pool-list-columns.ts";
import { observations } from "./observations.ts";
import { poolTvls } from "./pool-tvls.ts";
import { retentions } from "./retention.ts";
import { V2_COLLECTIONS } from "./v2-collections.ts";

/** How far a chain is indexed. Written last in every write, so that all rows up to it exist. */
export const checkpoints = collection({
  name: "checkpoints",
  fields: CHECKPOINT_FIELDS,
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});

/** How far each factory's PoolCreated events are read. */
export const discoveries = collection({
  name: "discoveries",
  fields: { chainId: "int", factory: "text", blockNumber: "int" },
  key: ["chainId", "factory"],
  indexes: [],
  shardKey: ["chainId"],
});

export const tokens = collection({
  name: "tokens",
  fields: { chainId: "int", address: "text", symbol: "text", decimals: "int" },
  key: ["chainId", "address"],
  indexes: [],
  shardKey: ["chainId", "address"],
});

/** The PoolCreated event of a pool. Never changes. */
export const pools = collection({
  name: "pools",
  fields: {
    chainId: "int",
    poolAddress: "text",
    /** Factory. The DEX of a pool is its factory's, never its events'. */
    dexAddress: "text",
    dexName: "text",
    family: "text",
    /** Kind of its factory: which protocol reads its events and its state. */
    protocol: "text",
    token0Address: "text",
    token0Symbol: "text",
    token0Decimals: "int",
    token1Address: "text",
    token1Symbol: "text",
    token1Decimals: "int",
    /** Unix seconds. */
    createdAt: "int",
    createdBlock: "int",
    /** Hundredths of a bip. */
    fee: "int",
    tickSpacing: "int",
    /** Whether a v2 pool trades on the stable curve; false for all others. */
    stable: "bool",
  },
  key: ["chainId", "poolAddress"],
  indexes: [
    { fields: ["chainId", "createdBlock"] },
    { fields: ["chainId", "protocol", "createdAt", "poolAddress"] },
  ],
  shardKey: ["chainId", "poolAddress"],
});

/** Columns that pool lists can be ordered by, beside the address and the time of creation. */
const POOL_LIST_ORDERS = [
  "dexAddress",
  "dexName",
  "token0Address",
  "token0Symbol",
  "token0Decimals",
  "token1Address",
  "token1Symbol",
  "token1Decimals",
  "fee",
  "tickSpacing",
] as const;

/** Small numbers that many pools share. */
const POOL_TRAITS = ["token0Decimals", "token1Decimals", "fee", "tickSpacing"] as const;

/**
 * The pool lists: one rendered row per pool, and an index for each order. `cells` is the row's JSON: reading one text
 * is a third of reading its cells. Lists of a token and orders by several columns are assembled from the same indexes
 * (pool-pages.ts): separate rows for them would take 5 KB per pool.
 */
export const poolListings = collection({
  name: "pool_listings",
  fields: {
    chainId: "int",
    family: "text",
    poolAddress: "text",
    dexAddress: "text",
    dexName: "text",
    token0Address: "text",
    token0Symbol: "text",
    token0Decimals: "int",
    token1Address: "text",
    token1Symbol: "text",
    token1Decimals: "int",
    createdAt: "int",
    fee: "int",
    tickSpacing: "int",
    cells: "text",
  },
  contents: `cells: ${poolListColumns.map(({ name, type }) => `${name} ${type}`).join(", ")}`,
  key: ["chainId", "family", "poolAddress"],
  indexes: [
    ...POOL_LIST_ORDERS.map((field) => ({
      fields: ["chainId", "family", field] as const,
      // Their groups are large, and read in the order of another column.
      carries: POOL_TRAITS.filter((trait) => trait !== field),
    })),
    // The default order: newest first, then by address. The most requested one, it carries the rendered rows.
    {
      fields: ["chainId", "family", "createdAt"],
      descending: ["createdAt"],
      carries: [...POOL_TRAITS, "cells"],
    },
  ],
  shardKey: ["chainId", "family", "poolAddress"],
});

/**
 * One row per event of a pool, each with the pool's state after it: the state at any block is the last row up to it,
 * so that neither a reorg nor a crash needs a journal beside the rows.
 */
export const poolEvents = collection({
  name: "pool_events",
  fields: {
    chainId: "int",
    blockNumber: "int",
    logIndex: "int",
    poolAddress: "hex",
    kind: "text",
    blockHash: "hex",
    /** Unix seconds. */
    time: "int",
    txHash: "hex",
    /** tx.from. */
    sender: "hex",
    /**
     * Amounts that the event moved into the pool (negative: out of it), raw units: amount0 and amount1
     * (protocols/integers.ts).
     */
    amounts: "text",
    /** The pool's state after the event, as its protocol writes it. */
    state: "text",
    /** USD per token at the end of the event's block; null where unknown. */
    price0Usd: "float?",
    price1Usd: "float?",
    /** Swaps only. */
    valueUsd: "float?",
    feeUsd: "float?",
    tickTravel: "int?",
    /** Start of the minute in which this sender last swapped in this pool before; null for the first time. */
    previousMinute: "int?",
    /**
     * Where the swap took its sender out of that minute, hour and day: lastSeenUsers of these before it did, as integers
     * (protocols/integers.ts), -1 where no such bucket is stored; as many as it left. Undoing the swap leads back to them.
     */
    previousUsers: "text?",
  },
  key: ["chainId", "blockNumber", "logIndex"],
  indexes: [{ fields: ["chainId", "poolAddress", "time", "blockNumber", "logIndex"] }],
  shardKey: ["chainId", "poolAddress", "time"],
  // A backfill writes them by pool (docs/decisions/0141).
  layout: "heap",
});

/** A pool's state now, and before its first indexed event. */
export const poolStates = collection({
  name: "pool_states",
  fields: {
    chainId: "int",
    poolAddress: "hex",
    /** The state from events alone, as the protocol writes it: prices are a function of the chain's events. */
    state: "text",
    lastBlock: "int",
    lastTime: "int",
    /** balanceOf(pool) of both tokens at balanceBlock, for TVL. -1: not read yet. */
    balance0: "bigint",
    balance1: "bigint",
    balanceBlock: "int",
    /** The state before the first indexed event. */
    anchor: "text",
  },
  key: ["chainId", "poolAddress"],
  indexes: [],
  shardKey: ["chainId", "poolAddress"],
});

/**
 * States of inactive pools: those without an event since the index began, and so without a row in pool_states; read
 * in the background (ingest/reads/inactive-pools.ts), or before the first block where the pool may have the depth to
 * price a token (ingest/start/). A row in pool_states takes precedence.
 */
export const inactivePools = collection({
  name: "quiet_pools",
  fields: {
    chainId: "int",
    poolAddress: "hex",
    state: "text",
    balance0: "bigint",
    balance1: "bigint",
    balanceBlock: "int",
    /** Whether the pool is in the price graph from the first block on. */
    priced: "bool",
  },
  key: ["chainId", "poolAddress"],
  indexes: [{ fields: ["chainId", "priced"] }],
  shardKey: ["chainId", "poolAddress"],
});

/** The block before the first indexed one, and whether the pools that price tokens there have been read. */
export const priceStarts = collection({
  name: "price_starts",
  fields: {
    chainId: "int",
    blockNumber: "int",
    blockHash: "text",
    /** Unix seconds. */
    time: "int",
    isComplete: "bool",
  },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});

/**
 * What the USD feeds of the anchors said, the last in a block: with `price_links`, the journal of the anchors' prices.
 */
export const feedAnswers = collection({
  name: "feed_answers",
  fields: {
    chainId: "int",
    /** The anchor. */
    token: "text",
    blockNumber: "int",
    usd: "float",
    /** Unix seconds, by the feed. */
    updatedAt: "int",
  },
  key: ["chainId", "token", "blockNumber"],
  indexes: [{ fields: ["chainId", "blockNumber"] }],
  shardKey: ["chainId", "token", "blockNumber"],
});

/** The fee in force of pools whose fee changes without an event (ingest/state/fee-book.ts decides when it is read). */
export const poolFees = collection({
  name: "pool_fees",
  fields: {
    chainId: "int",
    poolAddress: "hex",
    /** Hundredths of a bip at `block`; null where the call failed. */
    fee: "int?",
    block: "int",
  },
  key: ["chainId", "poolAddress"],
  indexes: [{ fields: ["chainId", "block"] }],
  shardKey: ["chainId", "poolAddress"],
});

/** Swaps of one pool in one minute, hour or day. */
export const rollups = collection({
  name: "rollups",
  fields: {
    chainId: "int",
    poolAddress: "hex",
    /** Seconds: 60, 3600 or 86400. */
    span: "int",
    /** Unix seconds, a multiple of span. */
    start: "int",
    swapCount: "int",
    volumeUsd: "float",
    feesUsd: "float",
    /** Swaps with an unknown value, and with an unknown fee: a window that holds one has no such sum. */
    unpricedCount: "int",
    unpricedFeeCount: "int",
    tickTravel: "int",
    /** token1 per token0 in whole tokens after the last swap. */
    closePrice: "float",
    /** Users whose latest swap in this pool lies in this bucket. Summed up to the head: distinct users, exactly. */
    lastSeenUsers: "int",
  },
  key: ["chainId", "poolAddress", "span", "start"],
  indexes: [],
  shardKey: ["chainId", "poolAddress", "span", "start"],
});

/** When each user last swapped in a pool. */
export const poolUsers = collection({
  name: "pool_users",
  fields: { chainId: "int", poolAddress: "hex", user: "hex", lastMinute: "int" },
  key: ["chainId", "poolAddress", "user"],
  // Every swap moves its user's entry of such an index: a fifth of what writing an event took (decision 128).
  indexes: [],
  formerIndexes: [{ fields: ["chainId", "poolAddress", "lastMinute"] }],
  shardKey: ["chainId", "poolAddress", "user"],
});

/**
 * How each token is priced in USD, from a block on: over which pool, from which parent's price, and what supports it.
 * Only a block that changes the token's own link writes a row, so a swap in the pool below all prices writes one; a
 * price at any block multiplies out the last links up to it, in the operations of the walk (price/link.ts).
 */
export const priceLinks = collection({
  name: "price_links",
  fields: {
    chainId: "int",
    token: "hex",
    blockNumber: "int",
    /** Unix seconds of the block. */
    time: "int",
    /** "": an anchor worth `price` USD, or, where that is 0, no price from here on. */
    pool: "hex",
    parent: "hex",
    /** Which of the pool's tokens this one is. */
    side: "int",
    /** The pool's trusted price, token1 per token0. */
    price: "float",
    /** Pools between the token and its anchor. */
    hops: "int",
    /** The deepest pool that agrees, the USD behind it, and behind the others that agree. */
    deepestPool: "hex",
    depthUsd: "float",
    restUsd: "float",
    /** While pools have left the others and are not followed: since when (Unix seconds), and their USD price then. */
    departedAt: "int?",
    departedUsd: "float?",
    /** USD where all agree, if pools that had left the others have been followed since the last mark (price/marks.ts). */
    agreedUsd: "float?",
  },
  key: ["chainId", "token", "blockNumber"],
  indexes: [{ fields: ["chainId", "blockNumber"] }],
  shardKey: ["chainId", "token", "blockNumber"],
});

export const COLLECTIONS = [
  checkpoints,
  finalBlocks,
  headers,
  discoveries,
  tokens,
  pools,
  poolListings,
  poolEvents,
  poolStates,
  poolFees,
  inactivePools,
  priceStarts,
  feedAnswers,
  rollups,
  poolUsers,
  priceLinks,
  observations,
  poolTvls,
  retentions,
  ...V2_COLLECTIONS,
];

export type CheckpointRow = RowOf<typeof checkpoints>;
export type TokenRow = RowOf<typeof tokens>;
export type PoolRow = RowOf<typeof pools>;
export type PoolListingRow = RowOf<typeof poolListings>;
export type PoolEventRow = RowOf<typeof poolEvents>;
export type PoolStateRow = RowOf<typeof poolStates>;
export type InactivePoolRow = RowOf<typeof inactivePools>;
export type PriceStartRow = RowOf<typeof priceStarts>;
export type FeedAnswerRow = RowOf<typeof feedAnswers>;
export type PoolFeeRow = RowOf<typeof poolFees>;
export type RollupRow = RowOf<typeof rollups>;
export type PoolUserRow = RowOf<typeof poolUsers>;
export type PriceLinkRow = RowOf<typeof priceLinks>;
