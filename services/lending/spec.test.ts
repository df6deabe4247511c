import { describeSpec, type ParameterRule, type SpecRow } from "../shared/testkit/spec-suite.ts";
import { endpoints } from "./contract.ts";

// The interface specification's tables for this service, typed out. Nothing here comes from the declarations, so that a
// wrong declaration is caught; imports the endpoints and nothing else of the service.

const V0 = "application/vnd.service.table.v0.0.1+json";

const CHAIN: ParameterRule = { default: 8453, good: ["8453", "1"], bad: ["10", "0", "-1"] };
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
const PROTOCOL: ParameterRule = { good: ["aave-v3", "anything at all"], bad: [] };
const MIN_TVL: ParameterRule = { good: ["0", "1000000"], bad: ["-1", "1.5", "1e6"] };
const BORROWABLE: ParameterRule = { good: ["true", "false"], bad: ["1", "yes", "TRUE"] };
const LIMIT: ParameterRule = { default: 100, good: ["1", "10000"], bad: ["0", "10001", "1.5"] };
const OFFSET: ParameterRule = { default: 0, good: ["0", "100000000"], bad: ["-1", "100000001"] };

/** Additions to the specification: a filter and a last column, which cannot be ordered by, of every list. */
const LISTED: ParameterRule = { default: "all", good: ["true", "false", "all"], bad: ["1", "TRUE", "no"] };
const LISTED_COLUMN = "listed Bool";

/** The same: an earlier block. */
const AS_OF: Readonly<Record<string, ParameterRule>> = {
  at_block: { good: ["0", "30000000"], bad: ["-1", "latest", "1.5"] },
  at_time: { good: ["0", "1795000000"], bad: ["-1", "1.5", "1795000000000", "2026-11-26"] },
};

const PAGE = { limit: LIMIT, offset: OFFSET };
const FILTERS = { chain_id: CHAIN, protocol_id: PROTOCOL, min_tvl_usd: MIN_TVL, listed: LISTED, ...AS_OF };
const CURATOR_VAULTS = {
  curator_address: REQUIRED_ADDRESS,
  underlying_address: ADDRESS,
  ...FILTERS,
  ...PAGE,
};
const MARKETS = { loan_address: ADDRESS, collateral_address: ADDRESS, ...FILTERS, ...PAGE };
const VAULT_MARKETS = { chain_id: CHAIN, vault_address: REQUIRED_ADDRESS, ...AS_OF };
const VAULTS = {
  vault_address: ADDRESS,
  underlying_address: ADDRESS,
  ...FILTERS,
  borrowable: BORROWABLE,
  ...PAGE,
};

const LEND_UNIT = [
  "symbol",
  "vaultName",
  "underlyingAddress",
  "underlyingSymbol",
  "supply",
  "supplyUsd",
  "borrow",
  "borrowUsd",
  "tvlUsd",
  "availableLiquidityUsd",
  "supplyCap",
  "supplyCapUsd",
  "borrowCap",
  "borrowCapUsd",
  "remainingCapacityUsd",
  "supplyApy",
  "borrowApy",
  "netSupplyApy",
  "performanceFee",
  "managementFee",
  "utilizationRate",
  "ltv",
  "borrowable",
  "depositEnabled",
  "updatedAt",
];
const SET_LEND_POOL = ["chainId", "protocolId", "poolAddress", ...LEND_UNIT];
const SET_LEND_CURATOR_VAULT = [
  "chainId",
  "protocolId",
  "curatorAddress",
  "curatorName",
  "poolAddress",
  ...LEND_UNIT,
];
const SET_LEND_VAULT = ["chainId", "protocolId", "vaultAddress", ...LEND_UNIT];
const SET_CURATORS = [
  "chainId",
  "protocolId",
  "curatorAddress",
  "curatorName",
  "totalTvlUsd",
  "vaultCount",
  "verified",
  "updatedAt",
];
const MARKET_HEAD = [
  "chainId",
  "protocolId",
  "marketId",
  "loanAddress",
  "loanSymbol",
  "collateralAddress",
  "collateralSymbol",
];
const MARKET_AMOUNTS = ["supplyUsd", "borrowUsd", "tvlUsd", "availableLiquidityUsd"];
const MARKET_RATES = ["supplyApy", "borrowApy", "utilizationRate"];
const SET_MARKETS_B = [...MARKET_HEAD, ...MARKET_AMOUNTS, ...MARKET_RATES, "ltv", "updatedAt"];
const SET_MARKETS_C = [...MARKET_HEAD, ...MARKET_AMOUNTS, ...MARKET_RATES, "lltv", "updatedAt"];
const SET_VAULT_MARKETS_B = [...MARKET_HEAD, ...MARKET_RATES, "ltv", "supplyCapUsd", "updatedAt"];
const SET_VAULT_MARKETS_C = [
  ...MARKET_HEAD,
  ...MARKET_RATES,
  "lltv",
  "allocationUsd",
  "allocationShare",
  "supplyCapUsd",
  "updatedAt",
];

interface Row {
  readonly params: Readonly<Record<string, ParameterRule>>;
  readonly order: readonly string[];
}

const TABLE: Readonly<Record<string, Row>> = {
  "/evm/lending/lendinga/v3/pools": {
    params: {
      pool_address: ADDRESS,
      underlying_address: ADDRESS,
      ...FILTERS,
      borrowable: BORROWABLE,
      ...PAGE,
    },
    order: SET_LEND_POOL,
  },
  "/evm/lending/lendingb/curator/vaults": { params: CURATOR_VAULTS, order: SET_LEND_CURATOR_VAULT },
  "/evm/lending/lendingb/curators": { params: { ...FILTERS, ...PAGE }, order: SET_CURATORS },
  "/evm/lending/lendingb/markets": { params: MARKETS, order: SET_MARKETS_B },
  "/evm/lending/lendingb/v2/vault/markets": { params: VAULT_MARKETS, order: SET_VAULT_MARKETS_B },
  "/evm/lending/lendingb/v2/vaults": { params: VAULTS, order: SET_LEND_VAULT },
  "/evm/lending/lendingc/curator/vaults": { params: CURATOR_VAULTS, order: SET_LEND_CURATOR_VAULT },
  "/evm/lending/lendingc/curators": { params: { ...FILTERS, ...PAGE }, order: SET_CURATORS },
  "/evm/lending/lendingc/markets": { params: MARKETS, order: SET_MARKETS_C },
  "/evm/lending/lendingc/v1/vault/markets": { params: VAULT_MARKETS, order: SET_VAULT_MARKETS_C },
  "/evm/lending/lendingc/v1/vaults": { params: VAULTS, order: SET_LEND_VAULT },
};

const TIME: ParameterRule = {
  required: true,
  good: ["0", "1735689600"],
  bad: ["-1", "1.5", "1735689600000"],
};

/** An addition to the specification, as docs/additions.md has it. */
const RATES: SpecRow = {
  mediaType: V0,
  body: "array",
  whenAbsent: "not_found",
  sortable: [],
  params: {
    chain_id: CHAIN,
    id: { required: true, good: ["0xc1256ae5ff1cf2719d4937adb3bbccab2e00a2ca"], bad: [""] },
    underlying_address: ADDRESS,
    after_time: TIME,
    before_time: TIME,
    interval: { default: "1h", good: ["1h", "1d"], bad: ["1m", "4h", "1w", "hour"] },
  },
  columns: [
    "unixTime Int64",
    "protocolId String",
    "supplyApy Nullable(Float64)",
    "borrowApy Nullable(Float64)",
    "utilizationRate Float64",
    "tvl Float64",
    "borrow Float64",
    "availableLiquidity Float64",
    "tokenAddress String",
    "tokenSymbol String",
  ],
};

/** Types by meaning, as the design decides them; the same wherever a name occurs. */
const TYPES: Readonly<Record<string, string>> = {
  chainId: "UInt32",
  vaultCount: "UInt32",
  curatorName: "String",
  supply: "Float64",
  borrow: "Float64",
  performanceFee: "Float64",
  managementFee: "Float64",
  utilizationRate: "Float64",
  lltv: "Float64",
  allocationShare: "Float64",
  borrowable: "Bool",
  depositEnabled: "Bool",
  verified: "Bool",
  updatedAt: "DateTime",
};
const TEXTS = /^(protocolId|marketId|symbol|vaultName|.*Address|.*Symbol)$/;
const NULLABLE_NUMBERS = /^(.*Usd|.*Apy|supplyCap|borrowCap)$/;

/** A pool or vault may have no LTV; a market always has one. */
function typeOf(name: string, path: string): string {
  if (name === "ltv") return path.endsWith("/markets") ? "Float64" : "Nullable(Float64)";
  const known = TYPES[name];
  if (known !== undefined) return known;
  if (TEXTS.test(name)) return "String";
  if (NULLABLE_NUMBERS.test(name)) return "Nullable(Float64)";
  throw new Error(`No type is decided for ${name}.`);
}

const PRICE_COLUMNS = ["priceSource String", "priceAgeSeconds Nullable(Float64)"];

const specOf = ([path, { params, order }]: [string, Row]) => {
  const whenAbsent = path.endsWith("/vault/markets") ? ("not_found" as const) : ("empty" as const);
  const columns = [
    ...order.map((name) => `${name} ${typeOf(name, path)}`),
    // Documented additions behind the specification's columns, which rows cannot be ordered by.
    ...(path.endsWith("/curators") ? [] : PRICE_COLUMNS),
    ...(whenAbsent === "empty" ? [LISTED_COLUMN] : []),
  ];
  return [
    path,
    { mediaType: V0, body: "array" as const, params, columns, sortable: order, whenAbsent },
  ] as const;
};

describeSpec({
  service: "lending",
  endpoints,
  table: { ...Object.fromEntries(Object.entries(TABLE).map(specOf)), "/evm/lending/rates": RATES },
});
