import { expect } from "chai";
import { describe, it } from "mocha";
import { describeSpec, type ParameterRule } from "../shared/testkit/spec-suite.ts";
import { endpoints } from "./contract.ts";

// The interface specification's tables for this service, typed out, and the design's for the paths the specification only
// names. Nothing here comes from the declarations, so that a wrong declaration is caught; imports the
// endpoints and nothing else of the service.

const MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const ADDRESS: ParameterRule = {
  good: [MINT, "So11111111111111111111111111111111111111112", "11111111111111111111111111111111"],
  bad: [
    "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    `${MINT}1`,
    "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt10",
    "z".repeat(44),
    "1".repeat(31),
  ],
};
const REQUIRED_ADDRESS: ParameterRule = { ...ADDRESS, required: true };
const DAYS: ParameterRule = { required: true, good: ["1", "30", "3650"], bad: ["0", "-1", "1.5", "3651"] };
const TIME: ParameterRule = {
  good: ["0", "1735689600", "1735776000"],
  bad: ["-1", "1.5", "2025-01-01", "1735689600000"],
};
const REQUIRED_TIME: ParameterRule = { ...TIME, required: true };
const LIMIT: ParameterRule = { default: 100, good: ["1", "1000"], bad: ["0", "1001"] };
const OFFSET: ParameterRule = { default: 0, good: ["0", "100000"], bad: ["-1", "100001"] };
const PAGE = { limit: LIMIT, offset: OFFSET };
const WINDOW = { after_time: REQUIRED_TIME, before_time: REQUIRED_TIME };

const POOL_TRANSACTION = [
  "signature String",
  "slot UInt64",
  "txType String",
  "amountIn Float64",
  "amountOut Float64",
  "tokenInAddress String",
  "tokenInSymbol String",
  "tokenOutAddress String",
  "tokenOutSymbol String",
  "valueUSD Nullable(Float64)",
  "dex String",
  "blockTime UInt32",
  "instructionIndex UInt32",
];

interface Row {
  readonly params: Readonly<Record<string, ParameterRule>>;
  readonly columns: readonly string[];
  readonly order?: readonly string[];
  readonly paid?: true;
}

const TABLE: Readonly<Record<string, Row>> = {
  "/api/v1/solana/token-transactions": {
    paid: true,
    params: {
      token_address: REQUIRED_ADDRESS,
      days: DAYS,
      after_time: TIME,
      before_time: TIME,
      tx_type: {
        good: ["buy", "sell", "add_liquidity", "remove_liquidity"],
        bad: ["trade", "Buy", "swap"],
      },
      dex: { good: ["raydium", "orca", "meteora", "pumpfun"], bad: ["jupiter", "Raydium"] },
      pool_address: ADDRESS,
      min_value_usd: { good: ["0", "10", "10.5"], bad: ["-1", "1e3", "x"] },
      ...PAGE,
    },
    columns: [
      "transactionHash String",
      "slot UInt64",
      "blockTime UInt32",
      "transactionType String",
      "tokenAmount Float64",
      "valueUSD Float64",
      "priceUSD Float64",
      "dex String",
      "poolAddress String",
      "instructionIndex UInt32",
    ],
  },
  "/api/v1/solana/token-transactions-time-bounded": {
    paid: true,
    params: { token_address: REQUIRED_ADDRESS, ...WINDOW, ...PAGE },
    columns: [
      "signature String",
      "slot UInt64",
      "txType String",
      "tokenAmount Float64",
      "valueUSD Float64",
      "priceUSD Float64",
      "dex String",
      "poolAddress String",
    ],
  },
  "/api/v1/solana/pool-transactions": {
    params: { pool_address: REQUIRED_ADDRESS, days: DAYS, ...PAGE },
    columns: POOL_TRANSACTION,
  },
  "/api/v1/solana/pool-transactions-time-bounded": {
    params: { pool_address: REQUIRED_ADDRESS, ...WINDOW, ...PAGE },
    columns: POOL_TRANSACTION,
  },
  "/api/v1/solana/tokens": {
    params: { filter: { good: ["sol", "USD Coin"], bad: [] }, ...PAGE },
    columns: ["programId String", "symbol String", "name String", "decimals UInt8"],
  },
  "/api/v1/solana/tokens/holders": {
    params: { token_address: REQUIRED_ADDRESS, ...PAGE },
    columns: [
      "account String",
      "balanceRaw UInt64",
      "balanceUi Float64",
      "balanceUSD Nullable(Float64)",
      "supplyShare Nullable(Float64)",
    ],
  },
  "/api/v1/solana/ohlcv/token": {
    params: {
      token_address: REQUIRED_ADDRESS,
      ...WINDOW,
      interval: {
        required: true,
        good: ["1m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"],
        bad: ["1M", "3m", "60", "1 h"],
      },
    },
    columns: [
      "openPrice Float64",
      "highPrice Float64",
      "lowPrice Float64",
      "closePrice Float64",
      "volume Float64",
      "volumeToken Float64",
      "unixTime Int64",
      "interval String",
      "tradeCount UInt64",
    ],
  },
  "/api/v1/solana/token-mint-burn-transactions": {
    params: { token_address: REQUIRED_ADDRESS, ...WINDOW, ...PAGE },
    columns: [
      "blockTime DateTime",
      "blockNumber UInt64",
      "txSignature String",
      "tokenAddress String",
      "operationType String",
      "accountCount UInt32",
      "authority Nullable(String)",
      "amount UInt64",
      "amountUI Float64",
      "decimals UInt8",
    ],
    order: [
      "blockTime",
      "blockNumber",
      "txSignature",
      "tokenAddress",
      "operationType",
      "accountCount",
      "authority",
      "amount",
      "amountUI",
      "decimals",
    ],
  },
  "/api/v1/solana/tokens/security": {
    params: { token_address: REQUIRED_ADDRESS },
    columns: [
      "address String",
      "chain String",
      "symbol String",
      "name String",
      "totalSupply Nullable(Float64)",
      "holderCount Nullable(UInt64)",
      "top5HolderConcentration Nullable(Float64)",
      "top10HolderConcentration Nullable(Float64)",
      "top20HolderConcentration Nullable(Float64)",
      "top50HolderConcentration Nullable(Float64)",
      "medianBalance Nullable(Float64)",
      "bottom10pctBalance Nullable(Float64)",
      "top10pctBalance Nullable(Float64)",
      "transaction1dCount Nullable(UInt64)",
      "activeAccounts1dCount Nullable(UInt64)",
      "txUniquenessRatio Nullable(Float64)",
      "priceVolatility30d Nullable(Float64)",
      "mintAuthority Nullable(String)",
      "freezeAuthority Nullable(String)",
      "isToken2022 Bool",
      "transferFeeBps Nullable(UInt32)",
      "nonTransferable Nullable(Bool)",
      "mutableMetadata Nullable(Bool)",
      "securityScore Nullable(Float64)",
      "permanentDelegate Nullable(String)",
      "transferHookProgram Nullable(String)",
      "transferHookAuthority Nullable(String)",
      "frozenByDefault Nullable(Bool)",
      "pausable Nullable(Bool)",
      "paused Nullable(Bool)",
      "mintCloseAuthority Nullable(String)",
      "uiAmountMultiplier Nullable(Float64)",
      "uiAmountChanges Nullable(Bool)",
      "confidentialTransfers Nullable(Bool)",
      "holdersCoverage Nullable(Float64)",
    ],
  },
};

const USDC = MINT;
const SOL = "So11111111111111111111111111111111111111112";

/** Additions to the specification, as docs/additions.md has them. */
const ADDITIONS: Readonly<Record<string, Row>> = {
  "/api/v1/solana/prices": {
    params: {
      tokens: {
        required: true,
        good: [SOL, `${USDC},${SOL}`],
        bad: ["", `${SOL},`, `${SOL};${USDC}`, "SOL"],
      },
    },
    columns: [
      "token String",
      "symbol Nullable(String)",
      "priceUsd Nullable(Float64)",
      "source Nullable(String)",
      "sourcePool Nullable(String)",
      "parentToken Nullable(String)",
      "hops Nullable(UInt8)",
      "depthUsd Nullable(Float64)",
      "otherDepthUsd Nullable(Float64)",
      "departed Nullable(Bool)",
      "slot UInt64",
      "blockTime Nullable(UInt32)",
      "ageSeconds Nullable(UInt64)",
      "nullReason Nullable(String)",
    ],
  },
};

const specOf = ([path, { params, columns, order = [], paid }]: [string, Row]) =>
  [
    path,
    {
      mediaType: "application/json",
      ...{ body: "object" as const, whenAbsent: "empty" as const },
      ...{ params, columns, sortable: order },
      ...(paid && { priceUsd: 0.05 }),
    },
  ] as const;

describeSpec({
  service: "solana",
  endpoints,
  table: Object.fromEntries(Object.entries({ ...TABLE, ...ADDITIONS }).map(specOf)),
});

describe("solana: aliases of parameters", () => {
  it("are program_id for token_address in tokens/holders alone", () => {
    const withAliases = endpoints.filter((endpoint) => endpoint.aliases !== undefined);
    expect(withAliases.map((endpoint) => endpoint.path)).to.deep.equal(["/api/v1/solana/tokens/holders"]);
    expect(withAliases[0]?.aliases).to.deep.equal({ program_id: "token_address" });
  });
});
