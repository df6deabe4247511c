import type { Commitment, SolanaBlock } from "../../chain/port.ts";
import { decodeBlock } from "../../decode/decode.ts";
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
  readonly broken: readonly { readonly signature: string | null; readonly reason: string }[];
  /** Mint and metadata accounts that instructions may have changed. */
  readonly changedMetadata: readonly string[];
}

export interface SlotRange {
  readonly fromSlot: number;
  /** Inclusive. */
  readonly toSlot: number;
  readonly commitment: Commitment;
}

/** Reads and decodes blocks; as SolanaSource.blocks otherwise. */
export interface BlockReader {
  blocks(range: SlotRange): Promise<DecodedBlock[]>;
  /** The slot that is needed next, where blocks may be pushed from then on; undefined = none are needed. */
  follow?(fromSlot: number | undefined): void;
  /** What was pushed does not fit the chain: read for a while without. */
  distrust?(): void;
}

/** @param options.withHolders false = rows of pools alone: no balances, no mints and burns */
export function toDecodedBlock(block: SolanaBlock, { withHolders = true } = {}): DecodedBlock {
  const { slot, blockhash, previousBlockhash, parentSlot, blockTime } = block;
  const { transactions: decoded, broken } = decodeBlock(block);
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
    changedMetadata: findMetadataChanges(block.transactions),
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
