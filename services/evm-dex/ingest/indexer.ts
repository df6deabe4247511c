import type { Store } from "../../shared/storage/port.ts";
import { poolPrice, toWholeTokens } from "../metrics/pool-price.ts";
import { quantizeUsd, swapFeeUsd, swapValueUsd } from "../metrics/usd.ts";
import type { PoolEventRow, PoolRow, TokenRow } from "../store/collections.ts";
import type { PoolEvent } from "./decode/events.ts";
import { BucketBook } from "./state/bucket-book.ts";
import { PoolBook, type PoolEntry } from "./state/pool-book.ts";
import { applyEvent, movedInto } from "./state/pool-state.ts";
import { PriceBook } from "./state/price-book.ts";

/** One decoded event with its place on the chain. */
export interface PlacedEvent {
  readonly logIndex: number;
  readonly txHash: string;
  /** tx.from */
  readonly sender: string;
  readonly poolAddress: string;
  readonly event: PoolEvent;
}

export interface BlockEvents {
  readonly number: number;
  readonly hash: string;
  readonly time: number;
  readonly events: readonly PlacedEvent[];
}

/** What a run of blocks adds to the store, apart from the absolute rows of the books. */
export interface Taken {
  readonly events: PoolEventRow[];
  readonly pools: PoolRow[];
  readonly tokens: TokenRow[];
  readonly touched: PoolEntry[];
}

/**
 * Turns the events of one chain, block by block, into rows and running state. Knows no RPC and writes nothing:
 * fetch.ts feeds it, write.ts stores what it has.
 */
export class Indexer {
  readonly chainId: number;
  readonly pools: PoolBook;
  readonly buckets: BucketBook;
  readonly prices: PriceBook;
  readonly #events: PoolEventRow[] = [];
  readonly #newPools: PoolRow[] = [];
  readonly #newTokens: TokenRow[] = [];
  readonly #touched = new Set<PoolEntry>();

  constructor(store: Store, chain: { chainId: number; anchors: readonly string[] }) {
    this.chainId = chain.chainId;
    this.pools = new PoolBook(store, chain.chainId);
    this.buckets = new BucketBook(store, chain.chainId);
    this.prices = new PriceBook(chain.anchors);
  }

  addPool(row: PoolRow): void {
    if (this.pools.knows(row.poolAddress)) return;
    this.pools.add(row);
    this.#newPools.push(row);
  }

  addToken(row: TokenRow): void {
    this.#newTokens.push(row);
  }

  /** Loads what the blocks will change. Pools must have been added and anchored before. */
  async prepare(blocks: readonly BlockEvents[]): Promise<void> {
    const swaps = blocks.flatMap((block) =>
      block.events
        .filter((placed) => placed.event.kind === "swap")
        .map(({ poolAddress, sender }) => ({ poolAddress, user: sender, time: block.time })),
    );
    await this.buckets.prepare(swaps);
  }

  addBlock(block: BlockEvents): void {
    const first = this.#events.length;
    const touched = new Set<PoolEntry>();
    for (const placed of block.events) {
      const entry = this.pools.get(placed.poolAddress);
      if (entry === undefined)
        throw new Error(`Pool ${placed.poolAddress} was not loaded before block ${block.number}.`);
      this.#events.push(this.#addEvent(entry, { block, placed }));
      touched.add(entry);
    }
    this.prices.closeBlock(touched, block.time, (pool) => this.pools.get(pool));
    for (let i = first; i < this.#events.length; i++) this.#valueRow(this.#events[i] as PoolEventRow);
    for (const entry of touched) this.#touched.add(entry);
  }

  #addEvent(entry: PoolEntry, at: { block: BlockEvents; placed: PlacedEvent }): PoolEventRow {
    const { block, placed } = at;
    const before = entry.state;
    entry.anchor ??= before;
    entry.state = applyEvent(before, placed.event);
    entry.lastBlock = block.number;
    entry.lastTime = block.time;
    const moved = movedInto(placed.event);
    return {
      chainId: this.chainId,
      blockNumber: block.number,
      logIndex: placed.logIndex,
      poolAddress: placed.poolAddress,
      kind: placed.event.kind,
      blockHash: block.hash,
      time: block.time,
      txHash: placed.txHash,
      sender: placed.sender,
      amount0: moved.amount0,
      amount1: moved.amount1,
      sqrtPriceX96: entry.state.sqrtPriceX96,
      liquidity: entry.state.liquidity,
      tick: entry.state.tick,
      reserve0: entry.state.reserve0,
      reserve1: entry.state.reserve1,
      feeProtocol: entry.state.feeProtocol,
      price0Usd: null,
      price1Usd: null,
      valueUsd: null,
      feeUsd: null,
      tickTravel:
        placed.event.kind === "swap" ? travel(before.sqrtPriceX96, before.tick, placed.event.tick) : null,
      previousMinute: null,
    };
  }

  /** Prices a row by the prices at the end of its block, and counts it if it is a swap. */
  #valueRow(row: PoolEventRow): void {
    const pool = (this.pools.get(row.poolAddress) as PoolEntry).row;
    row.price0Usd = this.prices.usd(pool.token0Address);
    row.price1Usd = this.prices.usd(pool.token1Address);
    if (row.kind !== "swap") return;
    const swap = {
      amount0: toWholeTokens(row.amount0, pool.token0Decimals),
      amount1: toWholeTokens(row.amount1, pool.token1Decimals),
      price0Usd: row.price0Usd,
      price1Usd: row.price1Usd,
    };
    row.valueUsd = quantized(swapValueUsd(swap));
    row.feeUsd = quantized(swapFeeUsd(swap, { fee: pool.fee, feeProtocol: row.feeProtocol }));
    row.previousMinute = this.buckets.add({
      poolAddress: row.poolAddress,
      user: row.sender,
      time: row.time,
      valueUsd: row.valueUsd,
      feeUsd: row.feeUsd,
      tickTravel: row.tickTravel ?? 0,
      closePrice: poolPrice(row.sqrtPriceX96, {
        decimals0: pool.token0Decimals,
        decimals1: pool.token1Decimals,
      }),
    });
  }

  take(): Taken {
    const taken = {
      events: this.#events.splice(0),
      pools: this.#newPools.splice(0),
      tokens: this.#newTokens.splice(0),
      touched: [...this.#touched],
    };
    this.#touched.clear();
    return taken;
  }
}

/** A pool whose price before its first indexed swap is not known has travelled nowhere by it. */
function travel(sqrtPriceBefore: bigint, tickBefore: number, tickAfter: number): number {
  return sqrtPriceBefore === 0n ? 0 : Math.abs(tickAfter - tickBefore);
}

function quantized(usd: number | null): number | null {
  return usd === null ? null : quantizeUsd(usd);
}
