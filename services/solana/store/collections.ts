import { collection, type RowOf } from "../../shared/storage/collection.ts";
import {
  holderAccounts,
  holderRequests,
  holders,
  tokenFragments,
  tokens,
  traders,
} from "./token-collections.ts";

/*
 * Slots are applied strictly in order, each exactly once: a row is a function of the chain up to it. Rows have no index
 * but the key that queries use, so that a full block costs few writes. Rolling back (a fork at `confirmed`, a killed
 * write) therefore uses the journal: the keys that a batch wrote, and the documents before it.
 */

/** How far the chain is indexed. Written last in every write. One row, of chain 0. */
export const checkpoints = collection({
  name: "checkpoints",
  fields: {
    chainId: "int",
    slot: "int",
    blockhash: "text",
    /** Unix seconds of the slot's block, which is the last indexed one. */
    time: "int",
    fromSlot: "int",
    fromTime: "int",
    /** Retention keeps rows of lists from this slot on; candles begin at `fromSlot`. */
    rowsFromSlot: "int",
    rowsFromTime: "int",
    /** The cluster's heads as last seen. */
    headSlot: "int",
    finalizedSlot: "int",
    /** Hash of the first indexed block, to reject another cluster. */
    fromBlockhash: "text",
    /** Of the last hour, as of the slot (metrics/swap-share.ts). */
    trades: "float",
    otherSwaps: "float?",
  },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});

/**
 * The last block that is known to be final, and the cluster's genesis: endpoints that contradict it serve another chain.
 * Never goes back. One row, of chain 0.
 */
export const finalBlocks = collection({
  name: "final_blocks",
  fields: {
    chainId: "int",
    slot: "int",
    blockhash: "text",
    /** Null if no endpoint offers it. */
    genesisHash: "text?",
  },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});

/** The last blocks up to the checkpoint: their parent links detect forks. */
export const blocks = collection({
  name: "blocks",
  fields: {
    slot: "int",
    blockhash: "text",
    parentSlot: "int",
    time: "int",
    /** The checkpoint's, as they were with this block. */
    trades: "float",
    otherSwaps: "float?",
  },
  key: ["slot"],
  indexes: [],
  shardKey: ["slot"],
});

/**
 * The first indexed slot of each second that has one: block times never decrease, so a time window is a range of slots.
 */
export const blockTimes = collection({
  name: "block_times",
  fields: { time: "int", firstSlot: "int" },
  key: ["time"],
  indexes: [],
  shardKey: ["time"],
});

/**
 * How to roll back a batch of slots, for those that are not final and for the one being written: keys that it added, and
 * documents as they were before it (null = absent). Written before the batch, removed once it is final.
 */
export const journal = collection({
  name: "journal",
  fields: { fromSlot: "int", toSlot: "int", undo: "text" },
  contents: "exact JSON 1",
  key: ["fromSlot"],
  indexes: [],
  shardKey: ["fromSlot"],
});

/** Transactions by token: a trade of a pool of A and B is a row for A and one for B. */
export const tokenRows = collection({
  name: "token_rows",
  fields: {
    mint: "text",
    slot: "int",
    /** Place in the block, votes counted. */
    transactionIndex: "int",
    instructionIndex: "int",
    signature: "text",
    leg: "int",
    /** Unix seconds. */
    time: "int",
    /** Index into TX_TYPES. */
    txType: "int",
    /** Index into EXCHANGES. */
    dex: "int",
    pool: "text",
    /** Whole tokens. */
    amount: "float",
    valueUsd: "float?",
    priceUsd: "float?",
  },
  key: ["mint", "slot", "transactionIndex", "instructionIndex", "leg"],
  indexes: [],
  shardKey: ["mint", "slot"],
});

/** Transactions of a pool. */
export const poolRows = collection({
  name: "pool_rows",
  fields: {
    pool: "text",
    slot: "int",
    /** Place in the block, votes counted. */
    transactionIndex: "int",
    instructionIndex: "int",
    signature: "text",
    leg: "int",
    time: "int",
    /** Index into POOL_TX_TYPES. */
    kind: "int",
    dex: "int",
    /** Of a liquidity change: the pool's first token. */
    tokenIn: "text",
    amountIn: "float",
    priceInUsd: "float?",
    tokenOut: "text",
    amountOut: "float",
    priceOutUsd: "float?",
    valueUsd: "float?",
    account: "text",
  },
  key: ["pool", "slot", "transactionIndex", "instructionIndex", "leg"],
  indexes: [],
  shardKey: ["pool", "slot"],
});

/** Mints and burns. */
export const supplyRows = collection({
  name: "supply_rows",
  fields: {
    mint: "text",
    slot: "int",
    /** Place in the block, votes counted. */
    transactionIndex: "int",
    instructionIndex: "int",
    signature: "text",
    /** Distinguishes several within one batched instruction. */
    leg: "int",
    time: "int",
    isMint: "bool",
    accountCount: "int",
    authority: "text?",
    amount: "bigint",
    decimals: "int",
  },
  key: ["mint", "slot", "transactionIndex", "instructionIndex", "leg"],
  indexes: [],
  shardKey: ["mint", "slot"],
});

/**
 * A token's rows in a minute, an hour or a day (UTC), each kept up to date with every block: candles of any interval are
 * joined from the coarsest that fit. Volumes in USD are multiples of 2^-20, whose float sums are exact.
 */
export const candles = collection({
  name: "candles",
  fields: {
    mint: "text",
    /** 60, 3600 or 86400. */
    seconds: "int",
    /** Unix seconds of its beginning. */
    start: "int",
    /** Of the priced trades; null without one. */
    open: "float?",
    high: "float?",
    low: "float?",
    close: "float?",
    volumeUsd: "float",
    volumeToken: "float",
    trades: "int",
    /** All rows of the token's list. */
    transactions: "int",
    /** The candle if the price is taken back that its trades were valued by (candle-row.ts); null where none may be. */
    ifRefused: "json?",
  },
  key: ["mint", "seconds", "start"],
  indexes: [],
  shardKey: ["mint", "seconds", "start"],
});

/**
 * Consecutive rows of a token's or a pool's list: whole slots with SEGMENT_ROWS rows or more, counted by filter
 * properties, so that a deep page skips them unread. Shorter lists have none. Only of final slots; deleted with their
 * rows.
 */
export const segments = collection({
  name: "stretches",
  fields: {
    /** `token <mint>` or `pool <pool>`. */
    list: "text",
    /** 0, 1 … from the oldest. Retention deletes the first ones; the others keep their numbers. */
    number: "int",
    /** Its first and last row's; the next one begins after `lastSlot`. */
    firstSlot: "int",
    firstTime: "int",
    lastSlot: "int",
    lastTime: "int",
    rows: "int",
    /** The tokens of a pool's rows by their number in `counts`; empty for a token's list. */
    mints: "json",
    /**
     * SegmentCounts (metrics/segment-counts.ts). A token's list: by exchange (`dex`). A pool's list: by token (its place
     * in `mints`) its rows' counterparts in that token's list, so that a trade is counted once for each side.
     */
    counts: "json",
  },
  key: ["list", "number"],
  indexes: [],
  shardKey: ["list", "number"],
});

/** What is known of a token's USD price (price/price-book.ts): its pools, and the one that has the price. */
export const prices = collection({
  name: "prices",
  fields: {
    mint: "text",
    /** The pool with the price as of the token's last trade; the widest one where no pool is wide enough. */
    pool: "text",
    /** The pool's other token, and how many of it one token is worth in the pool. */
    parent: "text",
    ratio: "float",
    /** USD behind the price: of the deepest pool that agrees, on the thinnest side of its path. */
    depthUsd: "float",
    /** Unix seconds of the pool's first trade seen, and of its last one. */
    since: "int",
    time: "int",
    /** USD as of the token's last trade; null while no pool is wide enough. */
    usd: "float?",
    /** Since when one pool has left the others and is not followed, and its price then. */
    departedSince: "int?",
    departedUsd: "float?",
    slot: "int",
    /** Where all pools that trade agreed (price/token-votes.ts). */
    agreedUsd: "float?",
    /** While pools are followed against the others (price/contest.ts): since when, they, their price and the others' then. */
    contest: "json?",
    /** All pools that vote, with their last minutes (store/price-row.ts). */
    quotes: "json",
  },
  key: ["mint"],
  indexes: [],
  shardKey: ["mint"],
});

/**
 * How contests about a token's price ended. A candle that waits for one has both readings, so that this row repairs all
 * candles of all tokens at once that rest on the price.
 */
export const priceVerdicts = collection({
  name: "price_verdicts",
  fields: {
    mint: "text",
    /** Unix seconds when its pools left the others. */
    since: "int",
    /** Taken back: candles are those in their `ifRefused`. */
    isRefused: "bool",
    /** Addresses of those that had the price. */
    pools: "json",
    slot: "int",
  },
  key: ["mint", "since"],
  indexes: [],
  shardKey: ["mint", "since"],
});

export const COLLECTIONS = [
  checkpoints,
  finalBlocks,
  blocks,
  blockTimes,
  journal,
  tokenRows,
  poolRows,
  supplyRows,
  candles,
  segments,
  prices,
  priceVerdicts,
  holders,
  holderAccounts,
  holderRequests,
  traders,
  tokens,
  tokenFragments,
] as const;

export const CANDLE_SECONDS = [60, 3_600, 86_400] as const;

export const TX_TYPES = ["buy", "sell", "add_liquidity", "remove_liquidity"] as const;

/** Types of a pool's row (`kind`). */
export const POOL_TX_TYPES = ["trade", "add_liquidity", "remove_liquidity"] as const;

/** Exchanges by their number in rows. */
export const EXCHANGES = ["raydium", "orca", "meteora", "pumpfun"] as const;

/** Rows that close a segment: about the most that a page reads besides its own. */
export const SEGMENT_ROWS = 4096;

export type CheckpointRow = RowOf<typeof checkpoints>;
export type FinalBlockRow = RowOf<typeof finalBlocks>;
export type BlockRow = RowOf<typeof blocks>;
export type BlockTimeRow = RowOf<typeof blockTimes>;
export type JournalRow = RowOf<typeof journal>;
export type TokenTransactionRow = RowOf<typeof tokenRows>;
export type PoolTransactionRow = RowOf<typeof poolRows>;
export type SupplyRow = RowOf<typeof supplyRows>;
export type CandleRow = RowOf<typeof candles>;
export type SegmentRow = RowOf<typeof segments>;
export type PriceRow = RowOf<typeof prices>;
export type PriceVerdictRow = RowOf<typeof priceVerdicts>;
