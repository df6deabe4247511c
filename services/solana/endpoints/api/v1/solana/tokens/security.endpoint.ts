import { defineColumns, defineEndpoint } from "../../../../../../shared/contract/define.ts";
import { tokenAddress } from "../../../../params.ts";

const DAY =
  "over the 24 hours up to the indexed head, whose open minute is the last; null where those are not all indexed";

const COVERED =
  "null unless holdersCoverage is at least the share that the operator has set (SOLANA_HOLDERS_PERCENT, 95 % by default)";

const APPROXIMATE =
  "exact, except among more than 20,000 holders within 6 % of each other, where it is interpolated between the least and the greatest of these";

const concentration = defineColumns([
  {
    name: "top5HolderConcentration",
    type: "Nullable(Float64)",
    unit: "percent",
    description: `100 × balance of the 5 largest holders / totalSupply; ${COVERED}.`,
  },
  {
    name: "top10HolderConcentration",
    type: "Nullable(Float64)",
    unit: "percent",
    description: `100 × balance of the 10 largest holders / totalSupply; ${COVERED}.`,
  },
  {
    name: "top20HolderConcentration",
    type: "Nullable(Float64)",
    unit: "percent",
    description: `100 × balance of the 20 largest holders / totalSupply; ${COVERED}.`,
  },
  {
    name: "top50HolderConcentration",
    type: "Nullable(Float64)",
    unit: "percent",
    description: `100 × balance of the 50 largest holders / totalSupply; ${COVERED}.`,
  },
  {
    name: "medianBalance",
    type: "Nullable(Float64)",
    unit: "token units",
    description: `Median balance of the holders, of an even number the mean of the middle two; ${APPROXIMATE}; null without holders, and ${COVERED}.`,
  },
  {
    name: "bottom10pctBalance",
    type: "Nullable(Float64)",
    unit: "token units",
    description: `Least balance that 10 % of the holders do not exceed; ${APPROXIMATE}; null without holders, and ${COVERED}.`,
  },
  {
    name: "top10pctBalance",
    type: "Nullable(Float64)",
    unit: "token units",
    description: `Greatest balance that 10 % of the holders reach or exceed; ${APPROXIMATE}; null without holders, and ${COVERED}.`,
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
      "Transfer fee in force at the indexed head's epoch (Token-2022 extension), 0 without one; null while the extensions are unread.",
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
      "max(0, 100 − 30 with a mintAuthority − 20 with a freezeAuthority − 10 if mutableMetadata − 10 if transferFeeBps > 0 − 10 if nonTransferable − 40 with a permanentDelegate − 20 with a transferHookProgram, or 10 with a transferHookAuthority alone − 20 if frozenByDefault − 20 if pausable, or 40 if paused − 5 with a mintCloseAuthority − 5 if uiAmountChanges − 5 if confidentialTransfers − 20 × min(top10HolderConcentration, 100) / 100) (this service's own formula); null while one of them is unknown.",
  },
]);

const UNREAD = "null while the extensions are unread";

/** Token-2022's extensions that let somebody act on what others hold. Behind the columns that existed before them. */
const extensions = defineColumns([
  {
    name: "permanentDelegate",
    type: "Nullable(String)",
    description: `Account that may move or burn anybody's balance (PermanentDelegate); null without one, and ${UNREAD}.`,
  },
  {
    name: "transferHookProgram",
    type: "Nullable(String)",
    description: `Program that every transfer calls and that may refuse it (TransferHook); null without one, and ${UNREAD}.`,
  },
  {
    name: "transferHookAuthority",
    type: "Nullable(String)",
    description: `Account that may set or replace transferHookProgram; null without one, and ${UNREAD}.`,
  },
  {
    name: "frozenByDefault",
    type: "Nullable(Bool)",
    description: `True when new token accounts are frozen until the freezeAuthority thaws them (DefaultAccountState); ${UNREAD}.`,
  },
  {
    name: "pausable",
    type: "Nullable(Bool)",
    description: `True when somebody may stop all transfers, mints and burns, or has done so (Pausable); ${UNREAD}.`,
  },
  {
    name: "paused",
    type: "Nullable(Bool)",
    description: `True while they are stopped; ${UNREAD}.`,
  },
  {
    name: "mintCloseAuthority",
    type: "Nullable(String)",
    description: `Account that may close the mint once its supply is 0, and create another in its place (MintCloseAuthority); null without one, and ${UNREAD}.`,
  },
  {
    name: "uiAmountMultiplier",
    type: "Nullable(Float64)",
    unit: "factor",
    description: `What amounts in token units are multiplied by, and prices divided by, at the indexed head: 1 without ScaledUiAmount and InterestBearing; ${UNREAD}.`,
  },
  {
    name: "uiAmountChanges",
    type: "Nullable(Bool)",
    description: `True when uiAmountMultiplier can change (ScaledUiAmount, InterestBearing); ${UNREAD}.`,
  },
  {
    name: "confidentialTransfers",
    type: "Nullable(Bool)",
    description: `True when balances may be hidden (ConfidentialTransfer); hidden ones are in no figure of holders, and count as not covered; ${UNREAD}.`,
  },
  {
    name: "holdersCoverage",
    type: "Nullable(Float64)",
    unit: "fraction",
    description:
      "Balances of the known holders / totalSupply, at most 1. A wallet that has not moved the token since the index began is unknown until the token's accounts are read, which a request for this endpoint or for its holders asks for. Null while the supply is unknown, or 0 as wrapped SOL's is.",
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
      description: "Supply of the mint / 10^decimals × uiAmountMultiplier; null while the mint is unread.",
    },
    {
      name: "holderCount",
      type: "Nullable(UInt64)",
      unit: "accounts",
      description: `Wallets with a balance above zero; ${COVERED}.`,
    },
    ...concentration,
    ...activity,
    ...mint,
    ...extensions,
  ],
  rowOrder: "one row",
  whenAbsent: "empty",
});
