import { Buffer } from "node:buffer";
import type { BlockMessage, SlotTransactionMessage, TransactionInBlockMessage } from "./wire.ts";

/** A transaction came after the block that it is in: that block had been taken for whole. */
export class LateTransactionError extends Error {
  override readonly name = "LateTransactionError";
  readonly slot: number;
  constructor(slot: number) {
    super(`a transaction of slot ${slot} came after its block`);
    this.slot = slot;
  }
}

interface CompleteBlock {
  readonly blockhash: string;
  readonly transactions: ReadonlySet<string>;
}

/** Blocks whose transactions are remembered, and slots whose block may still come. */
const KEPT = 32;

/**
 * Blocks of one connection, made of transactions that come one by one and of a block without any, which a server sends
 * after the last transaction of its slot: it makes the block only when it has them all. A server that does otherwise
 * reveals itself by a transaction that comes later.
 */
export class BlockAssembler {
  readonly #pending = new Map<number, TransactionInBlockMessage[]>();
  /** In the order in which they came. */
  readonly #complete = new Map<number, CompleteBlock>();
  /** Up to this slot nothing can be made whole. */
  #droppedTo = -1;
  #mayBeginWithin: boolean;

  /** @param options.isReplay the connection begins with a slot's first transaction, not anywhere within a slot */
  constructor({ isReplay }: { isReplay: boolean }) {
    this.#mayBeginWithin = !isReplay;
  }

  addTransaction({ slot, transaction }: SlotTransactionMessage): void {
    if (transaction === undefined || transaction === null || slot <= this.#droppedTo) return;
    const pending = this.#pending.get(slot);
    if (pending !== undefined) pending.push(transaction);
    else this.#pending.set(slot, [transaction]);
    if (this.#pending.size <= KEPT) return;
    // Servers of before July 2026 replay transactions without their blocks.
    const [oldest] = this.#pending.keys();
    this.#pending.delete(oldest as number);
    this.#droppedTo = Math.max(this.#droppedTo, oldest as number);
  }

  /**
   * The block with its transactions; undefined where it came before, as where a replay meets the head, and for a first
   * one that the connection may have begun within. Throws LateTransactionError.
   */
  addBlock(block: BlockMessage): BlockMessage | undefined {
    const { slot, blockhash } = block;
    if (this.#mayBeginWithin) {
      this.#mayBeginWithin = false;
      this.#droppedTo = slot;
      this.#pending.delete(slot);
      return undefined;
    }
    if (slot <= this.#droppedTo) throw new Error(`the transactions of slot ${slot} had not all come`);
    const known = this.#complete.get(slot);
    const isRepeated = known !== undefined && known.blockhash === blockhash;
    const transactions = this.#pending.get(slot) ?? [];
    if (!isRepeated) this.#pending.delete(slot);
    this.#checkLeft(slot);
    if (isRepeated) return undefined;
    this.#complete.delete(slot);
    this.#complete.set(slot, { blockhash, transactions: new Set(transactions.map(nameOf)) });
    const [oldest] = this.#complete.keys();
    if (this.#complete.size > KEPT) this.#complete.delete(oldest as number);
    return { ...block, transactions };
  }

  /** What is left of slots up to this one: their blocks are complete, and had it, or had it not. */
  #checkLeft(upTo: number): void {
    for (const [slot, transactions] of this.#pending) {
      if (slot > upTo) continue;
      const complete = this.#complete.get(slot);
      // Of a slot whose block has not come yet.
      if (complete === undefined && !this.#isBeforeAll(slot)) continue;
      if (transactions.some((each) => !complete?.transactions.has(nameOf(each))))
        throw new LateTransactionError(slot);
      this.#pending.delete(slot);
    }
  }

  #isBeforeAll(slot: number): boolean {
    return this.#complete.size === KEPT && [...this.#complete.keys()].every((each) => each > slot);
  }
}

function nameOf({ index, signature }: TransactionInBlockMessage): string {
  const { buffer, byteOffset, byteLength } = signature;
  return `${index} ${Buffer.from(buffer, byteOffset, byteLength).toString("latin1")}`;
}
