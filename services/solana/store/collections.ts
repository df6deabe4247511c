import { collection, type RowOf } from "../../shared/storage/port.ts";

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
    /** All pools that vote, with their last minutes (store/price-row.ts). */
    quotes: "json",
  },
  key: ["mint"],
  indexes: [],
  shardKey: ["mint"],
});

/**
 * A wallet's balance of a token, over those of its token accounts that are known. Tokens are named by their number, and
 * token accounts by the beginning of their address: most of a row would be addresses otherwise.
 */
export const holders = collection({
  name: "holders",
  fields: {
    /** The token's number. */
    token: "int",
    owner: "text",
    balance: "bigint",
    /** Its only token account (toAccountId); null of a wallet that has had several, which are rows of holder_accounts. */
    account: "text?",
  },
  key: ["token", "owner"],
  indexes: [{ fields: ["token", "balance", "owner"], descending: ["balance"] }],
  shardKey: ["token", "owner"],
});

/** Token accounts of wallets that have several of one token. Those with amounts above zero. */
export const holderAccounts = collection({
  name: "holder_accounts",
  fields: { token: "int", owner: "text", account: "text", amount: "bigint" },
  key: ["token", "owner", "account"],
  indexes: [],
  shardKey: ["token", "owner"],
});

/** Tokens whose whole set of holders clients have asked for, until the ingest has read it. Written by the service. */
export const holderRequests = collection({
  name: "holder_requests",
  fields: {
    mint: "text",
    /** Unix seconds. */
    time: "int",
  },
  key: ["mint"],
  indexes: [],
  shardKey: ["mint"],
});

/** When each account last signed a transaction of a token: those of any last day are counted by the index. */
export const traders = collection({
  name: "traders",
  fields: { mint: "text", account: "text", lastTime: "int" },
  key: ["mint", "account"],
  indexes: [{ fields: ["mint", "lastTime"] }],
  shardKey: ["mint", "account"],
});

/** Tokens, with the contents of their mint and metadata accounts: read once, and again when they may have changed. */
export const tokens = collection({
  name: "tokens",
  fields: {
    mint: "text",
    /** Short name in other collections, by the slot in which it was first seen (toTokenNumber): older ones are lower. */
    number: "int",
    symbol: "text",
    name: "text",
    decimals: "int",
    /** Raw; null while the mint account is unread. */
    supply: "bigint?",
    mintAuthority: "text?",
    freezeAuthority: "text?",
    isToken2022: "bool",
    /** MintExtensions (metrics/mint-extensions.ts); null while the mint account is unread. */
    extensions: "json?",
    mutableMetadata: "bool?",
    /** Wallets with a balance above zero, of those known, and the sum of their balances. */
    holderCount: "int",
    held: "bigint",
    /** How many of them have a balance in which bucket (metrics/balance-buckets.ts). */
    balanceCounts: "json",
    /** Slot at which the accounts were read; null = not yet. */
    readSlot: "int?",
    /** Slot since which its largest token accounts are known, also those that never moved any. */
    holdersSlot: "int?",
    /** Slot since which all of its token accounts are known. */
    wholeSlot: "int?",
    /** Slot at which it was first seen. */
    foundSlot: "int",
  },
  key: ["mint"],
  indexes: [{ fields: ["symbol", "number"] }, { fields: ["readSlot", "mint"] }, { fields: ["number"] }],
  shardKey: ["mint"],
});

/** Fragments of one to three lower-case characters of names and symbols, by which tokens are searched. */
export const tokenFragments = collection({
  name: "token_fragments",
  fields: {
    fragment: "text",
    symbol: "text",
    /** The token's number. */
    token: "int",
  },
  key: ["fragment", "symbol", "token"],
  indexes: [],
  shardKey: ["fragment", "symbol", "token"],
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
export type HolderRow = RowOf<typeof holders>;
export type HolderAccountRow = RowOf<typeof holderAccounts>;
export type TraderRow = RowOf<typeof traders>;
export type TokenRow = RowOf<typeof tokens>;
