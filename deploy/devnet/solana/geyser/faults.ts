import type { BlockMessage } from "../../../../services/solana/chain/geyser/wire.ts";

/** What goes wrong, changed by tests while the server runs. */
export interface GeyserFaults {
  /** The stream stays open and brings nothing; what was held comes when it is set back. */
  isPaused: boolean;
  /** Changes a block, or withholds it (undefined). */
  alter: (block: BlockMessage) => BlockMessage | undefined;
  /** Slots that the server keeps for replays; 0 = it offers none. */
  replaySlots: number;
  /** Filters that a plan does not allow. */
  refuses: "transactions" | "blocks" | undefined;
  /** The last transaction of each slot comes after its block. */
  isLate: boolean;
}
