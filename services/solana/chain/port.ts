/**
 * Where Solana blocks come from: live RPC endpoints, or recorded blocks behind a small RPC server of the devnet.
 * The shapes are those of getBlock with encoding "json", transactionDetails "full", maxSupportedTransactionVersion 0,
 * without the fields that no stage reads. Addresses, signatures, hashes and instruction data are base58 texts.
 */
export interface SolanaInstruction {
  readonly programIdIndex: number;
  /** Indexes into the transaction's account keys: static ones, then loaded writable, then loaded readonly. */
  readonly accounts: readonly number[];
  /** Base58 from JSON-RPC, bytes from gRPC: most are never looked at (instruction-data.ts). */
  readonly data: string | Uint8Array;
  /** 1 = top level; older nodes do not send it. */
  readonly stackHeight?: number | null;
}

export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  /** Wallet; absent in blocks before 2021. */
  readonly owner?: string;
  /** The token program; absent in old blocks. */
  readonly programId?: string;
  readonly uiTokenAmount: { readonly amount: string; readonly decimals: number };
}

export interface TransactionMeta {
  /** Null = it succeeded. */
  readonly err: unknown;
  /** Lamports. */
  readonly fee: number;
  readonly preBalances: readonly number[];
  readonly postBalances: readonly number[];
  readonly preTokenBalances?: readonly TokenBalance[] | null;
  readonly postTokenBalances?: readonly TokenBalance[] | null;
  readonly innerInstructions?:
    | readonly { readonly index: number; readonly instructions: readonly SolanaInstruction[] }[]
    | null;
  readonly logMessages?: readonly string[] | null;
  /** Addresses from lookup tables, for version 0. */
  readonly loadedAddresses?: {
    readonly writable: readonly string[];
    readonly readonly: readonly string[];
  } | null;
}

export interface SolanaTransaction {
  readonly transaction: {
    readonly signatures: readonly string[];
    readonly message: {
      readonly accountKeys: readonly string[];
      readonly instructions: readonly SolanaInstruction[];
    };
  };
  readonly meta: TransactionMeta | null;
  readonly version?: "legacy" | number;
  /** Place in the block, votes counted. */
  readonly transactionIndex?: number;
}

/** With transactions as they came, or what was made of each. */
export interface SolanaBlock<T = SolanaTransaction> {
  readonly slot: number;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  readonly parentSlot: number;
  /** Unix seconds; null where the cluster did not vote on one. */
  readonly blockTime: number | null;
  /** In the block's order, without votes. */
  readonly transactions: readonly T[];
}

/** What links a block with its parent. */
export interface BlockLink {
  readonly slot: number;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  readonly parentSlot: number;
}

export interface FinalBlock {
  readonly slot: number;
  readonly blockhash: string;
}

/** Permanent facts of an index's chain. An endpoint that contradicts them serves another chain. */
export interface ChainAnchor {
  readonly genesisHash?: string;
  /** The last final block. */
  readonly final?: FinalBlock;
}

/** An endpoint that serves another chain than the anchored one. */
export interface Contradiction {
  readonly host: string;
  readonly reason: string;
}

/** How sure the cluster is of a slot; it can still, rarely, drop a `confirmed` one. */
export type Commitment = "confirmed" | "finalized";

/** The last slot at a commitment. */
export interface SlotHead {
  readonly slot: number;
}

/** An account's data as bytes; null where there is no such account. */
export interface AccountInfo {
  /** The program that owns it. */
  readonly owner: string;
  readonly data: Uint8Array;
}

/** Accounts as they were after one slot. */
export interface AccountsAt {
  readonly slot: number;
  /** In the order of the request. */
  readonly accounts: readonly (AccountInfo | null)[];
}

/** Some token accounts of a mint as they were after one slot; those with amounts above zero. */
export interface TokenAccountPage {
  readonly slot: number;
  readonly accounts: readonly { readonly address: string; readonly owner: string; readonly amount: bigint }[];
  /** Where the next page begins; null after the last one. */
  readonly next: string | null;
}

/** Addresses in one request for accounts: the nodes' limit. */
export const MAX_ACCOUNTS_PER_REQUEST = 100;

/** No endpoint returned a trustworthy response; the message has the request and the last cause. */
export class SolanaUpstreamError extends Error {
  override readonly name = "SolanaUpstreamError";
}

export interface TokenAccountQuery {
  /** The mint's token program. */
  readonly program: string;
  readonly minSlot: number;
  /** `next` of the page before; null for the first one. */
  readonly after: string | null;
}

export interface SlotRange {
  readonly fromSlot: number;
  /** Inclusive. */
  readonly toSlot: number;
  readonly commitment: Commitment;
}

export interface SolanaSource {
  head(commitment: Commitment): Promise<SlotHead>;
  /**
   * The produced blocks of a range of slots, ascending. A slot without a block is left out only if it is proven to have
   * been skipped: the next block names the one before it as its parent, by slot and by hash, and getBlocks of two
   * endpoints (of one where there is no other) does not list it. Throws SolanaUpstreamError for a slot that can neither
   * be read nor proven skipped.
   */
  blocks(range: SlotRange): Promise<SolanaBlock[]>;
  /**
   * The same with what `read` makes of each transaction, as soon as it is parsed: the objects of a full block take some
   * 60 MB. `read` must not throw; responses that are refused later are read too.
   */
  readBlocks<T>(range: SlotRange, read: (transaction: SolanaTransaction) => T): Promise<SolanaBlock<T>[]>;
  /** A block's place in the chain; undefined if no endpoint has a block in the slot. */
  link(slot: number, commitment: Commitment): Promise<BlockLink | undefined>;
  /** The cluster's genesis; undefined if no endpoint offers it. */
  genesisHash(): Promise<string | undefined>;
  /**
   * Checks endpoints against this anchor, at first use and every few seconds: one that contradicts it is set aside, and
   * checked again. Without a genesis hash, that of the first response counts.
   */
  setAnchor(anchor: ChainAnchor): void;
  /** The anchor as last set, with the genesis once it is known. */
  getAnchor(): ChainAnchor;
  /** Checks every endpoint now. Returns how they contradict the anchor; empty while one does not. */
  recheck(): Promise<readonly Contradiction[]>;
  /** The first slot that the endpoints still have. */
  firstAvailableSlot(): Promise<number>;
  /** At most ACCOUNTS_AT_ONCE, all as of the last slot at the commitment. Throws RangeError for more. */
  accounts(addresses: readonly string[], commitment: Commitment): Promise<AccountsAt>;
  /** The largest token accounts of a mint (at most 20), largest first; undefined if no endpoint serves that. */
  largestTokenAccounts(
    mint: string,
  ): Promise<readonly { readonly address: string; readonly amount: bigint }[] | undefined>;
  /**
   * All token accounts of a mint, as of final slots not before `minSlot`: by pages where an endpoint offers that
   * (getProgramAccountsV2), else at once (getProgramAccounts). Undefined if no endpoint serves that.
   */
  tokenAccounts(mint: string, query: TokenAccountQuery): Promise<TokenAccountPage | undefined>;
  /** Resolves when the head may have moved (websocket wake-up) or after the time has passed. */
  waitForHead(timeoutMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
