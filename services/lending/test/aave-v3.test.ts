import { expect } from "chai";
import { after, before, it } from "mocha";
import {
  type Abi,
  type AbiEvent,
  encodeFunctionData,
  type Hex,
  pad,
  stringToHex,
  toEventSelector,
} from "viem";
import { aaveTransactions } from "../../../deploy/devnet/aave/transactions.ts";
import {
  aaveConfiguratorAbi,
  aavePoolAbi,
  aaveProviderAbi,
  erc20Abi,
} from "../../../deploy/devnet/contracts/aave/abi.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { createTraders } from "../../../deploy/devnet/traders.ts";
import type { RawLog } from "../../shared/evm/port.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { accrueReserve } from "../protocols/aave-v3/accrue.ts";
import { aaveV3 } from "../protocols/aave-v3/protocol.ts";
import { marketRef, type ReserveState, reserveRef, sentinelRef } from "../protocols/aave-v3/state.ts";
import { type EntityRef, UnreadableEntity } from "../protocols/protocol.ts";
import { type AaveWatch, watchAave } from "./aave-watch.ts";

const ALL = 2n ** 256n - 1n;
const DAY_S = 86_400;
const YEAR_S = 365 * DAY_S;
const NOWHERE: Hex = `0x${"dead".repeat(10)}`;
const ZERO: Hex = `0x${"0".repeat(40)}`;

const usdc = (whole: number) => BigInt(whole) * 10n ** 6n;
const ether = (whole: number) => BigInt(whole) * 10n ** 18n;

/** What happens on the chain in order; after each step every column of every row is held against the contracts. */
describeWithChain("aave-v3 on the genuine contracts", () => {
  let chain: TestChain;
  let watch: AaveWatch;
  /** By what they began with: the first three supply, the others have debts. */
  let users: readonly Hex[];
  before(async () => {
    chain = await createTestChain({ families: ["aave-v3"] });
    users = chain.aave.users;
    watch = await watchAave(chain);
  });
  after(() => chain.stop());
  const user = (i: number) => users[i] as Hex;

  it("reads a market as it was deployed", async () => {
    const rows = await watch.compare();
    expect(rows.map(({ underlying }) => underlying.symbol)).to.deep.equal([
      "USDC",
      "WETH",
      "DAI",
      "WBTC",
      "AERO",
    ]);
    expect(rows.map(({ borrowable }) => borrowable)).to.deep.equal([true, true, true, false, true]);
    expect(rows.map(({ ltv }) => ltv)).to.deep.equal([0.75, 0.8, 0.63, 0.7, null]);
  });

  it("follows supplies, borrows, repayments and withdrawals", async () => {
    await chain.aave.supply("USDC", usdc(123_456) + 789n);
    expect(await watch.step()).to.deep.equal(["USDC"]);
    await chain.aave.borrow("WETH", ether(40) + 1n, { from: user(3) });
    await chain.aave.borrow("AERO", ether(10_000), { from: user(4) });
    expect(await watch.step()).to.deep.equal(["AERO", "WETH"]);
    await chain.aave.repay("USDC", usdc(200_000), { from: user(3) });
    expect(await watch.step()).to.deep.equal(["USDC"]);
    for (const owed of ["WETH", "DAI"] as const) await chain.aave.repay(owed, ALL, { from: user(5) });
    await chain.aave.withdraw("USDC", ALL, { from: user(5) });
    expect(await watch.step()).to.deep.equal(["DAI", "USDC", "WETH"]);
  });

  it("follows debts at stable rates", async () => {
    await chain.aave.borrow("DAI", ether(50_000), { from: user(3), stable: true });
    expect(await watch.step()).to.deep.equal(["DAI"]);
    await watch.pass(7 * DAY_S);
    await chain.aave.repay("DAI", ether(30_000), { from: user(4), stable: true });
    expect(await watch.step()).to.deep.equal(["DAI"]);
  });

  it("accrues a day and a year from what was read before", async () => {
    await watch.pass(DAY_S);
    await watch.pass(YEAR_S);
    // A poke that moves next to nothing: the contracts now store what was accrued before.
    const assets = (["USDC", "DAI"] as const).map((symbol) => chain.aave.reserve(symbol).token.address);
    const before = assets.map(watch.stateOf);
    await chain.aave.repay("USDC", 1n, { from: user(3) });
    await chain.aave.repay("DAI", 1n, { from: user(4) });
    expect(await watch.step()).to.deep.equal(["DAI", "USDC"]);
    const { timestamp: time } = await chain.header(await chain.headNumber());
    for (const [i, state] of assets.map(watch.stateOf).entries()) {
      expect(state.lastUpdate).to.equal(time);
      expect(state.accruedToTreasury > 0n).to.equal(true);
      const { supply, cappedSupply } = accrueReserve(before[i] as ReserveState, time);
      expect(accrueReserve(state, time)).to.include({ supply, cappedSupply });
    }
    await watch.pass(1);
    await watch.pass(2);
  });

  it("takes what the treasury is owed for supplied once it is minted", async () => {
    await chain.aave.mintToTreasury(["USDC", "DAI"]);
    expect(await watch.step()).to.deep.equal(["DAI", "USDC"]);
  });

  it("finds prices and donations, which have no event, at the next reading", async () => {
    await chain.aave.setPrice("WBTC", 42_000.12345678);
    const { aToken, token } = chain.aave.reserve("AERO");
    const gift = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [aToken, ether(5)] });
    await chain.sendTransactions([{ from: user(0), to: token.address, data: gift, gas: "0x30d40" }]);
    expect(await watch.step({ refresh: true })).to.deep.equal([]);
  });

  it("follows a liquidation", async () => {
    await chain.aave.liquidate(user(3), { collateral: "WBTC", debt: "USDC", amount: usdc(250_000) });
    expect(await watch.step()).to.deep.equal(["USDC", "WBTC"]);
  });

  it("follows caps, down to where nothing may be borrowed or supplied any more", async () => {
    await chain.aave.configure("USDC", "setSupplyCap", 0n);
    await chain.aave.configure("USDC", "setBorrowCap", 0n);
    expect(await watch.step()).to.deep.equal(["USDC"]);
    await chain.aave.configure("WETH", "setBorrowCap", 200n);
    await chain.aave.configure("AERO", "setBorrowCap", 1n);
    await chain.aave.configure("DAI", "setSupplyCap", 1n);
    expect(await watch.step()).to.deep.equal(["AERO", "DAI", "WETH"]);
    const rows = await watch.compare();
    expect(rows[4]).to.include({ borrowable: false, depositEnabled: true });
    expect(rows[4]?.available, "there to be withdrawn").to.be.above(0);
    expect(rows[2]).to.include({ depositEnabled: false });
    expect(rows[0]).to.include({ supplyCap: null, borrowCap: null });
  });

  it("counts what the treasury is owed against the supply cap, accrued, as the Pool does", async () => {
    // A whole token above what is supplied, which the treasury's part of the last year's interest uses up.
    const { supply } = (await watch.compare())[4] as { supply: number };
    await chain.aave.configure("AERO", "setSupplyCap", BigInt(Math.ceil(supply)) + 1n);
    await watch.step();
    expect((await watch.compare())[4]).to.include({ depositEnabled: false });
    await chain.aave.configure("AERO", "setSupplyCap", BigInt(Math.ceil(supply)) + 100_000n);
    await watch.step();
    expect((await watch.compare())[4]).to.include({ depositEnabled: true });
    await watch.pass(4 * YEAR_S);
  });

  it("follows freezes and pauses, of a reserve and of all", async () => {
    await chain.aave.configure("AERO", "setReserveFreeze", true);
    expect(await watch.step()).to.deep.equal(["AERO"]);
    await chain.aave.configure("AERO", "setReserveFreeze", false);
    await chain.aave.configure("DAI", "setReservePause", true);
    expect(await watch.step()).to.deep.equal(["AERO", "DAI"]);
    const { configurator } = chain.aave.deployment;
    for (const paused of [true, false]) {
      const args = [paused] as const;
      const data = encodeFunctionData({ abi: aaveConfiguratorAbi, functionName: "setPoolPause", args });
      await chain.aave.govern(configurator, data);
      expect(await watch.step()).to.deep.equal(["AERO", "DAI", "USDC", "WBTC", "WETH"]);
    }
  });

  it("follows reserve factors, collateral settings and whether a token can be borrowed", async () => {
    await chain.aave.configure("USDC", "setReserveFactor", 5_000n);
    expect(await watch.step()).to.deep.equal(["USDC"]);
    await watch.pass(DAY_S);
    // Rates follow with the next action.
    await chain.aave.supply("USDC", usdc(1));
    await chain.aave.configure("WETH", "configureReserveAsCollateral", 0n, 8_300n, 10_500n);
    await chain.aave.configure("WBTC", "setReserveBorrowing", true);
    await chain.aave.configure("AERO", "setReserveBorrowing", false);
    expect(await watch.step()).to.deep.equal(["AERO", "USDC", "WBTC", "WETH"]);
    const rows = await watch.compare();
    expect(rows[1]).to.include({ ltv: 0 });
  });

  it("lists, deactivates and drops reserves", async () => {
    const { owner, pool, configurator, implementations, reserves } = chain.aave.deployment;
    const token = chain.deployment.tokens.DEGEN;
    await chain.sendTransactions([
      aaveTransactions.fund(user(0), token, ether(1)),
      aaveTransactions.approve(user(0), token.address, pool),
    ]);
    const listing = {
      aTokenImpl: implementations.AToken,
      stableDebtTokenImpl: implementations.StableDebtToken,
      variableDebtTokenImpl: implementations.VariableDebtToken,
      underlyingAssetDecimals: token.decimals,
      interestRateStrategyAddress: reserves[0]?.strategy as Hex,
      underlyingAsset: token.address,
      treasury: owner,
      incentivesController: ZERO,
      ...{ aTokenName: "Another", aTokenSymbol: "aDEGEN", params: "0x" as Hex },
      ...{ variableDebtTokenName: "v", variableDebtTokenSymbol: "v" },
      ...{ stableDebtTokenName: "s", stableDebtTokenSymbol: "s" },
    };
    const change = async (data: Hex) => {
      await chain.aave.govern(configurator, data);
      return watch.step();
    };
    const abi = aaveConfiguratorAbi;
    const asset = token.address;
    expect(
      await change(encodeFunctionData({ abi, functionName: "initReserves", args: [[listing]] })),
    ).to.deep.equal(["DEGEN", "market"]);
    expect((await watch.compare())[5]).to.include({
      symbol: "aDEGEN",
      supply: 0,
      depositEnabled: true,
      ltv: null,
    });
    expect(
      await change(encodeFunctionData({ abi, functionName: "setReserveActive", args: [asset, false] })),
    ).to.deep.equal(["DEGEN"]);
    expect((await watch.compare())[5]).to.include({ depositEnabled: false });
    expect(
      await change(encodeFunctionData({ abi, functionName: "dropReserve", args: [asset] })),
    ).to.deep.equal(["DEGEN", "market"]);
    expect(await watch.compare()).to.have.length(5);
    expect(watch.units.state("aave-reserve", `${pool}:${asset}`)).to.equal(null);
  });

  it("keeps to the Pool and the configurator that the provider names", async () => {
    const { provider, pool, configurator, implementations } = chain.aave.deployment;
    const ofConfigurator = watch.logs.filter(({ address }) => address === configurator);
    expect(watch.units.affectedEntities(ofConfigurator)).to.have.length.above(5);
    const set = async (id: string, address: Hex) => {
      const args = [stringToHex(id, { size: 32 }), address] as const;
      await chain.aave.govern(
        provider,
        encodeFunctionData({ abi: aaveProviderAbi, functionName: "setAddress", args }),
      );
    };
    await set("POOL_CONFIGURATOR", NOWHERE);
    await watch.step();
    expect(watch.units.affectedEntities(ofConfigurator)).to.deep.equal([]);
    await set("POOL_CONFIGURATOR", configurator);
    await watch.step();

    // Another Pool, which has no reserves.
    await set("POOL", implementations.Pool);
    await chain.mine(1);
    await watch.units.readRoots(await watch.reader());
    expect(watch.units.rows({ chainId: 8453, time: (await watch.reader()).time })).to.deep.equal([]);
    await set("POOL", ZERO);
    await chain.mine(1);
    await expectUnreadable(watch.units.readRoots(await watch.reader()), `${provider} names no Pool`);
    await set("POOL", pool);
    expect(await watch.step()).to.include("market");
    expect(await watch.compare()).to.have.length(5);
  });

  it("follows whatever traders do, from events alone", async () => {
    const traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 11 });
    const touched: string[] = [];
    for (let i = 0; i < 5; i++) {
      const { timestamp } = await chain.header(await chain.headNumber());
      for (let hour = 1; hour <= 8; hour++) {
        await traders.tradeBlock({ timestamp: timestamp + hour * 3_600, swaps: 0 });
      }
      touched.push(...(await watch.step()));
    }
    await watch.step({ refresh: true });
    expect(touched).to.include.members(["USDC", "WETH", "DAI"]);
  });

  it("follows its contracts only", () => {
    const { pool, configurator, provider } = chain.aave.deployment;
    const contracts = [pool, configurator, provider];
    const logs = watch.logs.filter(({ address }) => contracts.includes(address));
    expect(logs.length).to.be.above(50);
    for (const log of logs) {
      expect(watch.units.affectedEntities([log])).to.have.length.above(0);
      // Events of each of them at another's address are ignored, too.
      for (const address of [NOWHERE, ...contracts]) {
        if (address !== log.address)
          expect(watch.units.affectedEntities([{ ...log, address }])).to.deep.equal([]);
      }
    }
  });

  it("follows every relevant event, by the topics of Aave's interfaces", () => {
    const { pool, configurator, provider, reserves } = chain.aave.deployment;
    const asset = chain.aave.reserve("DAI").token.address;
    const one = reserveRef(pool, asset);
    const all = reserves.map(({ token }) => reserveRef(pool, token.address));
    const market = marketRef(provider);
    const marks: Record<string, readonly EntityRef[]> = {
      ReserveInitialized: [market, one],
      ReserveDropped: [market, one],
      EModeCategoryAdded: [market],
      AssetCollateralInEModeChanged: [market],
      AssetBorrowableInEModeChanged: [market],
      AssetLtvzeroInEModeChanged: [market],
      PriceOracleSentinelUpdated: [sentinelRef(provider)],
    };
    const relevant = [
      ...eventsOf(aavePoolAbi).map((event) => ({ event, address: pool, units: [one] })),
      ...eventsOf(aaveConfiguratorAbi).map((event) => ({ event, address: configurator, units: [one] })),
      ...eventsOf(aaveProviderAbi).map((event) => ({ event, address: provider, units: [market, ...all] })),
    ].filter(({ event }) => !IGNORED.includes(event.name));
    const topics = relevant.map(({ event }) => toEventSelector(event));
    expect([...aaveV3.topics].sort()).to.deep.equal([...topics].sort());
    for (const [i, { event, address, units: usual }] of relevant.entries()) {
      const log = { ...(watch.logs[0] as RawLog), address, topics: [topics[i] as Hex, pad(asset)] };
      expect(watch.units.affectedEntities([log]), event.name).to.deep.equal(marks[event.name] ?? usual);
    }
  });

  it("reports contracts that are not Aave's as unreadable", async () => {
    const { pool } = chain.aave.deployment;
    const read = async (kind: string, id: string) =>
      aaveV3.read(
        { kind, id },
        { reader: await watch.reader(), previous: undefined, deployment: { markets: [] } },
      );
    await expectUnreadable(read("aave-market", NOWHERE), "reverts");
    await expectUnreadable(read("aave-reserve", `${NOWHERE}:${NOWHERE}`), "reverts");
    const token = chain.deployment.tokens.USDC.address;
    await expectUnreadable(read("aave-market", token), "reverts");
    expect(await read("aave-reserve", `${pool}:${NOWHERE}`)).to.deep.equal({ state: null });
  });
});

/** Each comes with another event, or changes no row. Prices are read at every head. */
const IGNORED = ["Supply", "Withdraw", "Borrow", "Repay", "LiquidationCall", "PriceOracleUpdated"];

function eventsOf(abi: Abi): readonly AbiEvent[] {
  return abi.filter((item) => item.type === "event");
}

async function expectUnreadable(promise: Promise<unknown>, words: string): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(UnreadableEntity);
  expect((error as Error).message).to.include(words);
}
