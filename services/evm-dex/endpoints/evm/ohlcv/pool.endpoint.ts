import { defineEndpoint } from "../../../../shared/contract/define.ts";
import { oneOf } from "../../../../shared/contract/param.ts";
import { checkWindow } from "../../../../shared/contract/window.ts";
import { CANDLE_RULES, candleColumns, candleWindow, PRICE_WORDS } from "../../candle-columns.ts";
import { checkCandleRange } from "../../candle-params.ts";
import { onePool } from "../../params.ts";

const IN_USD =
  "in USD, by the USD price of the other token then: over the pools that price that token at the head (docs/additions.md). Null while it has none.";
const IN_PAIR = "in the other token of the pool, whole tokens.";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/ohlcv/pool",
  summary: "Price candles of one pool",
  description: `An addition to the specification. Candles of a pool of any indexed DEX. ${CANDLE_RULES} A pool shows its own price, whoever has moved it: ohlcv/token shows that of a pool that the price rules trust.`,
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: "array",
  params: {
    ...onePool([1, 8453], "0xd0b53d9277642d899df5c87a3966a349a798f224"),
    ...candleWindow,
    base: oneOf(["token0", "token1"], {
      description:
        "The token whose prices these are, in USD and in the other one; token0 where it is not sent.",
      example: "token0",
    }).default("token0"),
  },
  columns: [
    {
      name: "openPrice",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `${PRICE_WORDS.open}; ${IN_USD}`,
    },
    {
      name: "highPrice",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `${PRICE_WORDS.high}; ${IN_USD}`,
    },
    {
      name: "lowPrice",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `${PRICE_WORDS.low}; ${IN_USD}`,
    },
    {
      name: "closePrice",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `${PRICE_WORDS.close}; ${IN_USD}`,
    },
    ...candleColumns,
    {
      name: "openPairPrice",
      type: "Float64",
      unit: "other token per base token",
      description: `${PRICE_WORDS.open}; ${IN_PAIR}`,
    },
    {
      name: "highPairPrice",
      type: "Float64",
      unit: "other token per base token",
      description: `${PRICE_WORDS.high}; ${IN_PAIR}`,
    },
    {
      name: "lowPairPrice",
      type: "Float64",
      unit: "other token per base token",
      description: `${PRICE_WORDS.low}; ${IN_PAIR}`,
    },
    {
      name: "closePairPrice",
      type: "Float64",
      unit: "other token per base token",
      description: `${PRICE_WORDS.close}; ${IN_PAIR}`,
    },
    {
      name: "poolTvlUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description:
        "TVL after the pool's last event in the candle, by the prices of that event's block: poolTvlUsd of the pool's endpoint with at_block. Null where a token had no price, and where it cannot be told: before EVM_RAW_DAYS it is kept by hour for 40 days and by day for ever, so candles of less than an hour there, and of less than a day before 40 days, have none.",
    },
  ],
  rowOrder: "unixTime ascending",
  whenAbsent: "not_found",
  check(params) {
    checkWindow(params);
    checkCandleRange(params);
  },
});
