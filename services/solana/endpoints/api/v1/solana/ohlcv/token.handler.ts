import { toCells } from "../../../../../../shared/contract/cells.ts";
import type { Handler } from "../../../../../../shared/contract/endpoint.ts";
import { Pacer } from "../../../../../../shared/service/pacer.ts";
import { answerAtHead } from "../../../../../serve/answer.ts";
import { findCoveredFrom } from "../../../../../serve/coverage.ts";
import type { ServeDeps } from "../../../../../serve/deps.ts";
import { readCandles } from "../../../../../serve/tokens/candles.ts";
import { readMultiplier } from "../../../../../serve/tokens/ui-amounts.ts";
import { endpoint } from "./token.endpoint.ts";

export function ohlcvTokenHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params, { signal }) => {
    const { token_address: mint, interval } = params;
    return answerAtHead(deps.store, {
      endpoint,
      dataKind: "documents",
      signal,
      read: async (checkpoint, store) => {
        const found = await readCandles(store, {
          mint,
          range: params,
          coveredFrom: findCoveredFrom(checkpoint),
          pacer: new Pacer(signal),
        });
        const multiplier = await readMultiplier(store, { mint, time: checkpoint.time });
        return found.map(({ start, candle }) =>
          toCells(endpoint, {
            openPrice: candle.open / multiplier,
            highPrice: candle.high / multiplier,
            lowPrice: candle.low / multiplier,
            closePrice: candle.close / multiplier,
            volume: candle.volumeUsd,
            volumeToken: candle.volumeToken * multiplier,
            unixTime: start,
            interval,
            tradeCount: candle.trades,
          }),
        );
      },
    });
  };
}
