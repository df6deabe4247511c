import { readInt } from "../../../shared/evm/abi.ts";
import type { EthCall, Hex } from "../../../shared/evm/port.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { PoolFeeRow } from "../../store/collections.ts";
import { FEES_A_HEAD, listPoolFees } from "../../store/pool-lists.ts";
import type { StateSource } from "../reads/block-states.ts";
import { lastTurn, newest, numberOf } from "../turns.ts";
import type { PoolBook } from "./pool-book.ts";

/** An hour of Base. Every pool has its own block in it, so that few are read at one block. */
export const FEE_REFRESH_BLOCKS = 1_800;

/**
 * Decides when to read fees that change without an event of their pool (a fee module that follows the price, a
 * setting of its manager): at the block of the pool's last event, and then every FEE_REFRESH_BLOCKS. The block
 * follows from the pool and the head alone, so that the store is a function of the chain; a rollback removes fees
 * read beyond it, which are then read again.
 */
export class FeeBook {
  readonly #chainId: number;
  /** Block of the fee that is stored. */
  readonly #readAtBlock = new Map<string, number>();

  constructor(chainId: number) {
    this.#chainId = chainId;
  }

  static async load(store: Store, chainId: number): Promise<FeeBook> {
    const book = new FeeBook(chainId);
    for (const { poolAddress, block } of await listPoolFees(store, chainId))
      book.#readAtBlock.set(poolAddress, block);
    return book;
  }

  /** Forgets fees read beyond a block, as the store does. */
  rollback(target: number): void {
    for (const [pool, block] of this.#readAtBlock) if (block > target) this.#readAtBlock.delete(pool);
  }

  /**
   * Reads fees that are due at `head`, at most FEES_A_HEAD, a block whose events the pools have. Never reads before the block ahead of
   * the index, where a pool may not exist yet. Where nodes lack a block's state, it reads the head.
   */
  async refresh(
    source: StateSource,
    at: { pools: PoolBook; head: number; fromBlock: number },
  ): Promise<PoolFeeRow[]> {
    const all: DueFee[] = [];
    for (const [pool, { feeCall }] of at.pools.changingFees) {
      const lastEvent = at.pools.lastBlockOf(pool);
      const block = Math.max(lastEvent, lastRefreshBlock(pool, at.head), at.fromBlock - 1);
      if (feeCall === undefined || block < 0 || (this.#readAtBlock.get(pool) ?? -1) >= block) continue;
      all.push({ pool, block, feeCall });
    }
    const due = newest(all, FEES_A_HEAD, ({ block }) => block);
    if (due.length === 0) return [];
    const results = await source.call(due.map(({ pool, block, feeCall }) => feeCall(pool, block)));
    const fees = new Map(due.map(({ pool }, i) => [pool, parseFee(results[i])]));
    const missed = due.filter(({ pool }) => fees.get(pool) === null);
    const later = await source.call(missed.map(({ pool, feeCall }) => feeCall(pool, at.head)));
    missed.forEach(({ pool }, i) => {
      fees.set(pool, parseFee(later[i]));
    });
    return due.map(({ pool, block }) => {
      this.#readAtBlock.set(pool, block);
      return { chainId: this.#chainId, poolAddress: pool, fee: fees.get(pool) ?? null, block };
    });
  }
}

interface DueFee {
  readonly pool: string;
  /** Where its fee is to be read. */
  readonly block: number;
  readonly feeCall: (pool: string, block: number) => EthCall;
}

/** The last block up to `head` at which the pool's fee is refreshed; negative where there was none. */
export function lastRefreshBlock(pool: string, head: number): number {
  return lastTurn(head, { every: FEE_REFRESH_BLOCKS, phase: numberOf(pool) });
}

/** A fee in return data; null where the call failed, or returned no number. */
export function parseFee(result: Hex | null | undefined): number | null {
  if (typeof result !== "string" || result.length < 66) return null;
  try {
    return readInt(result, 0);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
