import { defineEndpoint } from "../../../../shared/contract/define.ts";
import { chainId, evmAddress } from "../../../../shared/contract/param.ts";
import { checkWindow } from "../../../../shared/contract/window.ts";
import { CANDLE_RULES, candleColumns, candleWindow, PRICE_WORDS } from "../../candle-columns.ts";
import { checkCandleRange } from "../../candle-params.ts";

const BY_PATH = "in USD, by that of the pool's other token then.";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/ohlcv/token",
  summary: "Price candles of one token",
  description: `An addition to the specification. Candles in USD of the pool that the token's price rests on at the head: the deepest one that agrees with the price where it is at least 30 days old, else the one of the weighted median (docs/prices.md); no pool that a stranger makes becomes it by being deep alone. poolAddress names it. ${CANDLE_RULES} A token without a price has no candles, nor has a stablecoin that other prices start from; candles of a time in which the pool's other token had no price are left out.`,
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: "array",
  params: {
    chain_id: chainId([1, 8453]),
    token_address: evmAddress({
      description: "Address of the token.",
      example: "0x4200000000000000000000000000000000000006",
    }),
    ...candleWindow,
  },
  columns: [
    { name: "openPrice", type: "Float64", unit: "USD", description: `${PRICE_WORDS.open}; ${BY_PATH}` },
    { name: "highPrice", type: "Float64", unit: "USD", description: `${PRICE_WORDS.high}; ${BY_PATH}` },
    { name: "lowPrice", type: "Float64", unit: "USD", description: `${PRICE_WORDS.low}; ${BY_PATH}` },
    { name: "closePrice", type: "Float64", unit: "USD", description: `${PRICE_WORDS.close}; ${BY_PATH}` },
    ...candleColumns,
    {
      name: "poolAddress",
      type: "String",
      description: "The pool whose prices and swaps these are, the same in all rows.",
    },
  ],
  rowOrder: "unixTime ascending",
  whenAbsent: "empty",
  check(params) {
    checkWindow(params);
    checkCandleRange(params);
  },
});
