import type { Store } from "../../../shared/storage/port.ts";
import { type Candle, joinCandles, withTrade } from "../../metrics/candle.ts";
import { toCandle } from "../../store/candle-row.ts";
import { CANDLE_SECONDS, type CandleRow, candles } from "../../store/collections.ts";
import type { BlockRows } from "../block-rows.ts";
import type { TimedBlock } from "../timed-block.ts";
import { type Change, DocumentCache } from "./document-cache.ts";
import { findTradedMints } from "./traded-mints.ts";

/** Candles of a minute, an hour and a day by token. */
export class CandleState {
  readonly #docs: DocumentCache<typeof candles>;

  constructor(store: Store) {
    this.#docs = new DocumentCache(store, { collection: candles });
  }

  load(blocks: readonly TimedBlock[]): Promise<void> {
    const keys = blocks.flatMap(({ time, transactions }) => {
      const mints = new Set<string>();
      for (const transaction of transactions)
        for (const mint of findTradedMints(transaction)) mints.add(mint);
      return [...mints].flatMap((mint) =>
        CANDLE_SECONDS.map((seconds) => ({ mint, seconds, start: startOfCandle(time, seconds) })),
      );
    });
    return this.#docs.load(keys);
  }

  /** Adds the rows of one block: joins each token's trades first, then adds them to all its candles. */
  add({ tokenRows, candleTrades }: BlockRows): void {
    const time = tokenRows[0]?.time;
    if (time === undefined) return;
    const counts = new Map<string, number>();
    for (const { mint } of tokenRows) counts.set(mint, (counts.get(mint) ?? 0) + 1);
    const traded = new Map<string, Candle>();
    for (const trade of candleTrades) traded.set(trade.mint, withTrade(traded.get(trade.mint), trade));
    for (const seconds of CANDLE_SECONDS) {
      const start = startOfCandle(time, seconds);
      for (const [mint, count] of counts) this.#add({ mint, seconds, start }, count, traded.get(mint));
    }
  }

  take(): Change<CandleRow>[] {
    return this.#docs.take();
  }

  clear(): void {
    this.#docs.clear();
  }

  #add(key: Pick<CandleRow, "mint" | "seconds" | "start">, count: number, traded: Candle | undefined): void {
    const row = this.#docs.get(key);
    const known = row && toCandle(row);
    const candle =
      known === undefined || traded === undefined ? (traded ?? known) : joinCandles([known, traded]);
    this.#docs.set(key, toRow(key, candle, (row?.transactions ?? 0) + count));
  }
}

function toRow(
  { mint, seconds, start }: Pick<CandleRow, "mint" | "seconds" | "start">,
  candle: Candle | undefined,
  transactions: number,
): CandleRow {
  return {
    mint,
    seconds,
    start,
    open: candle?.open ?? null,
    high: candle?.high ?? null,
    low: candle?.low ?? null,
    close: candle?.close ?? null,
    volumeUsd: candle?.volumeUsd ?? 0,
    volumeToken: candle?.volumeToken ?? 0,
    trades: candle?.trades ?? 0,
    transactions,
  };
}

function startOfCandle(time: number, seconds: number): number {
  return time - (time % seconds);
}
