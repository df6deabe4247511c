import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type Holding, type PortfolioToken, portfolioOf } from "./portfolio.ts";

const WETH: PortfolioToken = { address: "0x0a", symbol: "WETH", decimals: 18, priceUsd: 3_000 };
const USDC: PortfolioToken = { address: "0x0b", symbol: "USDC", decimals: 6, priceUsd: 1 };
const AERO: PortfolioToken = { address: "0x0c", symbol: "AERO", decimals: 18, priceUsd: 0.5 };
const ETHER = 10n ** 18n;
/** Both windows, and every position there is. */
const ALL = { windows: 2, isComplete: true };

/** A tenth of 10 WETH and 30,000 USDC: 6,000 USD, two thirds of it staked. */
const wethPool: Holding = {
  poolAddress: "0x91",
  token0: WETH,
  token1: USDC,
  balance: 1n * ETHER,
  staked: 2n * ETHER,
  totalSupply: 30n * ETHER,
  reserve0: 10n * ETHER,
  reserve1: 30_000_000_000n,
  earned: [
    { earned0: ETHER / 1_000n, earned1: 2_000_000n },
    { earned0: ETHER / 100n, earned1: 0n },
  ],
  swapFeeAprs: [0.3, 0.06],
  rewardApr: 0.12,
};

/** A half of 4,000 AERO and 2,000 USDC: 2,000 USD, none staked. */
const aeroPool: Holding = {
  poolAddress: "0x92",
  token0: USDC,
  token1: AERO,
  balance: 5n,
  staked: 0n,
  totalSupply: 10n,
  reserve0: 2_000_000_000n,
  reserve1: 4_000n * ETHER,
  earned: [
    { earned0: 1_000_000n, earned1: 4n * ETHER },
    { earned0: 0n, earned1: 0n },
  ],
  swapFeeAprs: [0.1, 0.2],
  rewardApr: null,
};
const unpriced = (holding: Holding, side: "token0" | "token1"): Holding => ({
  ...holding,
  [side]: { ...holding[side], priceUsd: null },
});

describe("portfolioOf", () => {
  it("adds up shares of reserves, fees and APRs", () => {
    const portfolio = portfolioOf([aeroPool, wethPool], ALL);
    expect(portfolio.valueUsd).to.equal(8_000);
    expect([portfolio.positionCount, portfolio.poolCount], "held and staked are two").to.deep.equal([3, 2]);
    // 3 + 2 USD, and 1 + 2 USD; then 30 USD.
    expect(portfolio.feesUsd).to.deep.equal([8, 30]);
    // 2,000 USD at the swap fees of one pool, 4,000 at its gauge's rewards, 2,000 at the swap fees of the other.
    expect(portfolio.aprs[0]).to.be.closeTo((2_000 * 0.3 + 4_000 * 0.12 + 2_000 * 0.1) / 8_000, 1e-15);
    expect(portfolio.aprs[1]).to.be.closeTo((2_000 * 0.06 + 4_000 * 0.12 + 2_000 * 0.2) / 8_000, 1e-15);
    expect(portfolio.pools).to.deep.equal([
      { poolAddress: "0x91", token0Symbol: "WETH", token1Symbol: "USDC", valueUsd: 6_000, share: 0.75 },
      { poolAddress: "0x92", token0Symbol: "USDC", token1Symbol: "AERO", valueUsd: 2_000, share: 0.25 },
    ]);
    expect(portfolio.tokens).to.deep.equal([
      { address: "0x0b", symbol: "USDC", amount: 4_000, valueUsd: 4_000, share: 0.5 },
      { address: "0x0a", symbol: "WETH", amount: 1, valueUsd: 3_000, share: 0.375 },
      { address: "0x0c", symbol: "AERO", amount: 2_000, valueUsd: 1_000, share: 0.125 },
    ]);
    expect(portfolio.concentration).to.equal(0.625);
  });

  it("rounds the share of the reserves down as the pool does", () => {
    const [pool] = portfolioOf([{ ...aeroPool, balance: 1n, totalSupply: 3n, reserve0: 8n, reserve1: 0n }], {
      windows: 0,
      isComplete: true,
    }).pools;
    expect(pool?.valueUsd).to.equal(2e-6);
  });

  it("of nothing is zeros, and nulls where there is nothing to weigh by", () => {
    expect(portfolioOf([], ALL)).to.deep.equal({
      valueUsd: 0,
      positionCount: 0,
      poolCount: 0,
      feesUsd: [0, 0],
      aprs: [null, null],
      pools: [],
      tokens: [],
      concentration: null,
    });
  });

  it("has no totals while a token of any position has no price, but keeps the parts", () => {
    const portfolio = portfolioOf([wethPool, unpriced(aeroPool, "token1")], ALL);
    expect(portfolio).to.deep.include({
      valueUsd: null,
      feesUsd: [null, null],
      aprs: [null, null],
      concentration: null,
      positionCount: 3,
      poolCount: 2,
    });
    expect(portfolio.pools.map(({ valueUsd, share }) => [valueUsd, share])).to.deep.equal([
      [6_000, null],
      [null, null],
    ]);
    expect(
      portfolio.tokens.map(({ symbol, amount, valueUsd, share }) => [symbol, amount, valueUsd, share]),
    ).to.deep.equal([
      ["USDC", 4_000, 4_000, null],
      ["WETH", 1, 3_000, null],
      ["AERO", 2_000, null, null],
    ]);
  });

  it("has no weighted APR while one that counts is unknown", () => {
    const aprsOf = (holding: Holding) =>
      portfolioOf([holding, aeroPool], ALL).aprs.map((apr) => apr === null);
    expect(aprsOf({ ...wethPool, swapFeeAprs: [null, 0.1] }), "one window").to.deep.equal([true, false]);
    expect(aprsOf({ ...wethPool, rewardApr: null }), "staked").to.deep.equal([true, true]);
    expect(aprsOf({ ...wethPool, rewardApr: null, staked: 0n }), "not staked").to.deep.equal([false, false]);
    expect(aprsOf({ ...wethPool, swapFeeAprs: [null, null], balance: 0n }), "all staked").to.deep.equal([
      false,
      false,
    ]);
  });

  it("has no totals while a position may be missing, but every part that is known", () => {
    const portfolio = portfolioOf([wethPool, aeroPool], { windows: 2, isComplete: false });
    expect(portfolio).to.deep.include({
      ...{ valueUsd: null, feesUsd: [null, null], aprs: [null, null], concentration: null },
      ...{ positionCount: 3, poolCount: 2 },
    });
    expect(portfolio.pools.map(({ valueUsd, share }) => [valueUsd, share])).to.deep.equal([
      [6_000, null],
      [2_000, null],
    ]);
    expect(portfolio.tokens.map(({ share }) => share)).to.deep.equal([null, null, null]);
    expect(portfolioOf([], { windows: 1, isComplete: false })).to.include({ valueUsd: null });
  });

  it("counts a position in a pool whose state is unknown, without a value or amounts", () => {
    const unread = { ...aeroPool, totalSupply: 0n, reserve0: 0n, reserve1: 0n };
    const portfolio = portfolioOf([wethPool, unread], ALL);
    expect(portfolio).to.include({ valueUsd: null, positionCount: 3, poolCount: 2 });
    expect(portfolio.pools.map(({ valueUsd }) => valueUsd)).to.deep.equal([6_000, null]);
    expect(portfolio.tokens.map(({ symbol }) => symbol)).to.deep.equal(["WETH", "USDC"]);
  });

  it("counts the fees of positions that were emptied since, where they have a price", () => {
    const emptied = { ...aeroPool, balance: 0n };
    expect(portfolioOf([wethPool, emptied], ALL).feesUsd).to.deep.equal([8, 30]);
    expect(portfolioOf([wethPool, emptied], ALL)).to.include({
      valueUsd: 6_000,
      poolCount: 1,
      positionCount: 2,
    });
    const gone = unpriced(emptied, "token0");
    expect(portfolioOf([wethPool, gone], ALL).feesUsd, "none in the second window").to.deep.equal([null, 30]);
    const unknown = { ...emptied, earned: [null, { earned0: 0n, earned1: 0n }] };
    expect(portfolioOf([wethPool, unknown], ALL).feesUsd, "not covered").to.deep.equal([null, 30]);
  });

  it("has shares that add up to 1, and a concentration between 1/n and 1", () => {
    const holding = fc.record({
      balance: fc.bigInt(1n, 10n ** 20n),
      reserve0: fc.bigInt(10n ** 15n, 10n ** 24n),
    });
    fc.assert(
      fc.property(fc.array(holding, { minLength: 1, maxLength: 20 }), (holdings) => {
        const { pools, tokens, concentration, aprs } = portfolioOf(
          holdings.map((each, i) => ({
            ...wethPool,
            ...each,
            poolAddress: `0x${i}`,
            totalSupply: 10n ** 20n,
            rewardApr: 0.3,
          })),
          { windows: 1, isComplete: true },
        );
        const sum = (shares: readonly { share: number | null }[]) =>
          shares.reduce((total, { share }) => total + (share as number), 0);
        expect(sum(pools)).to.be.closeTo(1, 1e-9);
        expect(sum(tokens)).to.be.closeTo(1, 1e-9);
        expect(concentration).to.be.within(1 / holdings.length - 1e-9, 1 + 1e-9);
        expect(aprs[0], "a mean of equal APRs").to.be.closeTo(0.3, 1e-9);
        const values = pools.map(({ valueUsd }) => valueUsd as number);
        expect(values).to.deep.equal([...values].sort((a, b) => b - a));
      }),
    );
  });
});
