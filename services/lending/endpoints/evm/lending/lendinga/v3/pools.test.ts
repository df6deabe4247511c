import { expect } from "chai";
import { beforeEach, describe, it } from "mocha";
import type { VaultRow } from "../../../../../protocols/rows.ts";
import type { ServeDeps } from "../../../../../serve/deps.ts";
import { BLOCK, callHandler, depsOf, rowsOf } from "../../../../../test/answers.ts";
import { address, vaultRow } from "../../../../../test/fake-protocol.ts";
import { timeOf } from "../../../../../test/stored.ts";
import { endpoint } from "./pools.endpoint.ts";
import { lendingaPoolsHandler } from "./pools.handler.ts";

const [USDC, WETH, DAI, NOPE] = [address(1), address(2), address(3), address(4)];
const [MAIN, OTHER] = [address(0xa1), address(0xa2)];

const reserve = (options: Partial<VaultRow>) =>
  vaultRow({ protocolId: "aave-v3", address: MAIN, curator: null, ...options });

const ROWS = [
  reserve({
    ...{ symbol: "aUSDC", vaultName: "Aave USDC", underlying: { address: USDC, symbol: "USDC" } },
    ...{ supply: 1_000, borrow: 400, available: 500, supplyCap: 1_500, borrowCap: 900 },
    ...{
      supplyApy: 0.02,
      borrowApy: 0.05,
      utilizationRate: 0.4,
      performanceFee: 0,
      managementFee: 0,
      ltv: 0.75,
    },
  }),
  // Above its cap, as after the cap was lowered.
  reserve({
    ...{ symbol: "aWETH", vaultName: "Aave WETH", underlying: { address: WETH, symbol: "WETH" } },
    ...{ supply: 10, borrow: 1, available: 9, supplyCap: 8, borrowCap: null, borrowable: false },
  }),
  reserve({
    ...{ address: OTHER, symbol: "aDAI", vaultName: "Aave DAI", underlying: { address: DAI, symbol: "DAI" } },
    ...{ supply: 1_000, depositEnabled: false },
  }),
  reserve({
    ...{ address: OTHER, symbol: "aNOPE", underlying: { address: NOPE, symbol: "NOPE" } },
    ...{ supply: 7, supplyCap: 10, borrowCap: 5, supplyApy: null, borrowApy: null, ltv: null },
  }),
];

describe("GET /evm/lending/lendinga/v3/pools", () => {
  let deps: ServeDeps;
  beforeEach(async () => {
    deps = await depsOf({
      protocol: "aave-v3",
      rows: ROWS,
      prices: { [USDC]: 1, [WETH]: 2_000, [DAI]: 0.5 },
    });
  });
  const rows = (query = "") => rowsOf(endpoint, lendingaPoolsHandler(deps), query);
  const symbols = async (query: string) => (await rows(query)).map(({ symbol }) => symbol);

  it("returns every column of a reserve, and its block", async () => {
    const [usdc] = await rows(`underlying_address=${USDC}`);
    expect(usdc).to.deep.equal({
      ...{ chainId: 8453, protocolId: "aave-v3", poolAddress: MAIN, symbol: "aUSDC", vaultName: "Aave USDC" },
      ...{ underlyingAddress: USDC, underlyingSymbol: "USDC" },
      ...{ supply: 1_000, supplyUsd: 1_000, borrow: 400, borrowUsd: 400, tvlUsd: 1_000 },
      ...{
        availableLiquidityUsd: 500,
        supplyCap: 1_500,
        supplyCapUsd: 1_500,
        borrowCap: 900,
        borrowCapUsd: 900,
      },
      ...{ remainingCapacityUsd: 500, supplyApy: 0.02, borrowApy: 0.05, netSupplyApy: 0.02 },
      ...{ performanceFee: 0, managementFee: 0, utilizationRate: 0.4, ltv: 0.75 },
      ...{ borrowable: true, depositEnabled: true, updatedAt: "2023-11-14T22:20:00+00:00" },
      ...{ priceSource: "dex", priceAgeSeconds: 0, listed: true },
    });
    const { version } = await callHandler(endpoint, lendingaPoolsHandler(deps), "");
    expect(version).to.include({ block: BLOCK, time: timeOf(BLOCK) });
  });

  it("has no capacity left above its cap, and no USD value of an absent cap", async () => {
    const [weth] = await rows(`underlying_address=${WETH}`);
    expect(weth).to.include({ supplyUsd: 20_000, supplyCapUsd: 16_000, remainingCapacityUsd: 0 });
    expect(weth).to.include({ borrowCap: null, borrowCapUsd: null });
    const [dai] = await rows(`underlying_address=${DAI}`);
    expect(dai).to.include({ supplyCap: null, supplyCapUsd: null, remainingCapacityUsd: null });
  });

  it("has no USD value without a price, and says which price it used", async () => {
    const [dai] = await rows(`underlying_address=${DAI}`);
    expect(dai).to.include({ supplyUsd: 500, tvlUsd: 500, priceSource: "dex", priceAgeSeconds: 0 });
    const [nope] = await rows(`underlying_address=${NOPE}`);
    expect(nope).to.include({ supply: 7, supplyCap: 10, borrowCap: 5, supplyApy: null, netSupplyApy: null });
    expect(nope).to.include({ priceSource: "", priceAgeSeconds: null });
    for (const column of endpoint.columns) {
      if (column.name.endsWith("Usd")) expect(nope?.[column.name], column.name).to.equal(null);
    }
  });

  it("lists the largest first, what has no price last, and filters", async () => {
    expect(await symbols("")).to.deep.equal(["aWETH", "aUSDC", "aDAI", "aNOPE"]);
    expect(await symbols(`pool_address=${OTHER.toUpperCase().replace("0X", "0x")}`)).to.deep.equal([
      "aDAI",
      "aNOPE",
    ]);
    expect(await symbols("borrowable=true")).to.deep.equal(["aUSDC", "aDAI", "aNOPE"]);
    expect(await symbols("borrowable=false")).to.have.length(4);
    expect(await symbols("min_tvl_usd=0")).to.have.length(4);
    expect(await symbols("min_tvl_usd=1")).to.deep.equal(["aWETH", "aUSDC", "aDAI"]);
    expect(await symbols("min_tvl_usd=1000")).to.deep.equal(["aWETH", "aUSDC"]);
    expect(await symbols("protocol_id=aave-v3")).to.have.length(4);
    expect(await symbols("protocol_id=morpho-v1")).to.deep.equal([]);
    expect(await symbols(`pool_address=${address(0xffff)}`)).to.deep.equal([]);
    expect(await symbols(`pool_address=${MAIN}&underlying_address=${DAI}`)).to.deep.equal([]);
  });

  it("orders by any columns, unpriced last either way, ties by the default order", async () => {
    expect(await symbols("order_asc=tvlUsd")).to.deep.equal(["aDAI", "aUSDC", "aWETH", "aNOPE"]);
    expect(await symbols("order_desc=tvlUsd")).to.deep.equal(["aWETH", "aUSDC", "aDAI", "aNOPE"]);
    expect(await symbols("order_desc=supply")).to.deep.equal(["aUSDC", "aDAI", "aWETH", "aNOPE"]);
    expect(await symbols("order_asc=depositEnabled,symbol")).to.deep.equal([
      "aDAI",
      "aNOPE",
      "aUSDC",
      "aWETH",
    ]);
    expect(await symbols("order_asc=,symbol&order_desc=poolAddress")).to.deep.equal([
      ...["aDAI", "aNOPE"],
      ...["aUSDC", "aWETH"],
    ]);
    expect(await symbols("order_desc=symbol&limit=2&offset=1")).to.deep.equal(["aUSDC", "aNOPE"]);
    expect(await symbols("offset=4")).to.deep.equal([]);
  });

  it("counts the rows of all pages that match, whatever the page", async () => {
    const total = async (query: string) =>
      (await callHandler(endpoint, lendingaPoolsHandler(deps), query)).total;
    expect(await total("limit=1")).to.equal(4);
    expect(await total("limit=1&offset=9")).to.equal(4);
    expect(await total(`limit=1&pool_address=${OTHER}`)).to.equal(2);
    expect(await total("protocol_id=nope")).to.equal(0);
  });

  it("is empty for a chain of which nothing is indexed", async () => {
    const answer = await callHandler(endpoint, lendingaPoolsHandler(deps), "chain_id=1");
    expect(answer).to.deep.equal({ rows: [] });
  });
});
