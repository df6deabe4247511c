import { IngestStalled } from "../chain-errors.ts";

/** The source of EVM blocks: one interface for live RPC endpoints and test doubles. */
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

/** A block as a store has it. */
export interface StoredBlock {
  readonly number: number;
  readonly hash: string;
  /** Unix seconds. */
  readonly time: number;
}

/** The last final block of an index, and its chain. */
export interface FinalBlock extends StoredBlock {
  readonly genesisHash: string;
}

/** tx.from by transactionIndex. */
export interface Senders {
  readonly [transactionIndex: number]: Hex;
}

export interface BlockWithSenders extends BlockHeader {
  /** Of every transaction; in a history only of those with logs of its filter. */
  readonly senders: Senders;
}

export interface BlockWithLogs extends BlockWithSenders {
  /** The filter's logs, in order. */
  readonly logs: readonly RawLog[];
}

export interface LogFilter {
  /** Any of these in topic 0. */
  readonly topics: readonly Hex[];
  /** Any of these contracts; absent = all. */
  readonly addresses?: readonly Hex[];
  /**
   * Further topics of some contracts only. Never sent: they apply where all logs of a block are read (receipts);
   * eth_getLogs needs a request of its own for them.
   */
  readonly addressed?: { readonly topics: readonly Hex[]; readonly addresses: readonly Hex[] };
}

export interface LogRange {
  readonly fromBlock: number;
  /** Inclusive. */
  readonly toBlock: number;
  /** Of the only block of the range: its logs or none, never those of another block or of a node that is behind. */
  readonly blockHash?: Hex;
  /**
   * Whether that block is known to follow on the index, by the hashes of parents. An endpoint with a log of it then has
   * the index's chain, as if it had shown the final block.
   */
  readonly isLinked?: boolean;
}

/** Consecutive blocks of a history. */
export interface HistoryPart {
  readonly range: LogRange;
  /** Contracts with logs in it; absent where only the logs tell. */
  readonly emitters?: readonly Hex[];
  /**
   * Every block of the range, ascending; where the filter names contracts only those with logs of it, and the last of
   * the range.
   */
  readonly blocks: readonly BlockWithLogs[];
}

export interface EthCall {
  readonly to: Hex;
  readonly data: Hex;
  /** The block whose state is read. */
  readonly block: number;
  /**
   * Its hash: the call reads the state of this very block or fails, also during a reorg (EIP-1898; nodes without it
   * get the number, between two reads of the header).
   */
  readonly blockHash?: Hex;
  /** A revert counts only when no other endpoint in service returns data. */
  readonly confirmRevert?: boolean;
  /**
   * Where no endpoint has the state of that block, the call fails. Without it, for blocks of the past, the result is null
   * then, as of a revert. For calls by number: a call by hash always fails.
   */
  readonly needsState?: boolean;
}

/** Calls of state that every node has, such as the head's: that it is missing is never taken for a contract that reverts. */
export function withState(calls: readonly EthCall[]): EthCall[] {
  return calls.map((call) => ({ ...call, needsState: true }));
}

/** Thrown when no endpoint gave a trustworthy response; names the request and the last cause. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
}

/** The last block up to a number whose hash the index knows. */
export type FindKnownBlock = (upTo: number) => Promise<StoredBlock | undefined>;

/** An endpoint whose genesis, or whose block at the index's final height, differs from the index's. */
export interface Contradiction {
  readonly host: string;
  readonly reason: string;
}

/** Every endpoint contradicts the final block of the index: nothing is read from them until one agrees. */
export class IndexContradicted extends IngestStalled {
  override readonly name = "IndexContradicted";
  readonly chainId: number;
  readonly contradictions: readonly Contradiction[];
  constructor(chainId: number, contradictions: readonly Contradiction[]) {
    const who = contradictions.map(({ host, reason }) => `${host} (${reason})`).join(", ");
    super(`Every RPC endpoint of chain ${chainId} contradicts the index: ${who}.`, {
      advice:
        "Nothing is deleted: indexing waits until one agrees. If the endpoints are right, stop the ingest and run " +
        `npm run reindex -- --chain ${chainId}.`,
      fields: { chainId, contradictions },
    });
    this.chainId = chainId;
    this.contradictions = contradictions;
  }
}

/** A block that calls name by its hash was replaced, does not exist yet, or no endpoint has its state. */
export class BlockUnavailable extends Error {
  override readonly name = "BlockUnavailable";
}

/** A call pinned to a block's hash fails repeatedly though the block is available: it may be too heavy. */
export class CallTooHeavy extends Error {
  override readonly name = "CallTooHeavy";
}

export interface EvmSource {
  readonly chainId: number;
  head(): Promise<BlockHeader>;
  /**
   * Uses, from now on, only endpoints that do not contradict this block: another block at its height, or another
   * genesis, sets an endpoint aside, by name, until it agrees. Where none is left, requests throw IndexContradicted.
   * `findKnown` checks endpoints that are still below the block; absent = the one given before.
   */
  requireFinal(block: FinalBlock, findKnown?: FindKnownBlock): void;
  /** Compares every endpoint with the final block at once. Throws IndexContradicted where all of them contradict it. */
  recheck(): Promise<void>;
  /**
   * The last final block of the chain that leads to `tip`, at most `tip`: by the tag `finalized`, else by depth. Null
   * while endpoints disagree about the tip, or none responds.
   */
  finalBlock(tip: StoredBlock): Promise<StoredBlock | null>;
  /** In the order of `numbers`; null for a block the chain does not have (yet). */
  headers(numbers: readonly number[]): Promise<(BlockHeader | null)[]>;
  /** Headers with the sender of every transaction, in the order of `numbers`; a missing block is an UpstreamError. */
  blocks(numbers: readonly number[]): Promise<BlockWithSenders[]>;
  /**
   * Blocks with senders and the filter's logs in one response, from receipts, whose logs must be numbered without a
   * gap. Undefined where no endpoint has receipts, or where they are slower: use `blocks` and `logs` then. A missing
   * block is an UpstreamError.
   */
  blocksWithLogs(numbers: readonly number[], filter: LogFilter): Promise<BlockWithLogs[] | undefined>;
  /**
   * All logs of the range in (block, logIndex) order, checked for duplicates and for blocks outside the range. One
   * request: throws RangeTooLarge where every endpoint refuses the size of the range. Callers halve it. By a block's
   * hash it throws ReorgDetected where no endpoint knows that block.
   */
  logs(range: LogRange, filter: LogFilter): Promise<RawLog[]>;
  /**
   * Completes the result of `logs` by the blooms of its blocks' headers. A block whose bloom may hold one of the
   * filter's logs while `logs` has none of it is read again: its receipts decide where a node has them (their bloom
   * must equal the header's), else it counts as empty when two endpoints, or several responses of the only one,
   * agree. Returns the logs with the missing ones added, in (block, logIndex) order. Throws ReorgDetected for a
   * header that is no longer on the chain.
   */
  verifyEmpty(
    headers: readonly BlockHeader[],
    answer: { logs: readonly RawLog[]; filter: LogFilter },
  ): Promise<RawLog[]>;
  /**
   * The receipts of a block as the node sends them, all of this very block; undefined where no endpoint has them.
   * Absent where the source has none at all.
   */
  receipts?(block: Pick<BlockHeader, "number" | "hash">): Promise<readonly unknown[] | undefined>;
  /**
   * Blocks of a range with senders and the filter's logs as one stream, checked and without a gap from the range's
   * first block on, far faster than `blocks` and `logs`. It may end before the range does, or bring nothing: the next
   * blocks are then to be read the other way, and the rest may be asked for again after a while. Errors are those of
   * `headers`, or the signal's reason. Absent where there is no such source.
   */
  history?(range: LogRange, filter: LogFilter, signal: AbortSignal): AsyncIterable<HistoryPart>;
  /** For callers of `history` who find that it contradicts the chain: it brings nothing for some minutes. */
  distrustHistory?(reason: string): void;
  /**
   * Return data in the order of the calls; null where the call reverted or no endpoint has the state of that block.
   * For calls that name a block's hash, null always means a revert: throws BlockUnavailable for all of them where the
   * state is unavailable, CallTooHeavy where one call gets no response.
   */
  call(calls: readonly EthCall[]): Promise<(Hex | null)[]>;
  /** Resolves when the head may have moved (websocket notification) or after the timeout. */
  waitForHead(timeoutMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * Every endpoint refused the size of an eth_getLogs range. `suggested` where the provider named a smaller range,
 * `maxBlocks` where it named a fixed number of blocks, a limit of every range.
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
