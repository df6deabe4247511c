import type { DecodedTransaction } from "../decode/model.ts";

/** A decoded block whose time never falls below an earlier one's. */
export interface TimedBlock {
  readonly slot: number;
  readonly blockhash: string;
  readonly parentSlot: number;
  /** Unix seconds; that of the block before where the cluster gave none, or an earlier one. */
  readonly time: number;
  readonly transactions: readonly DecodedTransaction[];
}
