import { expect } from "chai";
import { after, before, it } from "mocha";
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex, zeroHash } from "viem";
import { eulerEarnAbi, eulerVaultAbi } from "../../../deploy/devnet/contracts/euler/abi.ts";
import { eulerHook } from "../../../deploy/devnet/contracts/euler/artifacts.ts";
import {
  eulerAggregationFactory as factoryContract,
  eulerAggregationVault as vaultContract,
} from "../../../deploy/devnet/contracts/euler/more-artifacts.ts";
import type { EulerKit } from "../../../deploy/devnet/euler/testkit.ts";
import { onEarn, onEarnFactory } from "../../../deploy/devnet/euler/transactions.ts";
import type { Address, Transaction } from "../../../deploy/devnet/node/transactions.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import type { AggregationState } from "../protocols/euler-v2/aggregation-state.ts";
import type { VaultMarketRow, VaultRow } from "../protocols/rows.ts";
import { EulerWatch } from "./euler-watch.ts";

const DAY = 86_400;
const GAS: Hex = "0x7a1200";
/** 2.5 million USDC: mantissa 250, exponent 12. */
const CAP = (250 << 6) | 12;

type Call = Parameters<typeof encodeFunctionData<typeof vaultContract.abi>>[0];

describeWithChain("lending: EulerEarn vaults of before August 2025 against the contracts", () => {
  let chain: TestChain;
  let euler: EulerKit;
  let watch: EulerWatch;
  let owner: Address;
  let factory: Address;
  let vault: Address;
  let strategies: readonly [Address, Address];

  before(async () => {
    chain = await createTestChain({ poolCount: 1, families: ["euler-v2"] });
    euler = chain.euler;
    owner = chain.accounts[5] as Address;
    strategies = [euler.vault("eUSDC-1").address, euler.vault("eUSDC-2").address];
    const nonce = BigInt(await chain.client.getTransactionCount({ address: owner }));
    factory = getContractAddress({ from: owner, nonce }).toLowerCase() as Address;
    watch = new EulerWatch(chain, { aggregationFactories: [{ address: factory, fromBlock: 1 }] });
    await watch.start();
    await watch.mine([{ from: owner, data: factoryContract.bytecode, gas: GAS }]);
  });
  after(() => chain.stop());

  const onVault = (call: Omit<Call, "abi">, from = owner): Transaction => ({
    ...{ from, to: vault, gas: GAS },
    data: encodeFunctionData({ abi: vaultContract.abi, ...call } as Call),
  });
  const read = <T>(functionName: string, args: readonly unknown[] = []) =>
    chain.client.readContract({
      ...{ address: vault, abi: vaultContract.abi, functionName, args },
    } as never) as Promise<T>;
  const readEvk = <T>(address: Address, functionName: string, args: readonly unknown[] = []) =>
    chain.client.readContract({
      ...{ address, abi: eulerVaultAbi, functionName, args },
    } as never) as Promise<T>;
  const state = (): AggregationState => {
    const entity = watch.units.table.get<AggregationState>("aggregation-vault", vault);
    if (entity === undefined) throw new Error("The vault was not read.");
    return entity.state;
  };

  /** The vault's row and its markets against what its contract and its strategies say at the head. */
  async function compare(): Promise<VaultRow> {
    const row = (await watch.rowOf(vault)) as VaultRow;
    const total = await read<bigint>("totalAssets");
    const held = await Promise.all(
      strategies.map(async (strategy) => {
        const { status } = await read<{ status: number }>("getStrategy", [strategy]);
        const shares = await readEvk<bigint>(strategy, "balanceOf", [vault]);
        const evk = (await watch.rowOf(strategy)) as VaultRow;
        return {
          ...{ strategy, evk, isActive: status === 1 },
          assets: await readEvk<bigint>(strategy, "previewRedeem", [shares]),
          liquid: await readEvk<bigint>(strategy, "maxWithdraw", [vault]),
        };
      }),
    );
    const active = held.filter(({ isActive }) => isActive);
    const sum = (amount: (each: (typeof active)[number]) => number) =>
      active.reduce((all, each) => all + amount(each), 0);
    const supply = Number(total) / 1e6;
    const cash = Number(await readEvk<bigint>(state().asset.address as Address, "balanceOf", [vault])) / 1e6;
    const [, fee] = await read<readonly [Address, bigint]>("performanceFeeConfig");
    expect(row).to.deep.include({
      ...{ supply, performanceFee: Number(fee) / 1e18, managementFee: 0, supplyCap: null, borrowCap: null },
      ...{ vaultName: await read("name"), symbol: await read("symbol"), listed: false },
      ...{ underlying: { address: state().asset.address, symbol: "USDC" } },
    });
    const liquid = sum((each) => Number(each.liquid) / 1e6) + cash;
    expect(row.available).to.be.closeTo(Math.min(supply, liquid), 2e-6);
    const lent = sum(({ assets, evk }) => (Number(assets) / 1e6) * (evk.utilizationRate ?? 0));
    expect(row.borrow).to.be.closeTo(lent, 2e-6 + lent * 1e-9);
    const earned =
      sum(({ assets, evk }) => Number(assets) * (evk.supplyApy ?? Number.NaN)) / Number(total || 1n);
    expect(row.supplyApy).to.be.closeTo(earned, 1e-9);
    const pairs = (await watch.rows()).filter(
      (each): each is VaultMarketRow => each.table === "vault-market" && each.vaultAddress === vault,
    );
    for (const { strategy, assets } of active) {
      const own = pairs.filter(({ marketId }) => marketId.startsWith(strategy));
      expect(own, strategy).to.have.length.above(0);
      for (const each of own) expect(each.allocation, each.marketId).to.equal(Number(assets) / 1e6);
    }
    return row;
  }
  const act = async (...transactions: Transaction[]): Promise<VaultRow> => {
    expect(await watch.mine(transactions)).to.deep.include({ kind: "aggregation-vault", id: vault });
    return compare();
  };
  const deposit = (assets: bigint): Transaction[] => [
    ...euler.fund({
      ...{ account: owner, amount: assets },
      vault: { ...euler.earn("pUSDC"), address: vault },
    }),
    onVault({ functionName: "deposit", args: [assets, owner] }),
  ];

  it("finds a vault by its factory's event, and who made it", async () => {
    const { USDC } = euler.deployment.tokens;
    const args = [USDC.address, "Old Prime", "oldUSDC", 1_000n, DAY] as const;
    const data = encodeFunctionData({ ...factoryContract, functionName: "deployEulerEarn", args });
    const found = await watch.mine([{ from: owner, to: factory, data, gas: GAS }]);
    const [first, second, ...others] = found;
    vault = first?.id as Address;
    expect([first?.kind, second]).to.deep.equal([
      "aggregation-vault",
      { kind: "earn-creation", id: `${vault}:${owner}` },
    ]);
    expect(others).to.deep.equal([]);
    expect(await watch.rowOf(vault)).to.include({
      curator: owner,
      isOfCurator: true,
      depositEnabled: true,
      supply: 0,
    });
  });

  it("follows deposits, strategies and rebalancing", async () => {
    await act(onVault({ functionName: "addStrategy", args: [strategies[0], 3_000n] }));
    await act(onVault({ functionName: "addStrategy", args: [strategies[1], 1_000n] }));
    const idle = await act(...deposit(1_000_000_000_000n));
    expect(idle).to.include({ supply: 1_000_000, available: 1_000_000, borrow: 0, supplyApy: 0 });
    const placed = await act(onVault({ functionName: "rebalance", args: [[...strategies]] }));
    expect(placed.supplyApy).to.be.above(0);
    expect(placed.borrow).to.be.above(0);
    expect(placed.borrowable).to.equal(true);
  });

  it("hands out harvested yield as the contract does, between readings", async () => {
    await watch.wait(30 * DAY);
    const before = await compare();
    expect(before.supply, "yield that nobody harvested").to.equal(1_000_000);
    const harvested = await act(onVault({ functionName: "harvest", args: [] }));
    expect(harvested.supply).to.be.closeTo(1_000_000, 1);
    await watch.wait(DAY / 3);
    const third = await compare();
    await watch.wait(DAY);
    const whole = await compare();
    expect(third.supply).to.be.above(harvested.supply).and.below(whole.supply);
    const gained = (row: VaultRow) => row.supply - harvested.supply;
    expect(gained(third) / gained(whole)).to.be.closeTo(1 / 3, 0.01);
  });

  it("follows fees, caps, emergencies and the order of withdrawals", async () => {
    const set = (functionName: string, args: readonly unknown[]) =>
      act(onVault({ functionName, args } as never));
    await set("setFeeRecipient", [owner]);
    expect(await set("setPerformanceFee", [10n ** 17n])).to.include({ performanceFee: 0.1 });
    await set("setStrategyCap", [strategies[0], CAP]);
    expect(state().strategies.map(({ cap }) => cap)).to.deep.equal([CAP, 0]);
    const pairs = (await watch.rows()).filter(
      (row) =>
        row.table === "vault-market" && row.vaultAddress === vault && row.marketId.startsWith(strategies[0]),
    );
    for (const pair of pairs) expect(pair).to.include({ supplyCap: 2_500_000 });
    const whole = await compare();
    const less = await set("toggleStrategyEmergencyStatus", [strategies[1]]);
    expect(less.supply).to.be.below(whole.supply - 100_000);
    await set("toggleStrategyEmergencyStatus", [strategies[1]]);
    await watch.wait(2 * DAY);
    expect((await compare()).supply).to.be.above(less.supply + 100_000);
    await set("reorderWithdrawalQueue", [0, 1]);
    expect(state().strategies.map(({ vault: id }) => id)).to.deep.equal([...strategies].reverse());
  });

  it("tries what a hook refuses", async () => {
    const nonce = BigInt(await chain.client.getTransactionCount({ address: owner }));
    const hook = getContractAddress({ from: owner, nonce }).toLowerCase() as Address;
    const onHook = (selector: Hex, isRefused: boolean): Transaction => ({
      ...{ from: owner, to: hook, gas: GAS },
      data: encodeFunctionData({ ...eulerHook, functionName: "setRefused", args: [selector, isRefused] }),
    });
    await watch.mine([{ from: owner, data: encodeDeployData({ ...eulerHook }), gas: GAS }]);
    const hooked = await act(onVault({ functionName: "setHooksConfig", args: [hook, 3] }));
    expect(hooked).to.include({ depositEnabled: true });
    const touch = onVault({ functionName: "reorderWithdrawalQueue", args: [0, 1] });
    const refuse = (selector: Hex, isRefused: boolean) => watch.mine([onHook(selector, isRefused), touch]);
    await refuse("0x6e553f65", true);
    expect(await watch.rowOf(vault)).to.include({ depositEnabled: false });
    await refuse("0xb460af94", true);
    expect(await watch.rowOf(vault)).to.include({ available: 0 });
    await act(onVault({ functionName: "setHooksConfig", args: [hook, 0] }));
  });

  it("names its first admin as the curator", async () => {
    const heir = chain.accounts[6] as Address;
    await act(onVault({ functionName: "grantRole", args: [zeroHash, heir] }));
    expect(await watch.rowOf(vault)).to.include({ curator: owner, isOfCurator: true });
    await act(onVault({ functionName: "revokeRole", args: [zeroHash, owner] }));
    expect(await watch.rowOf(vault)).to.include({ curator: heir, isOfCurator: false });
    await act(onVault({ functionName: "grantRole", args: [zeroHash, owner] }, heir));
    await act(onVault({ functionName: "revokeRole", args: [zeroHash, heir] }, heir));
  });

  it("is a strategy like any other of Euler's vaults", async () => {
    const { earnFactory, tokens } = euler.deployment;
    const args = [owner, 0n, tokens.USDC.address, "outer", "outer", zeroHash] as const;
    const [made] = await watch.mine([
      onEarnFactory(owner, earnFactory, { functionName: "createEulerEarn", args }),
    ]);
    const outer = made?.id as Address;
    await watch.mine([
      onEarn(owner, outer, { functionName: "submitCap", args: [vault, 2n ** 136n - 1n] }),
      onEarn(owner, outer, { functionName: "acceptCap", args: [vault] }),
      onEarn(owner, outer, { functionName: "setSupplyQueue", args: [[vault]] }),
      ...euler.fund({
        ...{ account: owner, amount: 10n ** 11n },
        vault: { ...euler.earn("pUSDC"), address: outer },
      }),
      onEarn(owner, outer, { functionName: "deposit", args: [10n ** 11n, owner] }),
    ]);
    await act(onVault({ functionName: "harvest", args: [] }));
    await watch.wait(DAY / 2);
    const total = await chain.client.readContract({
      ...{ address: outer, abi: eulerEarnAbi, functionName: "totalAssets" },
    } as const);
    const [row, inner] = [await watch.rowOf(outer), await compare()];
    expect(row).to.include({ supply: Number(total) / 1e6, supplyCap: null, depositEnabled: true });
    expect(row?.supplyApy).to.be.closeTo((inner.supplyApy as number) * 0.9, 1e-6);
  });

  it("is found by the scan of the past, too, and pays out", async () => {
    const late = new EulerWatch(chain, { aggregationFactories: [{ address: factory, fromBlock: 1 }] });
    await late.start();
    expect(await late.rowOf(vault)).to.deep.equal(await watch.rowOf(vault));
    const before = await compare();
    const after = await act(onVault({ functionName: "withdraw", args: [500_000_000_000n, owner, owner] }));
    expect(after.supply).to.be.below(before.supply - 499_000);
    const unknown = new EulerWatch(chain);
    await unknown.start();
    expect(await unknown.rowOf(vault)).to.equal(undefined);
  });
});
