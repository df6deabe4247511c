import type { Commitment, SolanaBlock } from "../../chain/port.ts";
import { decodeBlock } from "../../decode/decode.ts";
import type { DecodedTransaction } from "../../decode/model.ts";
import { findMetadataChanges } from "./metadata-changes.ts";

/** A block as it is read: what its transactions tell in place of what they are. */
export interface DecodedBlock {
  readonly slot: number;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  readonly parentSlot: number;
  /** Unix seconds; null where the cluster did not vote on one. */
  readonly blockTime: number | null;
  /** Those that tell something. */
  readonly transactions: readonly DecodedTransaction[];
  /** All but those that only vote. */
  readonly transactionCount: number;
  /** Transactions that no node should have sent: their rows are missing. */
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
}

export function toDecodedBlock(block: SolanaBlock): DecodedBlock {
  const { slot, blockhash, previousBlockhash, parentSlot, blockTime } = block;
  const { transactions, broken } = decodeBlock(block);
  return {
    slot,
    blockhash,
    previousBlockhash,
    parentSlot,
    blockTime,
    transactions,
    transactionCount: block.transactions.length,
    broken,
    changedMetadata: findMetadataChanges(block.transactions),
  };
}
