import { toCells } from "../../../../shared/contract/cells.ts";
import type { Handler } from "../../../../shared/contract/endpoint.ts";
import { versionOf } from "../../../../shared/index/evm/checkpoint.ts";
import { notFoundError } from "../../../../shared/service/handlers.ts";
import { Pacer } from "../../../../shared/service/pacer.ts";
import { readCandleTvls } from "../../../serve/candles/candle-tvls.ts";
import { findPricePath } from "../../../serve/candles/price-path.ts";
import { readPoolCandles } from "../../../serve/candles/read-candles.ts";
import type { ServeDeps } from "../../../serve/deps.ts";
import { readAtHead } from "../../../serve/head.ts";
import { getPool } from "../../../store/queries.ts";
import { toCandleCells } from "../../candle-columns.ts";
import { endpoint } from "./pool.endpoint.ts";

export function ohlcvPoolHandler({ store }: Pick<ServeDeps, "store">): Handler<typeof endpoint> {
  return async (params, { signal }) => {
    const key = { chainId: params.chain_id, poolAddress: params.pool_address };
    const pool = await getPool(store.within(signal), key);
    if (pool === undefined) throw notFoundError(endpoint, params);
    const { after_time, before_time, interval } = params;
    const [base, other] =
      params.base === "token0" ? ([0, pool.token1Address] as const) : ([1, pool.token0Address] as const);
    const found = await readAtHead(store, {
      chainId: params.chain_id,
      inSnapshot: true,
      signal,
      read: async (checkpoint, view) => {
        const pacer = new Pacer(signal);
        const found = await readPoolCandles(view, {
          ...{ pool, base, checkpoint, pacer },
          path: await findPricePath(view, { token: other, checkpoint }),
          range: { after_time, before_time, interval },
        });
        const starts = found.candles.map(({ start }) => start);
        return { ...found, tvls: await readCandleTvls(view, { pool, interval, starts, pacer }) };
      },
    });
    if (found === undefined) throw notFoundError(endpoint, params);
    const { candles, span, tvls } = found.value;
    const rows = candles.map((candle) => {
      const { open, high, low, close } = candle;
      return toCells(endpoint, {
        openPrice: open.usd,
        highPrice: high.usd,
        lowPrice: low.usd,
        closePrice: close.usd,
        openPairPrice: open.pair,
        highPairPrice: high.pair,
        lowPairPrice: low.pair,
        closePairPrice: close.pair,
        poolTvlUsd: tvls.get(candle.start) ?? null,
        ...toCandleCells(candle, { interval, span }),
      });
    });
    return { rows, version: versionOf(found.checkpoint) };
  };
}
