import { createHash } from "node:crypto";
import { createRandom } from "../random.ts";
import { deriveAddress } from "./chain/addresses.ts";
import type { LookupTables } from "./chain/keys.ts";
import { Ledger, type LedgerState } from "./chain/ledger.ts";
import { makeTransaction } from "./chain/transaction.ts";
import type { ExpectedTransaction } from "./expected.ts";
import { createGenesis, describeMarket, type Market } from "./market/genesis.ts";
import { createLookupTables } from "./market/lookup-tables.ts";
import { planOther, planTransaction, planVote } from "./market/plans.ts";

export interface GeneratorOptions {
  readonly seed: number;
  /** Unix seconds: prices of the first pools are of that time. */
  readonly time: number;
  /** The slot before the first. */
  readonly slot: number;
  /** In a block, votes not counted; default 10. */
  readonly transactions?: number;
  /** Transfers and swaps that fail among these; default 0: as many as people make. */
  readonly others?: number;
  /** Default 3. */
  readonly votes?: number;
  /** Part of the slots without a block; default 0.04. */
  readonly skipped?: number;
  /** Goes on where another one stopped, of the same seed, time and slot. */
  readonly resume?: GeneratorState;
}

/** All that the next blocks depend on. */
export interface GeneratorState {
  readonly ledger: LedgerState;
  readonly last: { readonly slot: number; readonly blockhash: string; readonly height: number };
}

export interface MadeBlock {
  readonly slot: number;
  readonly parentSlot: number;
  readonly blockhash: string;
  readonly blockTime: number;
  /** As getBlock answers, with all details. */
  readonly raw: Record<string, unknown>;
  /** Of the transactions that succeeded and are no votes. */
  readonly expected: readonly ExpectedTransaction[];
}

export interface SlotOptions {
  /** Unix seconds. */
  readonly time: number;
  readonly fork?: number;
  /** Votes not counted; default those of every block. */
  readonly transactions?: number;
}

export interface Generator {
  readonly genesisHash: string;
  readonly ledger: Ledger;
  readonly market: Market;
  /**
   * The next slot's block, or undefined where it is skipped. The same seed and the same times give the same blocks;
   * another `fork` gives others. Slots go up one by one, except after `goBack`.
   */
  make(slot: number, at: SlotOptions): MadeBlock | undefined;
  /** Forgets the blocks of a slot and all after it; the last 64 slots can be taken back. */
  goBack(slot: number): void;
  state(): GeneratorState;
}

const UNDO_SLOTS = 64;

/** A chain made of nothing: wallets that trade on the four exchanges, and validators that vote. */
export function createGenerator(options: GeneratorOptions): Generator {
  const { seed, transactions = 10, others = 0, votes = 3, skipped = 0.04 } = options;
  const market = describeMarket();
  const { resume } = options;
  const ledger = resume === undefined ? createGenesis(market, options.time) : new Ledger(resume.ledger);
  const tables: LookupTables = createLookupTables(market.pools);
  const genesisHash = deriveAddress("genesis", seed, options.time, options.slot);
  let last = resume?.last ?? { slot: options.slot, blockhash: genesisHash, height: options.slot };
  /** What there was before each of the last slots. */
  const before = new Map<number, { mark: number; last: typeof last }>();

  function remember(slot: number): void {
    before.set(slot, { mark: ledger.undo.mark(), last });
    const oldest = before.get(slot - UNDO_SLOTS);
    if (oldest === undefined) return;
    ledger.undo.forget(oldest.mark);
    before.delete(slot - UNDO_SLOTS);
  }

  /** They lie among the others as well. */
  function isOther(i: number, total: number): boolean {
    if (others === 0) return false;
    const share = others / (total - votes);
    return Math.floor((i + 1) * share) > Math.floor(i * share);
  }

  function make(slot: number, at: SlotOptions): MadeBlock | undefined {
    const { time, fork = 0 } = at;
    remember(slot);
    const random = createRandom(computeSeed(seed, slot, fork));
    if (isSkipped(slot, { seed, fork, skipped })) return undefined;
    const blockhash = deriveAddress("block", last.blockhash, slot, time, fork);
    const world = { ledger, slot, time, recentBlockhash: last.blockhash };
    const scene = { ledger, market, tables, random, time };
    const expected: ExpectedTransaction[] = [];
    const raws: unknown[] = [];
    const total = (at.transactions ?? transactions) + votes;
    for (let i = 0; i < total; i++) {
      // Votes lie among the others.
      const isVote = Math.floor(((i + 1) * votes) / total) > Math.floor((i * votes) / total);
      const plan = isVote ? planVote(scene) : isOther(i, total) ? planOther(scene) : planTransaction(scene);
      const made = makeTransaction(world, `${blockhash}/${i}`, plan);
      raws.push(made.raw);
      if (made.expected !== undefined && !isVote) expected.push({ transactionIndex: i, ...made.expected });
    }
    const parent = last;
    last = { slot, blockhash, height: parent.height + 1 };
    const raw = {
      blockHeight: last.height,
      blockTime: time,
      blockhash,
      parentSlot: parent.slot,
      previousBlockhash: parent.blockhash,
      transactions: raws,
    };
    return { slot, parentSlot: parent.slot, blockhash, blockTime: time, raw, expected };
  }

  return {
    genesisHash,
    ledger,
    market,
    make,
    state: () => ({ ledger: ledger.state(), last }),
    goBack(slot) {
      const there = before.get(slot);
      if (there === undefined)
        throw new RangeError(
          `Cannot go back to slot ${slot}: only the last ${UNDO_SLOTS} slots can be taken back`,
        );
      ledger.undo.backTo(there.mark);
      last = there.last;
      for (const later of [...before.keys()]) if (later >= slot) before.delete(later);
    },
  };
}

/** A leader who is away skips four slots in a row; others miss one here and there. */
function isSkipped(
  slot: number,
  { seed, fork, skipped }: { seed: number; fork: number; skipped: number },
): boolean {
  const leader = createRandom(computeSeed(seed, Math.floor(slot / 4), fork)).next();
  const own = createRandom(computeSeed(seed + 1, slot, fork)).next();
  return leader < skipped / 2 || own < skipped / 2;
}

function computeSeed(...numbers: readonly number[]): number {
  return createHash("sha256").update(numbers.join("/")).digest().readUInt32LE(0);
}
