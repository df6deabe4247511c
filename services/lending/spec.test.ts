import { expect } from "chai";
import { describe, it } from "mocha";
import { endpoints } from "./contract.ts";

// The interface specification's tables for this service, typed out. Nothing here comes from the declarations, so that a
// wrong declaration is caught; imports nothing of ours but the endpoints.

interface Rule {
  readonly required?: true;
  readonly default?: unknown;
  /** Texts that must be taken and texts that must be refused. */
  readonly good: readonly string[];
  readonly bad: readonly string[];
}

const V0 = "application/vnd.service.table.v0.0.1+json";

const CHAIN: Rule = { default: 8453, good: ["8453", "1"], bad: ["10", "0", "-1"] };
const ADDRESS: Rule = {
  good: ["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
  bad: [
    "833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    "0x833589fcd6edb6e08f4c7c32d4f71b54bda0291",
    "0x833589fcd6edb6e08f4c7c32d4f71b54bda029133",
    "0x833589fcd6edb6e08f4c7c32d4f71b54bda0291g",
  ],
};
const REQUIRED_ADDRESS: Rule = { ...ADDRESS, required: true };
const PROTOCOL: Rule = { good: ["aave-v3", "anything at all"], bad: [] };
const MIN_TVL: Rule = { good: ["0", "1000000"], bad: ["-1", "1.5", "1e6"] };
const BORROWABLE: Rule = { good: ["true", "false"], bad: ["1", "yes", "TRUE"] };
const LIMIT: Rule = { default: 100, good: ["1", "10000"], bad: ["0", "10001", "1.5"] };
const OFFSET: Rule = { default: 0, good: ["0", "100000000"], bad: ["-1", "100000001"] };

const PAGE = { limit: LIMIT, offset: OFFSET };
const FILTERS = { chain_id: CHAIN, protocol_id: PROTOCOL, min_tvl_usd: MIN_TVL };
const CURATOR_VAULTS = {
  curator_address: REQUIRED_ADDRESS,
  underlying_address: ADDRESS,
  ...FILTERS,
  ...PAGE,
};
const MARKETS = { loan_address: ADDRESS, collateral_address: ADDRESS, ...FILTERS, ...PAGE };
const VAULT_MARKETS = { chain_id: CHAIN, vault_address: REQUIRED_ADDRESS };
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
  readonly params: Readonly<Record<string, Rule>>;
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

describe("lending against the specification", () => {
  it("has exactly its endpoints", () => {
    expect(endpoints.map((endpoint) => endpoint.path)).to.have.members(Object.keys(TABLE));
  });

  for (const [path, row] of Object.entries(TABLE)) {
    describe(path, () => {
      const endpoint = endpoints.find((one) => one.path === path);
      if (endpoint === undefined) throw new Error(`${path} is not declared.`);

      it("answers an array of tables under its media type", () => {
        expect(endpoint).to.include({ mediaType: V0, body: "array", family: "lending" });
        expect(endpoint.priceUsd).to.equal(undefined);
      });

      it("has the specified parameters and rules", () => {
        expect(Object.keys(endpoint.params)).to.have.members(Object.keys(row.params));
        for (const [name, rule] of Object.entries(row.params)) {
          const schema = endpoint.params[name];
          const absent = schema?.safeParse(undefined);
          expect(absent?.success, `${name} may be absent`).to.equal(rule.required !== true);
          expect(absent?.data, `default of ${name}`).to.equal(rule.default);
          for (const text of rule.good)
            expect(schema?.safeParse(text).success, `${name}=${text}`).to.equal(true);
          for (const text of rule.bad)
            expect(schema?.safeParse(text).success, `${name}=${text}`).to.equal(false);
        }
      });

      it("has the columns of its sortable set in order, each sortable", () => {
        expect(endpoint.columns.map((column) => column.name)).to.deep.equal(row.order);
        expect(endpoint.columns.every((column) => column.sortable === true)).to.equal(true);
      });

      it("gives each column its type", () => {
        for (const column of endpoint.columns)
          expect(column.type, column.name).to.equal(typeOf(column.name, path));
      });

      it("knows what an unknown address is", () => {
        expect(endpoint.whenAbsent).to.equal(path.endsWith("/vault/markets") ? "not_found" : "empty");
      });
    });
  }
});
