import { toCells } from "../../../../shared/contract/cells.ts";
import type { Handler } from "../../../../shared/contract/endpoint.ts";
import { versionOf } from "../../../../shared/index/evm/checkpoint.ts";
import { Pacer } from "../../../../shared/service/pacer.ts";
import { findPricePath } from "../../../serve/candles/price-path.ts";
import { readPoolCandles } from "../../../serve/candles/read-candles.ts";
import type { ServeDeps } from "../../../serve/deps.ts";
import { readAtHead } from "../../../serve/head.ts";
import { toCandleCells } from "../../candle-columns.ts";
import { endpoint } from "./token.endpoint.ts";

export function ohlcvTokenHandler({ store }: Pick<ServeDeps, "store">): Handler<typeof endpoint> {
  return async ({ chain_id, token_address: token, after_time, before_time, interval }, { signal }) => {
    const range = { after_time, before_time, interval };
    const found = await readAtHead(store, {
      chainId: chain_id,
      inSnapshot: true,
      signal,
      read: async (checkpoint, view) => {
        const path = await findPricePath(view, { token, checkpoint });
        const [step, ...steps] = path?.steps ?? [];
        if (path === undefined || step === undefined) return undefined;
        const { pool, side: base } = step;
        const { candles, span } = await readPoolCandles(view, {
          ...{ pool, base, range, checkpoint, pacer: new Pacer(signal) },
          path: { steps, anchor: path.anchor },
        });
        return { candles, span, poolAddress: pool.poolAddress };
      },
    });
    if (found === undefined) return { rows: [] };
    const version = versionOf(found.checkpoint);
    if (found.value === undefined) return { rows: [], version };
    const { candles, span, poolAddress } = found.value;
    const rows = candles.flatMap((candle) => {
      const { open, high, low, close } = candle;
      if (open.usd === null || high.usd === null || low.usd === null || close.usd === null) return [];
      const cells = toCells(endpoint, {
        openPrice: open.usd,
        highPrice: high.usd,
        lowPrice: low.usd,
        closePrice: close.usd,
        poolAddress,
        ...toCandleCells(candle, { interval, span }),
      });
      return [cells];
    });
    return { rows, version };
  };
}
