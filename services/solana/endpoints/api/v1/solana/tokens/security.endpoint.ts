import { defineColumns, defineEndpoint } from "../../../../../../shared/contract/define.ts";
import { tokenAddress } from "../../../../params.ts";

const DAY =
  "over the 24 hours up to the indexed head, whose open minute is the last; null where those are not all indexed";

const SUPPLY = "null while the supply is unknown, or 0 as wrapped SOL's is";

const KNOWN = "the known holders have 99 % of it";

const WHOLE_SET = "null without holders, and unless the known ones have 99 % of totalSupply";

const concentration = defineColumns([
  {
    name: "top5HolderConcentration",
    type: "Nullable(Float64)",
    unit: "percent",
    description: `100 × balance of the 5 largest holders / totalSupply; ${SUPPLY}, and unless ${KNOWN} or its largest accounts were read.`,
  },
  {
    name: "top10HolderConcentration",
    type: "Nullable(Float64)",
    unit: "percent",
    description: `100 × balance of the 10 largest holders / totalSupply; ${SUPPLY}, and unless ${KNOWN} or its largest accounts were read.`,
  },
  {
    name: "top20HolderConcentration",
    type: "Nullable(Float64)",
    unit: "percent",
    description: `100 × balance of the 20 largest holders / totalSupply; ${SUPPLY}, and unless ${KNOWN} or its largest accounts were read.`,
  },
  {
    name: "top50HolderConcentration",
    type: "Nullable(Float64)",
    unit: "percent",
    description: `100 × balance of the 50 largest holders / totalSupply; ${SUPPLY}, and unless ${KNOWN}.`,
  },
  {
    name: "medianBalance",
    type: "Nullable(Float64)",
    unit: "token units",
    description: `Median balance of the holders, of an even number the mean of the middle two; ${WHOLE_SET}.`,
  },
  {
    name: "bottom10pctBalance",
    type: "Nullable(Float64)",
    unit: "token units",
    description: `Least balance that 10 % of the holders do not exceed; ${WHOLE_SET}.`,
  },
  {
    name: "top10pctBalance",
    type: "Nullable(Float64)",
    unit: "token units",
    description: `Greatest balance that 10 % of the holders reach or exceed; ${WHOLE_SET}.`,
  },
]);

const activity = defineColumns([
  {
    name: "transaction1dCount",
    type: "Nullable(UInt64)",
    unit: "transactions",
    description: `Trades and liquidity transactions of the token ${DAY}.`,
  },
  {
    name: "activeAccounts1dCount",
    type: "Nullable(UInt64)",
    unit: "accounts",
    description: `Distinct accounts that signed those transactions ${DAY}.`,
  },
  {
    name: "txUniquenessRatio",
    type: "Nullable(Float64)",
    unit: "fraction",
    description: "activeAccounts1dCount / transaction1dCount; null without transactions.",
  },
  {
    name: "priceVolatility30d",
    type: "Nullable(Float64)",
    unit: "fraction",
    description:
      "Sample standard deviation of the log returns between the daily closes of the previous 30 completed UTC days, not annualised; a day without a trade keeps the close before it; null below 3 closes or where the days are not all indexed.",
  },
]);

const mint = defineColumns([
  {
    name: "mintAuthority",
    type: "Nullable(String)",
    description: "Account that may mint more; null when given up, or while the mint is unread.",
  },
  {
    name: "freezeAuthority",
    type: "Nullable(String)",
    description: "Account that may freeze balances; null when given up, or while the mint is unread.",
  },
  { name: "isToken2022", type: "Bool", description: "True when the mint belongs to the Token-2022 program." },
  {
    name: "transferFeeBps",
    type: "Nullable(UInt32)",
    unit: "basis points",
    description:
      "Transfer fee in force (Token-2022 extension), 0 without one; null while the extensions are unread.",
  },
  {
    name: "nonTransferable",
    type: "Nullable(Bool)",
    description:
      "True when balances cannot move (Token-2022 extension); null while the extensions are unread.",
  },
  {
    name: "mutableMetadata",
    type: "Nullable(Bool)",
    description: "True when name and symbol may still change; null while the metadata is unread.",
  },
  {
    name: "securityScore",
    type: "Nullable(Float64)",
    unit: "0 to 100",
    description:
      "100 − 30 with a mintAuthority − 20 with a freezeAuthority − 10 if mutableMetadata − 10 if transferFeeBps > 0 − 10 if nonTransferable − 20 × min(top10HolderConcentration, 100) / 100 (this service's own formula); null while one of them is unknown.",
  },
]);

export const endpoint = defineEndpoint({
  family: "solana",
  path: "/api/v1/solana/tokens/security",
  summary: "Security figures of one token",
  description: "Holder concentration, activity and authorities of one token, in one row.",
  mediaType: "application/json",
  body: "object",
  params: { token_address: tokenAddress },
  columns: [
    { name: "address", type: "String", description: "Mint address of the token." },
    { name: "chain", type: "String", description: "Always solana." },
    {
      name: "symbol",
      type: "String",
      description: "Symbol in the token's metadata; empty where it has none.",
    },
    { name: "name", type: "String", description: "Name in the token's metadata; empty where it has none." },
    {
      name: "totalSupply",
      type: "Nullable(Float64)",
      unit: "token units",
      description: "Supply of the mint / 10^decimals; null while the mint is unread.",
    },
    {
      name: "holderCount",
      type: "UInt64",
      unit: "accounts",
      description: "Wallets with a balance above zero, of those known.",
    },
    ...concentration,
    ...activity,
    ...mint,
  ],
  rowOrder: "one row",
  whenAbsent: "empty",
});
