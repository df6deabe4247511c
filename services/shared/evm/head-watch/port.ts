import type { BlockHeader, Hex } from "../port.ts";

/** The head of a chain, with the senders of its transactions where they are wanted and known. */
export interface HeadBlock extends BlockHeader {
  /** tx.from by transactionIndex. */
  readonly senders?: readonly Hex[];
}

/** The small questions that find a new head: each goes to one endpoint, whose "not yet" is an answer. */
export interface HeadProbe {
  /** The number of the endpoint's last block. */
  blockNumber(): Promise<number>;
  /** A block, with its senders if wanted; null where the endpoint does not have it yet. */
  block(number: number, withSenders: boolean): Promise<HeadBlock | null>;
  /** Ends at a notification of a new head (true), after the time or at the signal. */
  notified(timeoutMs: number, signal: AbortSignal): Promise<boolean>;
}
