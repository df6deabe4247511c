import type { DecodedTransaction } from "../decode/model.ts";

/** A block with what its transactions tell; those that tell nothing are left out. */
export interface TimedBlock {
  readonly slot: number;
  readonly blockhash: string;
  readonly parentSlot: number;
  /** Unix seconds; that of the block before where the cluster gave none, or an earlier one. */
  readonly time: number;
  readonly transactions: readonly DecodedTransaction[];
}
