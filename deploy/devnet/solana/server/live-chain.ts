import { Buffer } from "node:buffer";
import { gunzipSync, gzipSync } from "node:zlib";
import { Ledger, type LedgerChanges } from "../chain/ledger.ts";
import type { ExpectedTransaction } from "../expected.ts";
import { createGenerator, type Generator, type GeneratorOptions, type MadeBlock } from "../generator.ts";
import { createAccountReader } from "./account-data.ts";
import { BlockBuffer, type NodeBlock, type NodeChain, toNodeBlock } from "./node-chain.ts";

export interface LiveChain extends NodeChain {
  readonly generator: Generator;
  /** Makes the next slot, with a block or without. */
  advance(time: number, options?: { transactions?: number }): MadeBlock | undefined;
  /** The slot that was made last, with or without a block. */
  slot(): number;
  /** Replaces the last slots by others, and a further one, so that the head has moved on. */
  fork(slots: number): void;
  /** The expected rows of a block; undefined once the block is gone. */
  expected(slot: number): readonly ExpectedTransaction[] | undefined;
}

export interface LiveChainOptions extends GeneratorOptions {
  /** Blocks that are kept; default 3,000. */
  readonly kept?: number;
}

/** Slots behind the head that are final. */
export const FINALITY_LAG = 32;

/** A node of a chain that a generator makes. */
export function createLiveChain(options: LiveChainOptions): LiveChain {
  const generator = createGenerator(options);
  const shelf = new BlockBuffer(FINALITY_LAG);
  const expected = new Map<number, readonly ExpectedTransaction[]>();
  const times = new Map<number, number>();
  const { kept = 3_000 } = options;
  let slot = generator.state().last.slot;
  let forks = 0;
  // Accounts as of the last final block, and what the blocks since then changed.
  const final = new Ledger(generator.ledger.state());
  const pending = new Map<number, LedgerChanges>();
  generator.ledger.takeChanges();
  const readers = {
    confirmed: createAccountReader(generator.ledger),
    finalized: createAccountReader(final),
  };

  function make(time: number, more: { transactions?: number } = {}): MadeBlock | undefined {
    slot += 1;
    times.set(slot, time);
    const block = generator.make(slot, { time, fork: forks, ...more });
    if (block === undefined) return undefined;
    expected.set(slot, block.expected);
    pending.set(slot, generator.ledger.takeChanges());
    shelf.add(compressBlock(block));
    shelf.trim(kept);
    applyFinal();
    for (const old of expected.keys()) {
      if (old >= shelf.first()) break;
      expected.delete(old);
      times.delete(old);
    }
    return block;
  }

  /** What has become final is applied, in the order of the chain. */
  function applyFinal(): void {
    const root = shelf.head("finalized");
    for (const [slot, changes] of pending) {
      if (slot > root) return;
      final.apply(changes);
      pending.delete(slot);
    }
  }

  return {
    generator,
    genesisHash: generator.genesisHash,
    advance: make,
    slot: () => slot,
    fork(slots) {
      if (slots >= FINALITY_LAG)
        throw new RangeError(`Cannot fork ${slots} slots: those ${FINALITY_LAG} slots back are final`);
      const from = slot - slots + 1;
      const again = Array.from({ length: slots + 1 }, (_, i) => times.get(from + i) ?? times.get(slot) ?? 0);
      generator.goBack(from);
      shelf.drop(from);
      for (const later of [...expected.keys()]) if (later >= from) expected.delete(later);
      for (const later of [...pending.keys()]) if (later >= from) pending.delete(later);
      // What the other fork touched it has put back.
      generator.ledger.takeChanges();
      forks += 1;
      slot = from - 1;
      for (const time of again) make(time);
      // The other fork has to be ahead: a block, whatever is skipped.
      while (shelf.head("confirmed") < slot) make(again.at(-1) ?? 0);
    },
    expected: (slot) => expected.get(slot),
    head: (commitment) => shelf.head(commitment),
    firstAvailable: () => shelf.first(),
    produced: (from, to) => shelf.produced(from, to),
    block: (slot) => shelf.get(slot),
    accounts: (commitment) => readers[commitment],
    onSlot: (listener) => shelf.listen(listener),
  };
}

/** Kept compressed: thousands of blocks stay in memory. */
function compressBlock({ slot, raw }: MadeBlock): NodeBlock {
  const block = toNodeBlock(slot, raw);
  const packed = gzipSync(Buffer.from(block.transactions()), { level: 1 });
  return { ...block, transactions: () => gunzipSync(packed).toString("utf8") };
}
