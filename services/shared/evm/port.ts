/** Where EVM blocks come from. Live RPC endpoints and test doubles stand behind the same interface. */
export type Hex = `0x${string}`;

/** Addresses and hashes are lower-case. */
export interface RawLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
  readonly transactionIndex: number;
  readonly logIndex: number;
  /** Unix seconds; only some nodes send it. */
  readonly blockTimestamp?: number;
}

export interface BlockHeader {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly logsBloom: Hex;
}

/** A block as a store knows it. */
export interface StoredBlock {
  readonly number: number;
  readonly hash: string;
  /** Unix seconds. */
  readonly time: number;
}

/** The last block of an index that is final, and the chain that it is of. */
export interface FinalBlock extends StoredBlock {
  readonly genesisHash: string;
}

export interface BlockWithSenders extends BlockHeader {
  /** tx.from by transactionIndex. */
  readonly senders: readonly Hex[];
}

export interface BlockWithLogs extends BlockWithSenders {
  /** Those of the filter, in order. */
  readonly logs: readonly RawLog[];
}

export interface LogFilter {
  /** Any of these in topic 0. */
  readonly topics: readonly Hex[];
  /** Any of these contracts; absent = all. */
  readonly addresses?: readonly Hex[];
  /**
   * Topics wanted of some contracts only, beside `topics`. Never sent: they come where all logs of a block are read
   * (receipts), eth_getLogs needs a filter of its own for them.
   */
  readonly addressed?: { readonly topics: readonly Hex[]; readonly addresses: readonly Hex[] };
}

export interface LogRange {
  readonly fromBlock: number;
  /** Inclusive. */
  readonly toBlock: number;
}

export interface EthCall {
  readonly to: Hex;
  readonly data: Hex;
  /** The block whose state is read. */
  readonly block: number;
  /**
   * Its hash: the call is answered at this very block or not at all, whatever the chain does meanwhile (EIP-1898;
   * nodes without it are asked by number, between two looks at the header).
   */
  readonly blockHash?: Hex;
  /** A revert is believed only when every other endpoint in service has no better answer. */
  readonly confirmRevert?: boolean;
}

/** Thrown when no endpoint could give a trustworthy answer; carries what was asked and the last cause. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
}

/** The last block up to a number whose hash the index knows. */
export type FindKnownBlock = (upTo: number) => Promise<StoredBlock | undefined>;

/** An endpoint that has another block than the index where the index is final, or another genesis. */
export interface Contradiction {
  readonly host: string;
  readonly reason: string;
}

/** Every endpoint contradicts what is final in the index: nothing is read from them until one agrees. */
export class IndexContradicted extends Error {
  override readonly name = "IndexContradicted";
  readonly chainId: number;
  readonly contradictions: readonly Contradiction[];
  constructor(chainId: number, contradictions: readonly Contradiction[]) {
    const who = contradictions.map(({ host, reason }) => `${host} (${reason})`).join(", ");
    super(`Every RPC endpoint of chain ${chainId} contradicts the index: ${who}.`);
    this.chainId = chainId;
    this.contradictions = contradictions;
  }
}

/** A block that calls name by its hash has been replaced, is not there yet, or its state is gone from every endpoint. */
export class BlockUnavailable extends Error {
  override readonly name = "BlockUnavailable";
}

/** A call pinned by its hash fails time after time while nothing speaks against its block: it may be too heavy. */
export class CallTooHeavy extends Error {
  override readonly name = "CallTooHeavy";
}

export interface EvmSource {
  readonly chainId: number;
  head(): Promise<BlockHeader>;
  /**
   * From now on only endpoints are believed that do not contradict this block: another one at its height, or another
   * genesis, sets an endpoint aside, by name, until it agrees. Where none is left, questions throw IndexContradicted.
   * `findKnown` serves to look at endpoints that are still below the block; absent = the one given before.
   */
  requireFinal(block: FinalBlock, findKnown?: FindKnownBlock): void;
  /** Holds every endpoint against the final block at once. Throws IndexContradicted where all of them contradict it. */
  recheck(): Promise<void>;
  /**
   * The last final block of the chain that leads to `tip`, at most `tip`: by the tag `finalized`, else by depth. Null
   * while endpoints disagree about the tip, or none answers.
   */
  finalBlock(tip: StoredBlock): Promise<StoredBlock | null>;
  /** In the order asked; null for a block the chain does not have (yet). */
  headers(numbers: readonly number[]): Promise<(BlockHeader | null)[]>;
  /** Headers with the sender of every transaction, in the order asked; a missing block is an UpstreamError. */
  blocks(numbers: readonly number[]): Promise<BlockWithSenders[]>;
  /**
   * Blocks with senders and the filter's logs in one answer, from receipts, whose logs must be numbered without a gap.
   * Undefined where no endpoint gives receipts, or where this source has found other ways to be faster: ask `blocks`
   * and `logs` then. A missing block is an UpstreamError.
   */
  blocksWithLogs(numbers: readonly number[], filter: LogFilter): Promise<BlockWithLogs[] | undefined>;
  /**
   * All logs of the range in (block, logIndex) order, checked for duplicates and for blocks outside the range.
   * One request: throws RangeTooLarge where every endpoint refuses the range's size. Callers halve it.
   */
  logs(range: LogRange, filter: LogFilter): Promise<RawLog[]>;
  /**
   * Completes an answer of `logs` from the blooms of the headers of its blocks. A block whose bloom may hold one of
   * the filter's logs while `logs` has none of it is asked for again: decided by the block's receipts where a node
   * offers them (their own bloom must equal the header's), else accepted as empty when two endpoints, or several
   * answers of the only one, agree. Returns the logs with those that had been missing, in (block, logIndex) order.
   * Throws ReorgDetected for a header that is no longer on the chain.
   */
  verifyEmpty(
    headers: readonly BlockHeader[],
    answer: { logs: readonly RawLog[]; filter: LogFilter },
  ): Promise<RawLog[]>;
  /**
   * Return data in the order asked; null where the call reverted or the state is not available at that block. Of calls
   * that name a block's hash, null is a revert and nothing else: throws BlockUnavailable for all of them where the
   * state is not to be had, CallTooHeavy where one is not answered.
   */
  call(calls: readonly EthCall[]): Promise<(Hex | null)[]>;
  /** Resolves when the head may have moved (websocket wake-up) or after the time has passed. */
  waitForHead(timeoutMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * The range of an eth_getLogs was refused for its size. `suggested` where the provider named a smaller range,
 * `maxBlocks` where it named a fixed number of blocks: a size that holds for every range, not only for this one.
 */
export class RangeTooLarge extends Error {
  override readonly name = "RangeTooLarge";
  readonly suggested: LogRange | undefined;
  readonly maxBlocks: number | undefined;
  constructor(message: string, suggested?: LogRange, options: { maxBlocks?: number | undefined } = {}) {
    super(message);
    this.suggested = suggested;
    this.maxBlocks = options.maxBlocks;
  }
}
