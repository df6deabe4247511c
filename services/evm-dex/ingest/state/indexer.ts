import { quantizeUsd } from "../../../shared/pricing/quantize.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { orderOf, type RowList, type Rows, type TakenRows } from "../../../shared/storage/row-list.ts";
import { toWholeTokens } from "../../metrics/pool-price.ts";
import type { SwapAmounts } from "../../metrics/usd.ts";
import { pairValues } from "../../price/pair-values.ts";
import { writeIntegers } from "../../protocols/integers.ts";
import type { PoolEvent, RawPair, TokenPair } from "../../protocols/protocol.ts";
import {
  type PoolEventRow,
  type PoolRow,
  type PoolStateRow,
  type PriceLinkRow,
  poolEvents,
  poolStates,
  priceLinks,
  type TokenRow,
} from "../../store/collections.ts";
import { toLinkRow } from "../../store/price-links.ts";
import type { GaugeRow } from "../../store/v2-collections.ts";
import type { FeedAnswer } from "../feeds/feed-contracts.ts";
import { BucketBook, type CountedRows } from "./bucket-book.ts";
import { COUNTED_FIELDS, type CountedField, countSwaps } from "./count-swaps.ts";
import type { Detail } from "./detail.ts";
import { GaugeBook } from "./gauge-book.ts";
import { LastEvents } from "./last-events.ts";
import { LpBook, type PositionKey } from "./lp-book.ts";
import { lastTimeOf, PoolBook, type PoolEntry, toStateRow } from "./pool-book.ts";
import { PoolPrices } from "./pool-prices.ts";
import { type TakenSwaps, UncountedSwaps } from "./uncounted-swaps.ts";
import { V2Book } from "./v2-book.ts";

/** One decoded event with its position on the chain. */
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

/** An event before its row is built. */
interface AddedEvent {
  readonly placed: PlacedEvent;
  readonly entry: PoolEntry;
  readonly tickTravel: number | null;
  /** After the event. */
  readonly state: unknown;
  /** Of the pool, before the event: as of BucketBook.prepare. */
  readonly lastTime: number;
}

interface SwapDetails {
  readonly event: PoolEvent;
  readonly moved: RawPair;
}

/** Rows that a batch adds to the store, apart from the absolute rows of the books. */
export interface FlushedRows {
  /** By pool: the order of the pages that they go to. */
  readonly events: TakenRows<PoolEventRow, CountedField>;
  /** Of these events: to be counted before they are put. */
  readonly swaps: TakenSwaps;
  readonly pools: PoolRow[];
  readonly tokens: TokenRow[];
  readonly gauges: GaugeRow[];
  readonly touched: PoolEntry[];
  /** By token, and so by their key. */
  readonly links: Rows<PriceLinkRow>;
  readonly answers: FeedAnswer[];
}

/** How much waits to be written, beside how many pools there are. */
export interface Waiting {
  readonly events: number;
  readonly pools: number;
  readonly known: number;
}

/**
 * Turns the events of one chain, block by block, into rows and running state. Does no I/O but reading the store: the
 * fetcher feeds it, write.ts stores its rows.
 */
export class Indexer {
  readonly chainId: number;
  readonly pools: PoolBook;
  readonly buckets: BucketBook;
  /** Hours and days of v2 pools, in token amounts; all others are in `buckets`. */
  readonly v2: V2Book;
  readonly positions: LpBook;
  readonly gauges = new GaugeBook();
  readonly prices: PoolPrices;
  readonly #events: RowList<PoolEventRow, CountedField>;
  readonly #swaps = new UncountedSwaps();
  readonly #newPools = new Map<string, PoolRow>();
  readonly #newTokens = new Map<string, TokenRow>();
  readonly #links: RowList<PriceLinkRow>;
  readonly #states: RowList<PoolStateRow>;
  readonly #newGauges: GaugeRow[] = [];
  readonly #answers: FeedAnswer[] = [];
  readonly #touched = new Set<PoolEntry>();
  /** Events since the last flush. */
  #added = 0;

  constructor(
    store: Store,
    chain: { chainId: number; anchors: readonly string[] },
    detail: Detail = "events",
  ) {
    this.chainId = chain.chainId;
    const events = store.openRows(poolEvents, "poolAddress", COUNTED_FIELDS);
    this.#events = detail === "events" ? events : new LastEvents(events);
    this.#links = store.openRows(priceLinks, "token");
    this.#states = store.openRows(poolStates, null);
    this.pools = new PoolBook(store, chain.chainId);
    this.buckets = new BucketBook(store, chain.chainId, detail);
    this.v2 = new V2Book(store, chain.chainId);
    this.positions = new LpBook(store, chain.chainId);
    this.prices = new PoolPrices(chain.anchors, { pools: this.pools.addresses });
  }

  addPool(row: PoolRow): void {
    if (this.pools.has(row.poolAddress)) return;
    this.pools.add(row);
    this.#newPools.set(row.poolAddress, row);
  }

  addGauge(row: GaugeRow): void {
    this.gauges.add(row);
    this.#newGauges.push(row);
  }

  addToken(row: TokenRow): void {
    this.#newTokens.set(row.address, row);
  }

  /** What feeds said in the blocks that are added next. */
  addAnswers(answers: readonly FeedAnswer[]): void {
    this.prices.feeds.add(answers);
    for (const answer of answers) this.#answers.push(answer);
  }

  get waiting(): Waiting {
    return { events: this.#added, pools: this.#touched.size, known: this.pools.size };
  }

  /**
   * Loads the hours and days of v2 pools that the blocks will change. Pools must have been added and anchored before. All other
   * swaps are counted when they are written.
   */
  async prepare(blocks: readonly BlockEvents[]): Promise<void> {
    const v2Swaps: { poolAddress: string; time: number }[] = [];
    for (const { time, events } of blocks) {
      for (const { event, poolAddress: pool } of events) {
        if (event.kind !== "swap") continue;
        const entry = this.pools.get(pool);
        if (entry === undefined) throw new Error(`Pool ${pool} was not loaded before its events.`);
        // The same text for all that look it up, and not that of each event: it is compared by its place.
        if (entry.protocol.swapFees !== undefined) v2Swaps.push({ poolAddress: entry.row.poolAddress, time });
      }
    }
    await this.v2.prepare(v2Swaps, (pool) => this.pools.lastTimeOf(pool));
  }

  /** Loads the positions that the blocks will change; returns those that are not stored, each with its first block. */
  async preparePositions(blocks: readonly BlockEvents[]): Promise<(PositionKey & { block: number })[]> {
    const holdings = new Map<string, PositionKey & { block: number }>();
    for (const { number, events } of blocks) {
      for (const { event, poolAddress } of events) {
        const entry = this.pools.get(poolAddress);
        const { lpTokens } = entry?.protocol ?? {};
        if (entry === undefined || lpTokens === undefined) continue;
        for (const { wallet } of lpTokens.changes(event, { state: entry.state, pool: entry.row })) {
          const key = `${poolAddress}:${wallet}`;
          if (!holdings.has(key)) holdings.set(key, { poolAddress, wallet, block: number });
        }
      }
    }
    const absent = await this.positions.prepare(holdings.values());
    return absent.map(({ poolAddress, wallet }) => holdings.get(`${poolAddress}:${wallet}`) as never);
  }

  addBlock(block: BlockEvents): void {
    const added: AddedEvent[] = [];
    /** By pool, the last event that gets a row only if no other follows in the block. */
    const quiet = new Map<PoolEntry, AddedEvent>();
    const touched = new Set<PoolEntry>();
    for (const placed of block.events) {
      const entry = this.pools.get(placed.poolAddress);
      if (entry === undefined)
        throw new Error(`Pool ${placed.poolAddress} was not loaded before block ${block.number}.`);
      const event = this.#addEvent(entry, { block, placed });
      if (entry.protocol.isSuperseded(placed.event)) quiet.set(entry, event);
      else {
        quiet.delete(entry);
        added.push(event);
      }
      touched.add(entry);
    }
    this.prices.setAnchors({ blockNumber: block.number, time: block.time });
    const links = this.prices.closeBlock(touched, block.time);
    const at = { chainId: this.chainId, blockNumber: block.number, time: block.time };
    for (const change of links) this.#links.add(toLinkRow(change, at));
    for (const each of added) this.#events.add(this.#rowOf(each, block));
    for (const each of quiet.values()) this.#events.add(this.#rowOf(each, block));
    for (const entry of touched) this.#touched.add(entry);
    this.#added += added.length + quiet.size;
  }

  #addEvent(entry: PoolEntry, at: { block: BlockEvents; placed: PlacedEvent }): AddedEvent {
    const { block, placed } = at;
    const { protocol, state: before } = entry;
    const { event } = placed;
    entry.anchor ??= protocol.write(before);
    const state = protocol.apply(before, event, block.time);
    const lastTime = lastTimeOf(entry);
    entry.state = state;
    entry.lastBlock = block.number;
    entry.lastTime = block.time;
    for (const change of protocol.lpTokens?.changes(event, { state, pool: entry.row }) ?? []) {
      this.positions.add(entry.row.poolAddress, change, {
        blockNumber: block.number,
        logIndex: placed.logIndex,
        blockHash: block.hash,
        time: block.time,
      });
    }
    const tickTravel = event.kind === "swap" ? protocol.tickTravel(before, event) : null;
    return { placed, entry, tickTravel, state, lastTime };
  }

  /** An event's row, with the prices at the end of its block; notes swaps. */
  #rowOf({ placed, entry, tickTravel, state, lastTime }: AddedEvent, block: BlockEvents): PoolEventRow {
    const { protocol, row: pool } = entry;
    const moved = protocol.moved(placed.event);
    const row: PoolEventRow = {
      chainId: this.chainId,
      blockNumber: block.number,
      logIndex: placed.logIndex,
      poolAddress: pool.poolAddress,
      kind: placed.event.kind,
      blockHash: block.hash,
      time: block.time,
      txHash: placed.txHash,
      sender: placed.sender,
      amounts: writeIntegers([moved.amount0, moved.amount1]),
      state: protocol.write(state),
      price0Usd: this.prices.usd(pool.token0Address),
      price1Usd: this.prices.usd(pool.token1Address),
      valueUsd: null,
      feeUsd: null,
      tickTravel,
      previousMinute: null,
      previousUsers: null,
    };
    if (row.kind === "swap") this.#value(row, { entry, event: placed.event, moved, state, lastTime });
    return row;
  }

  /** Values a swap, and notes it to be counted. */
  #value(
    row: PoolEventRow,
    { entry, event, moved, state, lastTime }: Omit<AddedEvent, "placed" | "tickTravel"> & SwapDetails,
  ): void {
    const { protocol, row: pool } = entry;
    const swap = this.#valued(pool, {
      amount0: toWholeTokens(moved.amount0, pool.token0Decimals),
      amount1: toWholeTokens(moved.amount1, pool.token1Decimals),
    });
    row.valueUsd = quantizeOrNull(protocol.valueUsd(swap));
    row.feeUsd = quantizeOrNull(protocol.feeUsd(swap, { event, state, pool }));
    if (protocol.swapFees !== undefined) {
      const { poolAddress, time, blockNumber, logIndex, txHash, valueUsd, feeUsd } = row;
      const fees = protocol.swapFees(state);
      this.v2.add({ poolAddress, time, blockNumber, logIndex, txHash, valueUsd, feeUsd, moved, fees });
      return;
    }
    const swapped = {
      poolAddress: row.poolAddress,
      user: row.sender,
      time: row.time,
      valueUsd: row.valueUsd,
      feeUsd: row.feeUsd,
      tickTravel: row.tickTravel ?? 0,
      // A pool has a price after a swap.
      closePrice: protocol.price(state, pool) ?? 0,
    };
    row.previousMinute = this.#swaps.add(swapped, lastTime);
  }

  /** A swap's amounts with the prices to value it: its own price is that at which it was made. */
  #valued(pool: PoolRow, { amount0, amount1 }: TokenPair): SwapAmounts {
    const { usd0, usd1 } = pairValues(pool.poolAddress, {
      amount0: Math.abs(amount0),
      amount1: Math.abs(amount1),
      token0: this.prices.price(pool.token0Address),
      token1: this.prices.price(pool.token1Address),
      price: Math.abs(amount1 / amount0),
    });
    return { amount0, amount1, price0Usd: usd0, price1Usd: usd1 };
  }

  /** Writes a pool's state with the next batch, though it may have no event of the pool. */
  touch(entry: PoolEntry): void {
    this.#touched.add(entry);
  }

  /** The states of flushed pools as they are now. */
  takeStates({ touched }: FlushedRows): Rows<PoolStateRow> {
    for (const i of orderOf(touched.map(({ row }) => row.poolAddress)))
      this.#states.add(toStateRow(touched[i] as PoolEntry));
    return this.#states.take();
  }

  /**
   * Counts the swaps of flushed rows; returns what they change. More may be added meanwhile, but no other rows may be counted
   * before these are written.
   */
  async count({ events, swaps }: FlushedRows): Promise<CountedRows> {
    await countSwaps(swaps, { book: this.buckets, events });
    return this.buckets.flush();
  }

  /** To be called once flushed rows are written. */
  settle({ touched }: FlushedRows): void {
    const isWaiting = (entry: PoolEntry) =>
      this.#touched.has(entry) || this.#newPools.has(entry.row.poolAddress);
    this.pools.settle(touched, isWaiting);
  }

  /**
   * Forgets what a rollback changed in the store, and loads the changed pools again. Nothing may be waiting to be
   * written. Prices follow (rollbackPrices).
   */
  async rollback(
    target: number,
    { changed, gone }: { changed: readonly string[]; gone: readonly string[] },
  ): Promise<PoolEntry[]> {
    const pools = [...changed, ...gone];
    this.buckets.forget(pools);
    this.v2.forget(pools);
    this.positions.forget(pools);
    this.gauges.rollback(target);
    return this.pools.reload({ changed, gone });
  }

  /** Drops what is cached of pools whose rows another writer has changed; none of it may wait for a flush. */
  forget(pools: readonly string[]): void {
    this.buckets.forget(pools);
    this.v2.forget(pools);
    this.pools.forget(pools);
  }

  flush(): FlushedRows {
    const taken = {
      events: this.#events.take(),
      swaps: this.#swaps.take(),
      pools: [...this.#newPools.values()],
      tokens: [...this.#newTokens.values()],
      gauges: this.#newGauges.splice(0),
      touched: [...this.#touched],
      links: this.#links.take(),
      answers: this.#answers.splice(0),
    };
    this.#touched.clear();
    this.#newPools.clear();
    this.#newTokens.clear();
    this.#added = 0;
    return taken;
  }
}

function quantizeOrNull(usd: number | null): number | null {
  return usd === null ? null : quantizeUsd(usd);
}
