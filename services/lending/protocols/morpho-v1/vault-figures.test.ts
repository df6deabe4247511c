import { expect } from "chai";
import { describe, it } from "mocha";
import { type MarketFigures, marketFigures } from "./market-figures.ts";
import type { MarketState, VaultMarket, VaultState } from "./state.ts";
import { vaultFigures } from "./vault-figures.ts";

const WAD = 10n ** 18n;
const NO_CAP = 2n ** 184n - 1n;
const USDC = { address: "0x01", symbol: "USDC", decimals: 6 };
const WETH = { address: "0x02", symbol: "WETH", decimals: 18 };
const NONE = { address: `0x${"0".repeat(40)}`, symbol: "", decimals: 0 };

/** 1,000 supplied at a million shares an asset, 600 of them lent at a constant rate. */
const LENT: MarketState = {
  params: { loan: USDC, collateral: WETH, oracle: "0x0a", irm: "0x0b", lltv: (86n * WAD) / 100n },
  supplyAssets: 1_000n,
  supplyShares: 1_000_000_000n,
  borrowAssets: 600n,
  borrowShares: 600_000_000n,
  lastUpdate: 100,
  fee: 0n,
  rateAtTarget: null,
  borrowRate: 10n ** 9n,
};
const IDLE: MarketState = {
  ...LENT,
  params: { ...LENT.params, collateral: NONE, lltv: 0n },
  borrowAssets: 0n,
  borrowShares: 0n,
  borrowRate: 0n,
};
const figures = (states: Record<string, MarketState>): Map<string, MarketFigures> =>
  new Map(Object.entries(states).map(([id, state]) => [id, marketFigures(state, 100)]));
const held = (id: string, more: Partial<VaultMarket> = {}): VaultMarket => ({
  id,
  cap: 500n,
  enabled: true,
  removableAt: 0,
  pendingCap: { value: 0n, validAt: 0 },
  shares: 400_000_000n,
  ...more,
});
const vault = (more: Partial<VaultState> = {}): VaultState => ({
  name: "Vault",
  symbol: "V",
  asset: USDC,
  decimalsOffset: 12,
  owner: "0x10",
  curator: "0x11",
  guardian: NONE.address,
  feeRecipient: NONE.address,
  timelock: 0,
  fee: 0n,
  totalSupply: 0n,
  lastTotalAssets: 0n,
  lostAssets: null,
  supplyQueue: ["lent"],
  markets: [held("lent")],
  ...more,
});

describe("Morpho: a vault's figures", () => {
  it("are its part of each market", () => {
    const markets = [held("lent"), held("idle", { shares: 100_000_000n })];
    const found = vaultFigures(vault({ markets }), figures({ lent: LENT, idle: IDLE }));
    expect(found).to.include({
      totalAssets: 500n,
      borrowed: 240n,
      liquidity: 500n,
      utilization: 0.48,
      lltv: (86n * WAD) / 100n,
      isBorrowable: true,
    });
    const borrowApy = Math.expm1(31_536_000e-9);
    expect(found?.borrowApy).to.be.closeTo(borrowApy * 0.8, 1e-12);
    expect(found?.supplyApy).to.be.closeTo(Math.expm1(31_536_000e-9 * 0.6) * 0.8, 1e-12);
  });

  it("have as liquidity no more than what the markets do not lend", () => {
    const all = held("lent", { shares: 900_000_000n });
    expect(vaultFigures(vault({ markets: [all] }), figures({ lent: LENT }))?.liquidity).to.equal(400n);
  });

  it("are capped at what the vault has and its supply queue's markets take, each once; a cap that cannot bind counts as uncapped", () => {
    const figuresWith = (more: Partial<VaultState>) =>
      vaultFigures(vault(more), figures({ lent: LENT, idle: IDLE }));
    const both = [held("lent"), held("idle", { cap: NO_CAP })];
    // 800 units held, 100 more below the cap of the one market in the queue.
    expect(figuresWith({ markets: both })?.supplyCap).to.equal(900n);
    expect(figuresWith({ markets: both, supplyQueue: ["lent", "lent"] })?.supplyCap).to.equal(900n);
    expect(figuresWith({ markets: both, supplyQueue: ["lent", "idle"] })?.supplyCap).to.equal(null);
    expect(figuresWith({ markets: [held("lent", { cap: 2n ** 128n - 1n })] })?.supplyCap).to.equal(null);
    expect(figuresWith({ markets: [held("lent", { cap: 2n ** 128n - 2n })] })?.supplyCap).to.equal(
      2n ** 128n - 2n,
    );
    expect(figuresWith({ markets: both, supplyQueue: [] })?.supplyCap).to.equal(800n);
  });

  it("disable deposits where caps are reached, counting what the vault has rounded up", () => {
    const takes = (cap: bigint, shares: bigint) =>
      vaultFigures(vault({ markets: [held("lent", { cap, shares })] }), figures({ lent: LENT }))
        ?.isDepositEnabled;
    expect([takes(401n, 400_000_000n), takes(400n, 400_000_000n), takes(0n, 0n)]).to.deep.equal([
      true,
      false,
      false,
    ]);
    expect(takes(400n, 399_000_001n)).to.equal(false);
    expect(takes(400n, 399_000_000n)).to.equal(true);
  });

  it("keep what is lost in v1.1: the old loss, or what fell since the last accrual; nothing in v1.0", () => {
    const total = (lastTotalAssets: bigint, lostAssets: bigint | null) =>
      vaultFigures(vault({ lastTotalAssets, lostAssets }), figures({ lent: LENT }))?.totalAssets;
    expect(total(700n, null)).to.equal(400n);
    expect(total(300n, 0n)).to.equal(400n);
    expect(total(700n, 0n), "300 lost since").to.equal(700n);
    expect(total(700n, 300n), "300 lost before").to.equal(700n);
    expect(total(600n, 300n), "100 earned since").to.equal(700n);
    expect(total(800n, 300n), "100 more lost").to.equal(800n);
  });

  it("are zeros and no rate at all in an empty vault", () => {
    const found = vaultFigures(vault({ markets: [held("lent", { shares: 0n })] }), figures({ lent: LENT }));
    expect(found).to.include({ totalAssets: 0n, borrowed: 0n, utilization: 0, supplyApy: 0, borrowApy: 0 });
    expect(vaultFigures(vault({ markets: [] }), figures({}))).to.include({ lltv: null, isBorrowable: false });
  });

  it("lend where a market with a collateral has assets of the vault, and liquidity, and a rate", () => {
    const isBorrowable = (market: VaultMarket, lent = LENT) =>
      vaultFigures(vault({ markets: [market] }), figures({ lent, idle: IDLE }))?.isBorrowable;
    expect(isBorrowable(held("lent", { cap: 0n }))).to.equal(true);
    expect(isBorrowable(held("lent", { shares: 0n }))).to.equal(false);
    expect(isBorrowable(held("idle"))).to.equal(false);
    expect(isBorrowable(held("lent"), { ...LENT, borrowAssets: LENT.supplyAssets })).to.equal(false);
    expect(isBorrowable(held("lent"), { ...LENT, borrowRate: null })).to.equal(false);
  });

  it("have no rates where a market with assets of the vault names none, and no figures without a market", () => {
    const unknown = { ...LENT, borrowRate: null };
    const rates = { supplyApy: null, borrowApy: null };
    expect(vaultFigures(vault(), figures({ lent: unknown }))).to.include({ ...rates, totalAssets: 400n });
    const unused = vault({ markets: [held("lent", { shares: 0n })] });
    expect(vaultFigures(unused, figures({ lent: unknown }))?.supplyApy).to.equal(0);
    expect(vaultFigures(vault(), figures({}))).to.equal(undefined);
  });
});
