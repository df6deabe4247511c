import type { TokenAccountPage } from "../../chain/port.ts";
import type { TokenAccountBalance } from "../state/holder-state.ts";
import type { TimedBlock } from "../timed-block.ts";

type Moves = readonly Pick<TimedBlock, "slot" | "transactions">[];

/**
 * Adds a token's accounts, as nodes have them at final slots, to an index that has gone on since. From its first slot on
 * an import notes whose balance the blocks have changed: those are known from the blocks, all others are still as the
 * node has them. So the pages of one import may be of different slots, none of them before the first, and are added
 * little by little between blocks.
 */
export class HolderImport {
  readonly mint: string;
  /** The slot that the index was at when it began. */
  readonly since: number;
  /** In the order of slots. */
  #moved: { readonly slot: number; readonly account: string }[] = [];
  #isMoved = new Set<string>();
  #pending: TokenAccountBalance[] = [];
  /** The latest slot of a page: the index must have reached it. */
  #pageSlot = 0;
  #cursor: string | null = null;
  #hasReadAll = false;
  #isFinished = false;
  /** Taken for the batch that is being written, and what batches that are not final have. */
  #taken: TokenAccountBalance[] | undefined;
  #written: { readonly slot: number; readonly holdings: readonly TokenAccountBalance[] }[] = [];

  constructor({ mint, since }: { mint: string; since: number }) {
    this.mint = mint;
    this.since = since;
  }

  /** Where the next page begins; null for the first one. */
  get cursor(): string | null {
    return this.#cursor;
  }

  get pendingCount(): number {
    return this.#pending.length;
  }

  get hasReadAll(): boolean {
    return this.#hasReadAll;
  }

  /** Whether the last accounts are in the batch that is written next, or in an earlier one. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Whether all accounts are in batches that are final. */
  get isOver(): boolean {
    return this.#isFinished && this.#taken === undefined && this.#written.length === 0;
  }

  addPage({ slot, accounts, next }: TokenAccountPage): void {
    this.#pageSlot = Math.max(this.#pageSlot, slot);
    for (const { address, owner, amount } of accounts)
      this.#pending.push({ tokenAccount: address, owner, amount });
    this.#cursor = next;
    this.#hasReadAll = next === null;
  }

  /**
   * The next accounts to add to an index at a slot; undefined where there are none, or where the slot is before theirs.
   * The last ones, of which there may be none, finish the import.
   */
  take(count: number, slot: number): TokenAccountBalance[] | undefined {
    if (this.#isFinished || slot < this.#pageSlot) return undefined;
    if (this.#pending.length === 0 && !this.#hasReadAll) return undefined;
    this.#taken = this.#pending.splice(0, count);
    this.#isFinished = this.#hasReadAll && this.#pending.length === 0;
    return this.#taken.filter(({ tokenAccount }) => !this.#isMoved.has(tokenAccount));
  }

  /** A batch was written, with what was taken before it. */
  onWritten(blocks: Moves, { slot, finalizedSlot }: { slot: number; finalizedSlot: number }): void {
    if (this.#taken !== undefined) this.#written.push({ slot, holdings: this.#taken });
    this.#taken = undefined;
    this.#written = this.#written.filter((each) => each.slot > finalizedSlot);
    for (const block of blocks) {
      for (const { balances } of block.transactions) {
        for (const { mint, tokenAccount } of balances) {
          if (mint !== this.mint) continue;
          this.#moved.push({ slot: block.slot, account: tokenAccount });
          this.#isMoved.add(tokenAccount);
        }
      }
    }
  }

  /** Slots after one were rolled back, with the accounts that were added in them. */
  onRollback(slot: number): void {
    const undone = this.#written.filter((each) => each.slot > slot);
    this.#written = this.#written.filter((each) => each.slot <= slot);
    if (undone.length > 0) this.#isFinished = false;
    this.#pending = [...undone.flatMap(({ holdings }) => holdings), ...this.#pending];
    this.#moved = this.#moved.filter((each) => each.slot <= slot);
    this.#isMoved = new Set(this.#moved.map(({ account }) => account));
  }
}
