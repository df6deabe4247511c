import { countCandles } from "../../../../shared/contract/candle-params.ts";
import { defineEndpoint } from "../../../../shared/contract/define.ts";
import { evmAddress, oneOf, text } from "../../../../shared/contract/param.ts";
import { parameterError } from "../../../../shared/contract/parameter-error.ts";
import { checkWindow, requiredWindow } from "../../../../shared/contract/window.ts";
import { lendingChain } from "../../params.ts";

/** Each point is made of all states that the row rests on. */
const MAX_POINTS = 200;

export const endpoint = defineEndpoint({
  family: "lending",
  path: "/evm/lending/rates",
  summary: "History of a vault's or market's rates",
  description: `An addition to the specification. APYs, utilisation and amounts of one vault, Aave reserve or market of any lending protocol at the end of each hour or day that begins in the time range, the latest as of the head; made as rows of the lists are, of the last states that were read in each hour, with interest accrued to the end of the hour. At most ${MAX_POINTS} points; those that end before the index began, and those of before it was found, are left out. Amounts are whole tokens: prices of earlier times are not kept here.`,
  mediaType: "application/vnd.service.table.v0.0.1+json",
  body: "array",
  params: {
    ...lendingChain,
    id: text({
      description: "vaultAddress, poolAddress (with underlying_address) or marketId, as lists show it.",
      example: "0xc1256ae5ff1cf2719d4937adb3bbccab2e00a2ca",
    }),
    underlying_address: evmAddress({
      description:
        "Of an Aave Pool, which has many reserves: the token of the reserve. Required for a poolAddress.",
      example: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    }).optional(),
    ...requiredWindow,
    interval: oneOf(["1h", "1d"], {
      description: "An hour or a UTC day from one point to the next.",
      example: "1h",
    }).default("1h"),
  },
  columns: [
    {
      name: "unixTime",
      type: "Int64",
      unit: "Unix seconds",
      description: "Start of the hour or day; the figures are of its end.",
    },
    { name: "protocolId", type: "String", description: "Lending protocol: aave-v3, euler-v2 or morpho-v1." },
    {
      name: "supplyApy",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: "APY of suppliers, as supplyApy of the lists: before a vault's performance fee.",
    },
    {
      name: "borrowApy",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: "APY of borrowers, as borrowApy of the lists.",
    },
    {
      name: "utilizationRate",
      type: "Float64",
      unit: "fraction",
      description: "Borrowed share, as utilizationRate of the lists.",
    },
    {
      name: "tvl",
      type: "Float64",
      unit: "token units",
      description: "Supplied tokens, interest included: tvlUsd of the lists before its price.",
    },
    {
      name: "borrow",
      type: "Float64",
      unit: "token units",
      description: "Borrowed tokens, interest included.",
    },
    {
      name: "availableLiquidity",
      type: "Float64",
      unit: "token units",
      description: "Tokens that suppliers could withdraw.",
    },
    {
      name: "tokenAddress",
      type: "String",
      description: "The token of the amounts: the vault's underlying or the market's loan token.",
    },
    { name: "tokenSymbol", type: "String", description: "Symbol of that token." },
  ],
  rowOrder: "unixTime ascending",
  whenAbsent: "not_found",
  check(params) {
    checkWindow(params);
    const points = countCandles(params);
    if (points <= MAX_POINTS) return;
    const rule = `"${params.interval}" makes ${points} points of this time range, which is above ${MAX_POINTS}`;
    throw parameterError("interval", rule);
  },
});
