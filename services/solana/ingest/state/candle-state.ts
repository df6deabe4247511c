import type { Store } from "../../../shared/storage/port.ts";
import {
  type ContestedCandle,
  joinContested,
  NO_CANDLE,
  settleCandle,
  withContestedTrade,
} from "../../metrics/contested-candle.ts";
import type { PriceVerdict } from "../../price/price-book.ts";
import { contestOf, toCandleFields, toContested } from "../../store/candle-row.ts";
import {
  CANDLE_SECONDS,
  type CandleRow,
  candles,
  type PriceVerdictRow,
  priceVerdicts,
} from "../../store/collections.ts";
import type { BlockRows } from "../block-rows.ts";
import type { TimedBlock } from "../timed-block.ts";
import { type Change, DocumentCache } from "./document-cache.ts";
import { findTradedMints } from "./traded-mints.ts";

type CandleKey = Pick<CandleRow, "mint" | "seconds" | "start">;

/**
 * Candles of a minute, an hour and a day by token, and the ends of contests about prices. A candle that is not written
 * again waits for its contest's end as it is: who reads it looks that up.
 */
export class CandleState {
  readonly #docs: DocumentCache<typeof candles>;
  readonly #verdicts: DocumentCache<typeof priceVerdicts>;

  constructor(store: Store) {
    this.#docs = new DocumentCache(store, { collection: candles });
    this.#verdicts = new DocumentCache(store, { collection: priceVerdicts });
  }

  async load(blocks: readonly TimedBlock[]): Promise<void> {
    const keys = blocks.flatMap(({ time, transactions }) => {
      const mints = new Set<string>();
      for (const transaction of transactions)
        for (const mint of findTradedMints(transaction)) mints.add(mint);
      return [...mints].flatMap((mint) =>
        CANDLE_SECONDS.map((seconds) => ({ mint, seconds, start: startOfCandle(time, seconds) })),
      );
    });
    await this.#docs.load(keys);
    const waiting = keys.flatMap((key) => {
      const row = this.#docs.get(key);
      return (row && contestOf(row)) ?? [];
    });
    await this.#verdicts.load(waiting);
  }

  /** Adds the ends of contests, each of which comes once, before the rows of the block that ended them. */
  end(verdicts: readonly PriceVerdict[]): void {
    for (const { mint, slot, contest, isRefused } of verdicts) {
      const key = { mint, since: contest.since };
      this.#verdicts.assumeAbsent(key);
      this.#verdicts.set(key, { ...key, isRefused, pools: contest.pools, slot });
    }
  }

  /** Adds the rows of one block: joins each token's trades first, then adds them to all its candles. */
  add({ tokenRows, candleTrades }: BlockRows): void {
    const time = tokenRows[0]?.time;
    if (time === undefined) return;
    const counts = new Map<string, number>();
    for (const { mint } of tokenRows) counts.set(mint, (counts.get(mint) ?? 0) + 1);
    const traded = new Map<string, ContestedCandle>();
    for (const trade of candleTrades)
      traded.set(trade.mint, withContestedTrade(traded.get(trade.mint) ?? NO_CANDLE, trade));
    for (const seconds of CANDLE_SECONDS) {
      const start = startOfCandle(time, seconds);
      for (const [mint, count] of counts) this.#add({ mint, seconds, start }, count, traded.get(mint));
    }
  }

  take(): { candles: Change<CandleRow>[]; priceVerdicts: Change<PriceVerdictRow>[] } {
    return { candles: this.#docs.take(), priceVerdicts: this.#verdicts.take() };
  }

  clear(): void {
    this.#docs.clear();
    this.#verdicts.clear();
  }

  #add(key: CandleKey, count: number, traded: ContestedCandle | undefined): void {
    const row = this.#docs.get(key);
    let candle = row === undefined ? NO_CANDLE : toContested(row);
    candle = settleCandle(candle, (contest) => this.#verdicts.find(contest)?.isRefused);
    if (traded !== undefined) candle = joinContested(candle, traded);
    const { mint, seconds, start } = key;
    const transactions = (row?.transactions ?? 0) + count;
    this.#docs.set(key, { mint, seconds, start, ...toCandleFields(candle), transactions });
  }
}

function startOfCandle(time: number, seconds: number): number {
  return time - (time % seconds);
}
