import { expect } from "chai";
import { describe, it } from "mocha";
import type { Cell } from "../../../services/shared/contract/column.ts";
import { catalogue } from "../../catalogue.ts";
import { type Answer, type Ask, AskError } from "../asking.ts";
import { createToolset } from "../toolset.ts";

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");
const TOKEN = `0x${"aa".repeat(20)}`;
const OTHER = `0x${"bb".repeat(20)}`;
const POOL = `0x${"cc".repeat(20)}`;
const MINT = "So11111111111111111111111111111111111111112";
const tools = createToolset(catalogue);

/** Rows by path, as named cells; a path without rows is 404. */
type Tables = Readonly<Record<string, readonly Readonly<Record<string, Cell>>[]>>;

function createFake(tables: Tables, more: Partial<Answer> = {}) {
  const asked: string[] = [];
  const ask: Ask = async (endpoint, query) => {
    asked.push(`${endpoint.path}?${new URLSearchParams(query)}`);
    const rows = tables[endpoint.path];
    if (rows === undefined) throw new AskError("not_found", "There is no such pool.");
    const unknown = rows
      .flatMap(Object.keys)
      .find((name) => !endpoint.columns.some((each) => each.name === name));
    if (unknown !== undefined) throw new Error(`${endpoint.path} has no column ${unknown}`);
    const cells = rows.map((row) => endpoint.columns.map(({ name }) => row[name] ?? null));
    const version = { block: 70, asOf: "2026-05-01T11:59:48+00:00", stale: undefined, positionsFromBlock: 5 };
    return { endpoint, rows: cells, total: rows.length, ...version, ...more };
  };
  const call = async (name: string, args: Record<string, unknown>): Promise<string> =>
    (await tools.get(name)?.call(args, { ask, clock: { nowMs: () => NOW_MS } })) ?? "";
  return { asked, call };
}

const AAVE = "/evm/lending/lendinga/v3/pools";
const EULER = "/evm/lending/lendingb/v2/vaults";
const MORPHO = "/evm/lending/lendingc/v1/vaults";
const vault = (vaultName: string, netSupplyApy: number | null, more: Record<string, Cell> = {}) => ({
  ...{ protocolId: "p-v1", vaultName, netSupplyApy, underlyingAddress: TOKEN, underlyingSymbol: "USDC" },
  ...{ tvlUsd: 2_000_000, availableLiquidityUsd: 1_000, utilizationRate: 0.5 },
  ...{ depositEnabled: true, listed: true, ...more },
});

describe("best_yields", () => {
  it("ranks the vaults of all protocols by what a supplier earns", async () => {
    const { asked, call } = createFake({
      [AAVE]: [
        vault("Reserve", 0.03, { poolAddress: OTHER }),
        vault("Other token", 0.9, { underlyingSymbol: "USDT" }),
      ],
      [EULER]: [vault("Closed", 0.8, { depositEnabled: false }), vault("Unpriced", null)],
      [MORPHO]: [
        vault("Vault | name\n", 0.051234, { vaultAddress: POOL }),
        vault("Full", 0.7, { remainingCapacityUsd: 0 }),
      ],
    });
    const text = await call("best_yields", { asset: "usdc", limit: 2 });
    expect(asked).to.have.length(3);
    expect(asked[0]).to.equal(
      `${AAVE}?chain_id=8453&listed=true&order_desc=netSupplyApy&limit=10000&min_tvl_usd=1000000`,
    );
    expect(text.split("\n").slice(0, 4)).to.deep.equal([
      "Best net supply APY for usdc on chain 8453, TVL from 1000000 USD, listed by their protocol; 2 of 3:",
      "net APY | protocol | name | address | TVL | withdrawable now | utilisation",
      `5.123 % | p-v1 | Vault name | ${POOL} | 2000000 USD | 1000 USD | 50 %`,
      `3 % | p-v1 | Reserve | ${OTHER} | 2000000 USD | 1000 USD | 50 %`,
    ]);
    expect(text).to.include("1 more with lower rates").and.include("2 left out that take no deposits");
    expect(text).to.match(/Block 70, 12 s old\.$/);
    expect(text).not.to.match(/Closed|Full|Other token/);
  });

  it("tells tokens apart that share a symbol, and takes an address instead", async () => {
    const tables = {
      [AAVE]: [vault("A", 0.1)],
      [EULER]: [vault("B", 0.2, { underlyingAddress: OTHER })],
      [MORPHO]: [],
    };
    const both = createFake(tables);
    expect(await both.call("best_yields", { asset: "USDC" })).to.include(
      `USDC stands for 2 tokens: ${OTHER}, ${TOKEN}. Ask by address for one of them.`,
    );
    const one = createFake(tables);
    await one.call("best_yields", { asset: TOKEN, chain_id: 1, min_tvl_usd: 0, listed: "all" });
    expect(one.asked[2]).to.equal(
      `${MORPHO}?chain_id=1&listed=all&order_desc=netSupplyApy&limit=10000&underlying_address=${TOKEN}`,
    );
  });

  it("says so when nothing fits, and refuses what it cannot read", async () => {
    const empty = createFake({ [AAVE]: [], [EULER]: [], [MORPHO]: [] });
    expect(await empty.call("best_yields", { asset: "DAI" })).to.match(/^Nothing takes DAI on chain 8453/);
    for (const args of [
      {},
      { asset: "DAI", limit: 0 },
      { asset: "DAI", min_tvl_usd: 1.5 },
      { asset: "DAI", listed: "no" },
    ])
      expect(await empty.call("best_yields", args).catch(({ name }) => name)).to.equal("ToolArgumentError");
  });
});

describe("pool_report", () => {
  const v3 = {
    ...{
      token0Symbol: "WETH",
      token1Symbol: "USDC",
      token0Address: TOKEN,
      token1Address: OTHER,
      feeTier: 500,
    },
    ...{ currentPoolPrice: 2500.123456, poolTvlUsd: null, createdAt: "2026-01-01T00:00:00+00:00" },
    ...{ timeRanges: ["1 hour", "1 day"], swapVolumeUsd: [1234.5, null], priceVolatilityPct: [0.1, 0.2] },
    ...{ swapCount: [3, 40], uniqueUserCount: [2, null] },
  };

  it("asks family after family until one knows the pool", async () => {
    const { asked, call } = createFake({
      "/evm/clones/v3/pool": [{ ...v3, feeApr: [0.12, null], dexName: "Clone" }],
    });
    const text = await call("pool_report", { pool_address: POOL });
    expect(asked.map((each) => each.split("?")[0])).to.deep.equal([
      "/evm/dexb/v3/pool",
      "/evm/clones/v3/pool",
    ]);
    expect(text.split("\n").slice(0, 4)).to.deep.equal([
      "WETH/USDC, fee 0.05 %: 1 WETH = 2500.12 USDC. TVL unknown.",
      "range | volume | fee APR of the TVL | price volatility | swaps | users",
      "1 hour | 1235 USD | 12 % | 0.1 % | 3 | 2",
      "1 day | unknown | unknown | 0.2 % | 40 | unknown",
    ]);
    expect(text).to.include("Clone, since 2026-01-01").and.include("Block 70, 12 s old.");
  });

  it("knows the pools of Aerodrome, which have no fee APR or other columns", async () => {
    const slipstream = createFake({ "/evm/dexa/v3/pool": [v3] });
    expect(await slipstream.call("pool_report", { pool_address: POOL })).to.include(
      "range | volume | price volatility | swaps | users",
    );
    const v2 = createFake({
      "/evm/dexa/v2/pool": [
        {
          ...{
            token0Symbol: "A",
            token1Symbol: "B",
            fee: 0.003,
            reserve0: 10,
            reserve1: 20,
            token0PriceUsd: 2,
          },
          totalApr: 0.5,
        },
      ],
    });
    const text = await v2.call("pool_report", { pool_address: POOL });
    expect(text).to.include("A/B, fee 0.3 %: 10 A at 2 USD, 20 B at unknown. TVL unknown.");
    expect(text).to.include("APR over 7 days: 50 % = unknown of swap fees");
    expect(v2.asked.at(-1)).to.include("apr_days_annualized=7");
  });

  it("asks on another chain only what covers it, and stops at other errors", async () => {
    const nowhere = createFake({});
    const error = await nowhere.call("pool_report", { pool_address: POOL, chain_id: 1 }).catch(String);
    expect(error).to.include(`No indexed DEX of chain 1 has a pool at ${POOL}`);
    expect(nowhere.asked.map((each) => each.split("?")[0])).to.deep.equal(["/evm/clones/v3/pool"]);
    expect(await nowhere.call("pool_report", { pool_address: POOL, chain_id: 7 }).catch(String)).to.include(
      "no pools of chain 7",
    );
  });
});

describe("token_report", () => {
  const SECURITY = "/api/v1/solana/tokens/security";
  const TRADES = "/api/v1/solana/token-transactions";
  const safe = {
    ...{
      symbol: "TKN",
      name: "Token",
      totalSupply: 1000,
      holderCount: 9,
      securityScore: 96,
      transferFeeBps: 0,
    },
    ...{ mutableMetadata: false, top5HolderConcentration: 10, holdersCoverage: 1 },
  };

  it("lists what could be done to holders of a Solana token", async () => {
    const risky = {
      ...safe,
      mintAuthority: "Minter",
      freezeAuthority: "Freezer",
      transferFeeBps: 250,
      paused: true,
    };
    const { call } = createFake({ [SECURITY]: [risky], [TRADES]: [] });
    const text = await call("token_report", { token_address: MINT });
    expect(text).to.include(
      "Against it: more can be minted, by Minter; balances can be frozen, by Freezer; each transfer costs 2.5 %; transfers are paused now.",
    );
    expect(text).to.include("No transaction in the last 24 hours.").and.not.include("Not known yet");
  });

  it("never calls safe what has not been read", async () => {
    const unread = { ...safe, transferFeeBps: null, holderCount: null };
    const trade = {
      priceUSD: 0.00012345678,
      blockTime: NOW_MS / 1000 - 30,
      transactionType: "buy",
      dex: "orca",
    };
    const { call } = createFake({ [SECURITY]: [unread], [TRADES]: [{ priceUSD: null }, trade] });
    const text = await call("token_report", { token_address: MINT });
    expect(text).to.match(/Slot 70, 12 s old\.$/);
    expect(text)
      .to.include("Not known yet: transferFeeBps.")
      .and.include("Holders and their shares are unknown");
    expect(text).to.include("Latest priced transaction: 0.000123457 USD a token, 30 s ago, buy on orca.");
  });

  it("says that it knows nothing of a token without a row", async () => {
    const { call } = createFake({ [SECURITY]: [], [TRADES]: [] });
    expect(await call("token_report", { token_address: MINT })).to.match(/^Nothing is known of So1/);
  });

  it("has the pools, the price and the lending of an EVM token", async () => {
    const pool = {
      ...{ poolAddress: POOL, token0Address: TOKEN, token0Symbol: "TKN", token1Symbol: "USDC", fee: 3000 },
      ...{ dexName: "Uniswap V3", createdAt: "2026-01-01T00:00:00+00:00" },
    };
    const lent = vault("Vault", 0.04, {
      supply: 100,
      supplyUsd: 250,
      priceSource: "walk",
      vaultAddress: POOL,
    });
    const { asked, call } = createFake({
      ...{ "/evm/dexb/v3/pools": [pool], "/evm/clones/v3/pools": [] },
      ...{ [AAVE]: [], [EULER]: [], [MORPHO]: [lent, vault("Stranger", 0.9, { listed: false })] },
    });
    const text = await call("token_report", { token_address: TOKEN });
    expect(asked).to.have.length(5);
    expect(text).to.include(`TKN ${TOKEN}, chain 8453\nPrice 2.5 USD (walk).`);
    expect(text).to.include("Pools: 1 in dexb, 0 in clones. The oldest:");
    expect(text).to.include("| with USDC | fee 0.3 % | Uniswap V3 |");
    expect(text).to.include("Lending: 2 vaults and reserves, 1 of them listed").and.not.include("Stranger");
  });
});

describe("wallet_liquidity", () => {
  const SUMMARY = "/evm/dexa/v2/provider-summary";
  const summary = {
    ...{ totalValueLockedUsd: 150.5, activePositionCount: 3, poolCount: 12, totalFeesEarned7d: 1.25 },
    ...{ topPoolsData: [[POOL, "A", "B", 100, 0.66]], tokenExposure: [[TOKEN, "A", 5, 75.25, 0.5]] },
  };

  it("says what the positions are worth, and which are not counted", async () => {
    const text = await createFake({ [SUMMARY]: [summary] }).call("wallet_liquidity", {
      wallet_address: TOKEN,
    });
    expect(text).to.include(`LP positions of ${TOKEN}: 151 USD in 3 positions of 12 pools.`);
    expect(text).to.include(`${POOL} | A/B | 100 USD | 66 %`).and.include("11 smaller pools are not shown");
    expect(text).to.include("All positions are known.").and.include("positions of v3 pools are not");
  });

  it("adds up what has a price where the whole has none", async () => {
    const tokenExposure = [
      [TOKEN, "A", 5, 75.25, null],
      [OTHER, "B", 5, null, null],
    ];
    const partly = { ...summary, totalValueLockedUsd: null, tokenExposure };
    const text = await createFake({ [SUMMARY]: [partly] }).call("wallet_liquidity", {
      wallet_address: TOKEN,
    });
    expect(text).to.include(
      "75.25 USD of priced tokens, and 1 without a price or not read yet, in 3 positions",
    );
  });

  it("tells a wallet without positions from one that is still being read", async () => {
    const none = { ...summary, activePositionCount: 0 };
    const known = createFake({ [SUMMARY]: [none] });
    expect(await known.call("wallet_liquidity", { wallet_address: TOKEN })).to.match(
      /has no LP positions\.\nAll pos/,
    );
    const reading = createFake({ [SUMMARY]: [none] }, { positionsFromBlock: undefined });
    expect(await reading.call("wallet_liquidity", { wallet_address: TOKEN })).to.match(
      /no LP positions are known yet\.\nPositions older than the index are still being read/,
    );
  });
});

describe("explain_column", () => {
  const { call, asked } = createFake({});

  it("has each meaning of a name with the tables that it belongs to", async () => {
    const text = await call("explain_column", { column: "ltv" });
    expect(text.match(/^ltv \(/gm)?.length).to.be.greaterThan(1);
    const one = await call("explain_column", { column: "ltv", tool: "evm_lending_lendingb_markets" });
    expect(one)
      .to.match(/\nIn: evm_lending_lendingb_markets\.$/)
      .and.match(/^ltv \(Float64, fraction\): /);
    expect(asked).to.deep.equal([]);
  });

  it("names similar columns for one that there is not", async () => {
    expect(await call("explain_column", { column: "apy" }).catch(String)).to.include(
      "Similar: supplyApy, borrowApy",
    );
    expect(await call("explain_column", { column: "ltv", tool: "x" }).catch(String)).to.include(
      '"x" is no tool',
    );
  });
});
