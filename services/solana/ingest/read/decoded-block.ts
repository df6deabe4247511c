import type { SlotRange, SolanaBlock, SolanaTransaction } from "../../chain/port.ts";
import {
  type BrokenTransaction,
  joinTried,
  type TriedTransaction,
  tryDecodeTransaction,
} from "../../decode/decode.ts";
import type { DecodedTransaction } from "../../decode/model.ts";
import { findMetadataChanges } from "./metadata-changes.ts";

/** A block with decoded transactions in place of raw ones. */
export interface DecodedBlock {
  readonly slot: number;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  readonly parentSlot: number;
  /** Unix seconds; null where the cluster did not vote on one. */
  readonly blockTime: number | null;
  /** Those with rows, balances or disagreements. */
  readonly transactions: readonly DecodedTransaction[];
  /** All but votes. */
  readonly transactionCount: number;
  /** Swaps by programs without a layout (decode/other-swaps.ts); absent where they were not read. */
  readonly otherSwaps?: number;
  /** Transactions that could not be decoded: their rows are missing. */
  readonly broken: readonly BrokenTransaction[];
  /** Mint and metadata accounts that instructions may have changed. */
  readonly changedMetadata: readonly string[];
}

/** Reads and decodes blocks; as SolanaSource.blocks otherwise. */
export interface BlockReader {
  blocks(range: SlotRange): Promise<DecodedBlock[]>;
  /** The slot that is needed next, where blocks may be pushed from then on; undefined = none are needed. */
  follow?(fromSlot: number | undefined): void;
  /** What was pushed does not fit the chain: read for a while without. */
  distrust?(): void;
}

/** What a block's transaction gives. */
export interface ReadTransaction extends TriedTransaction {
  readonly changedMetadata: readonly string[];
}

/** @param place of a transaction that does not say its own */
export function readTransaction(transaction: SolanaTransaction, place?: number): ReadTransaction {
  const { decoded, brokenBy } = tryDecodeTransaction(transaction, place);
  return { decoded, brokenBy, changedMetadata: findMetadataChanges([transaction]) };
}

/** @param options.withHolders false = rows of pools alone: no balances, no mints and burns */
export function toDecodedBlock(block: SolanaBlock, options: { withHolders?: boolean } = {}): DecodedBlock {
  const transactions = block.transactions.map((transaction, place) => readTransaction(transaction, place));
  return joinDecodedBlock({ ...block, transactions }, options);
}

/** toDecodedBlock of a block whose transactions were read as they came. */
export function joinDecodedBlock(
  block: SolanaBlock<ReadTransaction>,
  { withHolders = true } = {},
): DecodedBlock {
  const { slot, blockhash, previousBlockhash, parentSlot, blockTime } = block;
  const { transactions: decoded, broken } = joinTried(block.transactions);
  const changedMetadata = new Set(block.transactions.flatMap((read) => read.changedMetadata));
  const transactions = withHolders ? decoded : decoded.flatMap(keepPoolRows);
  return {
    slot,
    blockhash,
    previousBlockhash,
    parentSlot,
    blockTime,
    transactions,
    transactionCount: block.transactions.length,
    ...(withHolders && {
      otherSwaps: decoded.reduce((sum, { otherSwaps = 0 }) => sum + otherSwaps, 0),
    }),
    broken,
    changedMetadata: [...changedMetadata],
  };
}

/** What is the same in a block that has the exchanges' transactions alone. */
function keepPoolRows(transaction: DecodedTransaction): DecodedTransaction[] {
  const { otherSwaps: _, ...withoutSwaps } = transaction;
  const events = transaction.events.filter((event) => "pool" in event);
  const disagreements = transaction.disagreements.filter(({ program }) => program !== "token");
  return events.length + disagreements.length === 0
    ? []
    : [{ ...withoutSwaps, events, disagreements, balances: [] }];
}
