import type { Commitment } from "../../../../services/solana/chain/port.ts";
import type { AccountReader } from "./account-data.ts";

export interface NodeBlock {
  readonly slot: number;
  readonly parentSlot: number;
  /** JSON of getBlock's answer without its transactions. */
  readonly head: string;
  /** JSON of the list of transactions. */
  readonly transactions: () => string;
  /** Whether a client has to say that it understands version 0. */
  readonly hasVersions: boolean;
}

export interface SlotNotification {
  readonly slot: number;
  readonly parent: number;
  readonly root: number;
}

/** What a node knows: the blocks and accounts behind the RPC server. */
export interface NodeChain {
  readonly genesisHash: string;
  /** The last slot with a block at this commitment. */
  head(commitment: Commitment): number;
  firstAvailable(): number;
  /** Slots with a block in [from, to], ascending. */
  produced(from: number, to: number): number[];
  block(slot: number): NodeBlock | undefined;
  /** Accounts as of the head at a commitment; undefined where only blocks were recorded. */
  accounts(commitment: Commitment): AccountReader | undefined;
  /** Returns how to stop listening. */
  onSlot(listener: (news: SlotNotification) => void): () => void;
}

/** Blocks in slots, oldest first; the listeners of new ones. */
export class BlockBuffer {
  readonly #blocks = new Map<number, NodeBlock>();
  readonly #listeners = new Set<(news: SlotNotification) => void>();
  /** Ascending. */
  #slots: number[] = [];
  readonly #lag: number;

  /** Slots behind the last one up to which blocks are final. */
  constructor(lag: number) {
    this.#lag = lag;
  }

  add(block: NodeBlock): void {
    this.#blocks.set(block.slot, block);
    this.#slots.push(block.slot);
    const news = { slot: block.slot, parent: block.parentSlot, root: this.head("finalized") };
    for (const listener of this.#listeners) listener(news);
  }

  /** Those from a slot on. */
  drop(from: number): void {
    for (const slot of this.#slots) if (slot >= from) this.#blocks.delete(slot);
    this.#slots = this.#slots.filter((slot) => slot < from);
  }

  /** Keeps the newest ones only. */
  trim(most: number): void {
    for (const slot of this.#slots.splice(0, Math.max(0, this.#slots.length - most)))
      this.#blocks.delete(slot);
  }

  head(commitment: Commitment): number {
    const last = this.#slots.at(-1) ?? 0;
    return commitment === "confirmed"
      ? last
      : (this.#slots.findLast((slot) => slot <= last - this.#lag) ?? 0);
  }

  first(): number {
    return this.#slots[0] ?? 0;
  }

  produced(from: number, to: number): number[] {
    return this.#slots.filter((slot) => slot >= from && slot <= to);
  }

  get(slot: number): NodeBlock | undefined {
    return this.#blocks.get(slot);
  }

  listen(listener: (news: SlotNotification) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** A block as getBlock gives it, ready to be sent. */
export function toNodeBlock(slot: number, raw: Record<string, unknown>): NodeBlock {
  const { transactions, ...head } = raw;
  const list = transactions as readonly { readonly version?: unknown }[];
  const body = JSON.stringify(list);
  return {
    slot,
    parentSlot: Number(raw.parentSlot),
    head: JSON.stringify(head),
    transactions: () => body,
    hasVersions: list.some(({ version }) => version === 0),
  };
}

/** A node that has the blocks of a shelf, as far as they have come, and no accounts. */
export function chainOfShelf(shelf: BlockBuffer, genesisHash: string): NodeChain {
  return {
    genesisHash,
    head: (commitment) => shelf.head(commitment),
    firstAvailable: () => shelf.first(),
    produced: (from, to) => shelf.produced(from, to),
    block: (slot) => shelf.get(slot),
    accounts: () => undefined,
    onSlot: (listener) => shelf.listen(listener),
  };
}
