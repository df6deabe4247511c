import { collection, type RowOf } from "../../shared/storage/collection.ts";

/*
 * What is known of tokens: documents that each batch replaces.
 */

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

export type HolderRow = RowOf<typeof holders>;
export type HolderAccountRow = RowOf<typeof holderAccounts>;
export type TraderRow = RowOf<typeof traders>;
export type TokenRow = RowOf<typeof tokens>;
