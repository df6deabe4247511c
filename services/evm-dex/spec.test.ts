import { describeSpec, type ParameterRule } from "../shared/testkit/spec-suite.ts";
import { endpoints } from "./contract.ts";

// The interface specification's tables for this service, typed out. Nothing here comes from the declarations, so that a
// wrong declaration is caught; imports the endpoints and nothing else of the service.

const V1 = "application/vnd.service.table.v1.0.0+json";
const V2 = "application/vnd.service.table.v2.0.0+json";

const ONLY_8453: ParameterRule = { default: 8453, good: ["8453"], bad: ["1", "10", "0"] };
const EITHER_CHAIN: ParameterRule = { default: 8453, good: ["8453", "1"], bad: ["10", "0", "-1"] };
const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
const WETH = "0x4200000000000000000000000000000000000006";
const ADDRESS: ParameterRule = {
  good: ["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
  bad: [
    "833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    "0x833589fcd6edb6e08f4c7c32d4f71b54bda0291",
    "0x833589fcd6edb6e08f4c7c32d4f71b54bda029133",
    "0x833589fcd6edb6e08f4c7c32d4f71b54bda0291g",
  ],
};
const REQUIRED_ADDRESS: ParameterRule = { ...ADDRESS, required: true };
const TIME: ParameterRule = {
  required: true,
  good: ["0", "1735689600"],
  bad: ["-1", "1.5", "1735689600000"],
};
/** An addition to the specification: docs/additions.md. */
const AS_OF: Readonly<Record<string, ParameterRule>> = {
  at_block: { good: ["0", "30000000"], bad: ["-1", "latest", "1.5"] },
  at_time: { good: ["0", "1795000000"], bad: ["-1", "1.5", "1795000000000", "2026-11-26"] },
};
const CANDLES: Readonly<Record<string, ParameterRule>> = {
  after_time: TIME,
  before_time: TIME,
  interval: {
    required: true,
    good: ["1m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"],
    bad: ["1M", "3m", "60", "1 h"],
  },
};
const LIMIT: ParameterRule = { default: 100, good: ["1", "10000"], bad: ["0", "10001", "1.5"] };
const OFFSET: ParameterRule = { default: 0, good: ["0", "100000000"], bad: ["-1", "100000001"] };

const SET_POOLS_DEX = [
  "chainId",
  "dexAddress",
  "dexName",
  "poolAddress",
  "token0Address",
  "token0Symbol",
  "token0Decimals",
  "token1Address",
  "token1Symbol",
  "token1Decimals",
  "createdAt",
  "fee",
  "tickSpacing",
];

interface Row {
  readonly mediaType: string;
  readonly params: Readonly<Record<string, ParameterRule>>;
  readonly order?: readonly string[];
}

const TABLE: Readonly<Record<string, Row>> = {
  "/evm/dexa/v2/fee-metrics": {
    mediaType: V2,
    params: { chain_id: ONLY_8453, pool_address: REQUIRED_ADDRESS, ...AS_OF },
  },
  "/evm/dexa/v2/pool": {
    mediaType: V2,
    params: {
      chain_id: ONLY_8453,
      pool_address: REQUIRED_ADDRESS,
      apr_days_annualized: { required: true, good: ["1", "7", "30"], bad: ["0", "31", "7.5"] },
      ...AS_OF,
    },
  },
  "/evm/dexa/v2/pool-volume": {
    mediaType: V2,
    params: { chain_id: ONLY_8453, pool_address: REQUIRED_ADDRESS, ...AS_OF },
  },
  "/evm/dexa/v2/pools": { mediaType: V2, params: { chain_id: ONLY_8453, limit: LIMIT, offset: OFFSET } },
  "/evm/dexa/v2/provider-summary": {
    mediaType: V2,
    params: { chain_id: ONLY_8453, wallet_address: REQUIRED_ADDRESS },
  },
  "/evm/dexa/v3/pool": {
    mediaType: V1,
    params: { chain_id: ONLY_8453, pool_address: REQUIRED_ADDRESS, ...AS_OF },
  },
  "/evm/dexb/v3/pool": {
    mediaType: V1,
    params: { chain_id: ONLY_8453, pool_address: REQUIRED_ADDRESS, ...AS_OF },
  },
  "/evm/dexb/v3/pools": {
    mediaType: V1,
    params: { chain_id: ONLY_8453, token_address: ADDRESS, limit: LIMIT, offset: OFFSET },
    order: SET_POOLS_DEX,
  },
  "/evm/chains": { mediaType: V1, params: {} },
  "/evm/clones/v3/pool": {
    mediaType: V1,
    params: { chain_id: EITHER_CHAIN, pool_address: REQUIRED_ADDRESS, ...AS_OF },
  },
  "/evm/clones/v3/pools": {
    mediaType: V1,
    params: { chain_id: EITHER_CHAIN, token_address: ADDRESS, limit: LIMIT, offset: OFFSET },
    order: SET_POOLS_DEX,
  },
  "/evm/dexes": { mediaType: V1, params: { chain_id: EITHER_CHAIN } },
  // Additions to the specification, as docs/additions.md has them.
  "/evm/prices": {
    mediaType: V1,
    params: {
      chain_id: EITHER_CHAIN,
      tokens: {
        required: true,
        good: [USDC, `${USDC},${WETH}`],
        bad: ["", `${USDC},`, `${USDC} ${WETH}`, "usdc"],
      },
      ...AS_OF,
    },
  },
  "/evm/ohlcv/pool": {
    mediaType: V1,
    params: {
      ...{ chain_id: EITHER_CHAIN, pool_address: REQUIRED_ADDRESS, ...CANDLES },
      base: { default: "token0", good: ["token0", "token1"], bad: ["0", "WETH"] },
    },
  },
  "/evm/ohlcv/token": {
    mediaType: V1,
    params: { chain_id: EITHER_CHAIN, token_address: REQUIRED_ADDRESS, ...CANDLES },
  },
};

const V3_STATE = [
  "token0Address String",
  "token0Symbol String",
  "token0Decimals UInt8",
  "token1Address String",
  "token1Symbol String",
  "token1Decimals UInt8",
  "feeTier UInt32",
  "tickSpacing Int32",
  "currentLiquidity UInt128",
  "currentSqrtPriceX96 UInt256",
  "currentTick Int32",
  "currentPoolPrice Float64",
  "poolTvlUsd Nullable(Float64)",
  "timeRanges Array(String)",
  "swapVolumeUsd Array(Nullable(Float64))",
];
const V3_ACTIVITY = [
  "priceVolatilityPct Array(Nullable(Float64))",
  "meanAdjustedVolatilityPct Array(Nullable(Float64))",
  "tickPressurePer1mUsd Array(Nullable(Float64))",
  "swapCount Array(Nullable(UInt64))",
  "uniqueUserCount Array(Nullable(UInt64))",
];
const V2_IDENTITY = [
  "poolId String",
  "token0 String",
  "token0Symbol String",
  "token0Decimals UInt8",
  "token1 String",
  "token1Symbol String",
  "token1Decimals UInt8",
  "poolTvlUsd Nullable(Float64)",
];
const V2_ACTIVITY = [
  "volume24hUsd Nullable(Float64)",
  "volume7dUsd Nullable(Float64)",
  "fees7dUsd Nullable(Float64)",
];
const POOL_LIST = [
  "chainId UInt32",
  "dexAddress String",
  "dexName String",
  "poolAddress String",
  "token0Address String",
  "token0Symbol String",
  "token0Decimals UInt8",
  "token1Address String",
  "token1Symbol String",
  "token1Decimals UInt8",
  "createdAt DateTime",
  "fee UInt32",
  "tickSpacing Int32",
];

const CANDLE = [
  "volume Nullable(Float64)",
  "unixTime Int64",
  "interval String",
  "tradeCount Nullable(UInt64)",
  "resolutionSeconds UInt32",
];
const prices = (end: string, type: string) =>
  ["open", "high", "low", "close"].map((at) => `${at}${end} ${type}`);

/** Columns where the specification is silent, as the design decides them. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  "/evm/chains": ["id UInt32", "name String"],
  "/evm/dexes": ["chainId UInt32", "dexAddress String", "dexName String", "dexType String", "family String"],
  "/evm/ohlcv/pool": [
    ...prices("Price", "Nullable(Float64)"),
    ...CANDLE,
    ...prices("PairPrice", "Float64"),
    "poolTvlUsd Nullable(Float64)",
  ],
  "/evm/ohlcv/token": [...prices("Price", "Float64"), ...CANDLE, "poolAddress String"],
  "/evm/prices": [
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
    "block UInt64",
    "blockTime Nullable(UInt32)",
    "ageSeconds Nullable(UInt64)",
    "nullReason Nullable(String)",
  ],
  "/evm/dexb/v3/pools": POOL_LIST,
  "/evm/clones/v3/pools": POOL_LIST,
  "/evm/dexa/v3/pool": ["createdAt DateTime", ...V3_STATE, ...V3_ACTIVITY],
  "/evm/dexb/v3/pool": ["createdAt DateTime", ...V3_STATE, "feeApr Array(Nullable(Float64))", ...V3_ACTIVITY],
  "/evm/clones/v3/pool": [
    "createdAt DateTime",
    "dexName String",
    ...V3_STATE,
    "feeApr Array(Nullable(Float64))",
    ...V3_ACTIVITY,
  ],
  "/evm/dexa/v2/pools": [
    ...V2_IDENTITY,
    ...V2_ACTIVITY,
    "swapFeeApr7d Nullable(Float64)",
    "rewardApr7d Nullable(Float64)",
    "totalApr7d Nullable(Float64)",
  ],
  "/evm/dexa/v2/pool": [
    ...V2_IDENTITY,
    "stable Bool",
    "fee Float64",
    "reserve0 Float64",
    "reserve1 Float64",
    "token0PriceUsd Nullable(Float64)",
    "token1PriceUsd Nullable(Float64)",
    ...V2_ACTIVITY,
    "swapFeeApr Nullable(Float64)",
    "rewardApr Nullable(Float64)",
    "totalApr Nullable(Float64)",
    "aprDaysAnnualized UInt8",
    "createdAt DateTime",
    "updatedAt DateTime",
  ],
  "/evm/dexa/v2/fee-metrics": [
    "poolId String",
    "feeTier UInt32",
    "timeframeAt String",
    "feeApr Nullable(Float64)",
    "volumeTvlRatio Nullable(Float64)",
    "feesUsd Nullable(Float64)",
    "feesToken0 Nullable(Float64)",
    "feesToken1 Nullable(Float64)",
    "historicalFees Array(Tuple(UInt32, Nullable(Float64), Nullable(Float64), Nullable(Float64), Nullable(Float64)))",
    "updatedAt UInt32",
  ],
  "/evm/dexa/v2/pool-volume": [
    "poolId String",
    "timeframeAt String",
    "volumeUsd Nullable(Float64)",
    "volumeToken0 Nullable(String)",
    "volumeToken1 Nullable(String)",
    "volumeChange Nullable(Float64)",
    "swapCount Nullable(UInt64)",
    "averageSwapSizeUsd Nullable(Float64)",
    "volumeByHour Array(Tuple(UInt32, Nullable(Float64), Nullable(UInt64)))",
    "volumeByToken Array(Tuple(String, Nullable(Float64)))",
    "largestSwaps Array(Tuple(String, UInt32, Nullable(Float64), String))",
    "updatedAt UInt32",
  ],
  "/evm/dexa/v2/provider-summary": [
    "providerId String",
    "totalValueLockedUsd Nullable(Float64)",
    "activePositionCount UInt64",
    "poolCount UInt64",
    "totalFeesEarned7d Nullable(Float64)",
    "totalFeesEarned30d Nullable(Float64)",
    "averageApr7dWeighted Nullable(Float64)",
    "averageApr30dWeighted Nullable(Float64)",
    "firstPositionTimestamp Nullable(DateTime)",
    "lastActiveTimestamp Nullable(DateTime)",
    "topPoolsData Array(Tuple(String, String, String, Nullable(Float64), Nullable(Float64)))",
    "tokenExposure Array(Tuple(String, String, Float64, Nullable(Float64), Nullable(Float64)))",
    "concentrationIndex Nullable(Float64)",
    "updatedAt DateTime",
  ],
};

const NOT_FOUND = [
  "/evm/dexa/v2/fee-metrics",
  "/evm/dexa/v2/pool",
  "/evm/dexa/v2/pool-volume",
  "/evm/dexa/v3/pool",
  "/evm/dexb/v3/pool",
  "/evm/clones/v3/pool",
  "/evm/ohlcv/pool",
];

const specOf = ([path, { mediaType, params, order = [] }]: [string, Row]) => {
  const whenAbsent = NOT_FOUND.includes(path) ? ("not_found" as const) : ("empty" as const);
  const columns = COLUMNS[path] ?? [];
  return [path, { mediaType, body: "array" as const, params, columns, sortable: order, whenAbsent }] as const;
};

describeSpec({
  service: "evm-dex",
  endpoints,
  table: Object.fromEntries(Object.entries(TABLE).map(specOf)),
});
