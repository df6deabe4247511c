import type { Store } from "../../../shared/storage/port.ts";
import { withTrade } from "../../metrics/candle.ts";
import { candleOf } from "../../store/candle-row.ts";
import { CANDLE_SECONDS, type CandleRow, candles } from "../../store/collections.ts";
import type { BlockRows } from "../block-rows.ts";
import type { DecodedBlock } from "../indexer-block.ts";
import { type Change, DocBook } from "./doc-book.ts";
import { tradedMints } from "./traded-mints.ts";

/** Minutes, hours and days of tokens. */
export class CandleBook {
  readonly #docs: DocBook<typeof candles>;

  constructor(store: Store) {
    this.#docs = new DocBook(store, { collection: candles });
  }

  load(blocks: readonly DecodedBlock[]): Promise<void> {
    const keys = blocks.flatMap(({ time, transactions }) =>
      transactions.flatMap((transaction) =>
        [...tradedMints(transaction)].flatMap((mint) =>
          CANDLE_SECONDS.map((seconds) => ({ mint, seconds, start: startOf(time, seconds) })),
        ),
      ),
    );
    return this.#docs.load(keys);
  }

  /** Takes in the rows of one block. */
  add({ tokenRows, candleTrades }: BlockRows): void {
    const time = tokenRows[0]?.time;
    if (time === undefined) return;
    const rows = new Map<string, number>();
    for (const { mint } of tokenRows) rows.set(mint, (rows.get(mint) ?? 0) + 1);
    for (const seconds of CANDLE_SECONDS) {
      const start = startOf(time, seconds);
      for (const [mint, count] of rows) this.#count({ mint, seconds, start }, count);
      for (const { mint, ...trade } of candleTrades) {
        const key = { mint, seconds, start };
        const row = this.#docs.get(key) as CandleRow;
        this.#docs.set(key, { ...row, ...withTrade(candleOf(row), trade) });
      }
    }
  }

  take(): Change<CandleRow>[] {
    return this.#docs.take();
  }

  clear(): void {
    this.#docs.clear();
  }

  #count(key: Pick<CandleRow, "mint" | "seconds" | "start">, count: number): void {
    const row = this.#docs.get(key) ?? { ...key, ...EMPTY };
    this.#docs.set(key, { ...row, transactions: row.transactions + count });
  }
}

const EMPTY = {
  open: null,
  high: null,
  low: null,
  close: null,
  volumeUsd: 0,
  volumeToken: 0,
  trades: 0,
  transactions: 0,
};

function startOf(time: number, seconds: number): number {
  return time - (time % seconds);
}
