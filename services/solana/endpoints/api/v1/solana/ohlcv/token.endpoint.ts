import { checkCandles, INTERVALS, MAX_CANDLES } from "../../../../../../shared/contract/candle-params.ts";
import { defineEndpoint } from "../../../../../../shared/contract/define.ts";
import { oneOf } from "../../../../../../shared/contract/param.ts";
import { checkWindow, requiredWindow } from "../../../../../../shared/contract/window.ts";
import { COVERED_PROGRAMS } from "../../../../columns.ts";
import { tokenAddress } from "../../../../params.ts";

export const endpoint = defineEndpoint({
  family: "solana",
  path: "/api/v1/solana/ohlcv/token",
  summary: "Price candles of one token",
  description: `Candles of the token's priced trades: those that begin in the time range, each whole, the latest as far as it is indexed. Candles without a trade are omitted, and so is one that begins before the first indexed block; a range of more than ${MAX_CANDLES} candles is refused. Candles start at whole multiples of the interval since 1970-01-01, weeks on Mondays (UTC). Left out: trades without a price, dust (less than 1,000 raw units on a side), and trades of pools that say little of the token, thin or new ones (docs/prices-solana.md); token-transactions has them all, so that its sums can be higher. A price far beyond what the token's other pools say is shown as far as these support it, and candles of up to a day ago change where a price is taken back (docs/prices-solana.md). ${COVERED_PROGRAMS}`,
  mediaType: "application/json",
  body: "object",
  params: {
    token_address: tokenAddress,
    ...requiredWindow,
    interval: oneOf(INTERVALS, {
      description: `Length of a candle; at most ${MAX_CANDLES} may begin in the time range.`,
      example: "5m",
    }),
  },
  columns: [
    {
      name: "openPrice",
      type: "Float64",
      unit: "USD",
      description:
        "Price of the first trade in the candle; of all prices, per multiplied token (see uiAmountMultiplier of tokens/security).",
    },
    {
      name: "highPrice",
      type: "Float64",
      unit: "USD",
      description: "Highest price of a trade in the candle.",
    },
    { name: "lowPrice", type: "Float64", unit: "USD", description: "Lowest price of a trade in the candle." },
    {
      name: "closePrice",
      type: "Float64",
      unit: "USD",
      description: "Price of the last trade in the candle.",
    },
    { name: "volume", type: "Float64", unit: "USD", description: "Sum of the counted trades' USD values." },
    {
      name: "volumeToken",
      type: "Float64",
      unit: "token units",
      description: "Sum of the trades' token amounts, times the mint's multiplier at the head.",
    },
    { name: "unixTime", type: "Int64", unit: "Unix seconds", description: "Start of the candle." },
    { name: "interval", type: "String", description: "The requested interval." },
    {
      name: "tradeCount",
      type: "UInt64",
      unit: "trades",
      description:
        "Number of counted trades: priced ones, without dust and without those of pools that say little of the token (docs/prices-solana.md).",
    },
  ],
  rowOrder: "unixTime ascending",
  whenAbsent: "empty",
  check(params) {
    checkWindow(params);
    checkCandles(params);
  },
});
