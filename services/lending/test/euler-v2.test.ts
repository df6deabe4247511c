import { expect } from "chai";
import { after, before, it } from "mocha";
import {
  concat,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  toFunctionSelector,
  zeroAddress,
} from "viem";
import { eulerVaultAbi } from "../../../deploy/devnet/contracts/euler/abi.ts";
import {
  eulerHook,
  eulerRateModel,
  eulerVaultFactory,
} from "../../../deploy/devnet/contracts/euler/artifacts.ts";
import { encodeAmountCap } from "../../../deploy/devnet/euler/amount-cap.ts";
import { USD } from "../../../deploy/devnet/euler/plan.ts";
import type { EulerKit } from "../../../deploy/devnet/euler/testkit.ts";
import { onPerspective, onVault, onVaultFactory } from "../../../deploy/devnet/euler/transactions.ts";
import type { Address, Transaction } from "../../../deploy/devnet/node/transactions.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { eulerV2 } from "../protocols/euler-v2/protocol.ts";
import { UnreadableEntity } from "../protocols/protocol.ts";
import { EulerWatch } from "./euler-watch.ts";

const DAY = 86_400;

describeWithChain("lending: EVK vaults against the contracts", () => {
  let chain: TestChain;
  let euler: EulerKit;
  let watch: EulerWatch;
  let refused: unknown;
  let owner: Address;
  let supplier: Address;
  let usdc: Address;
  let weth: Address;

  before(async () => {
    chain = await createTestChain({ poolCount: 1, families: ["euler-v2"] });
    euler = chain.euler;
    watch = new EulerWatch(chain);
    refused = await watch.start();
    owner = euler.deployment.owner;
    supplier = euler.deployment.supplier;
    usdc = euler.vault("eUSDC-1").address;
    weth = euler.vault("eWETH-1").address;
    // Read as stored: what a contract has accrued by itself since would be one rounding further.
    await watch.mine(euler.deployment.vaults.map(({ address }) => watch.poke(address)));
  });
  after(() => chain.stop());

  const vault = (id: Address) => ({ kind: "evk-vault", id });
  const borrowerOf = (name: Parameters<EulerKit["vault"]>[0]) => euler.vault(name).borrower as Address;

  it("finds every vault in the factory's list and by the scan, and lets a broken one be unreadable alone", async () => {
    const { brokenVault, vaults, earnVaults, factory } = euler.deployment;
    expect(refused).to.be.instanceOf(UnreadableEntity);
    expect((refused as Error).message).to.include(brokenVault);
    const idsOf = (kind: string) => [...watch.units.table.all(kind)].map(({ id }) => id);
    const addressesOf = (listed: readonly { address: Address }[]) => listed.map(({ address }) => address);
    expect(idsOf("evk-vault")).to.have.members(addressesOf(vaults));
    expect(idsOf("earn-vault")).to.have.members(addressesOf(earnVaults));
    expect(watch.units.table.get("evk-factory", factory)?.state).to.deep.equal({
      vaults: vaults.length + 1,
    });
    await watch.compare();
    expect(await watch.rowOf(brokenVault)).to.equal(undefined);
  });

  it("keeps what identifies a vault in its state", async () => {
    const [escrow, unpriced] = await Promise.all(
      (["eAERO-1", "eDEGEN-1"] as const).map((name) => watch.rowOf(euler.vault(name).address)),
    );
    expect(unpriced).to.include({ ltv: null, borrowable: false, depositEnabled: true });
    expect(escrow).to.include({ ltv: null, borrowable: false, borrow: 0, supplyApy: 0 });
    const state = watch.units.table.get("evk-vault", usdc)?.state;
    const read = (functionName: "dToken" | "governorAdmin" | "interestRateModel") =>
      chain.client.readContract({ address: usdc, abi: eulerVaultAbi, functionName });
    expect(state).to.deep.include({
      dToken: (await read("dToken")).toLowerCase(),
      governorAdmin: (await read("governorAdmin")).toLowerCase(),
      interestRateModel: (await read("interestRateModel")).toLowerCase(),
      configFlags: 0,
    });
  });

  it("follows deposits, loans and repayments, each touching its vault alone", async () => {
    const borrower = borrowerOf("eUSDC-1");
    const deposit = onVault(supplier, usdc, { functionName: "deposit", args: [123_456_789n, supplier] });
    expect(await watch.act(deposit)).to.deep.equal([vault(usdc)]);
    const borrow = onVault(borrower, usdc, { functionName: "borrow", args: [1_000_000_000_001n, borrower] });
    expect(await watch.act(borrow)).to.deep.equal([vault(usdc)]);
    const repay = onVault(borrower, usdc, { functionName: "repay", args: [77_777n, borrower] });
    const withdraw = onVault(supplier, weth, {
      functionName: "withdraw",
      args: [10n ** 18n, supplier, supplier],
    });
    expect(await watch.act(repay, withdraw)).to.have.deep.members([vault(usdc), vault(weth)]);
  });

  it("accrues a day of interest as the contracts do, without reading anything again", async () => {
    await watch.wait(DAY);
    await watch.compare();
    await watch.compareBooks();
  });

  it("follows caps, also one of zero", async () => {
    const caps = (...args: readonly [number, number]) =>
      onVault(owner, usdc, { functionName: "setCaps", args });
    expect(await watch.act(caps(encodeAmountCap(9_990_000_000_000n), 0))).to.deep.equal([vault(usdc)]);
    expect(await watch.rowOf(usdc)).to.include({ supplyCap: 9_990_000, borrowCap: null });
    await watch.act(caps(encodeAmountCap(0n), encodeAmountCap(0n)));
    expect(await watch.rowOf(usdc)).to.include({
      ...{ supplyCap: 0, borrowCap: 0 },
      ...{ depositEnabled: false, borrowable: false },
    });
    await watch.act(caps(0, encodeAmountCap(4_000_000_000_000n)));
  });

  it("follows the interest fee, charged on what accrues from then on", async () => {
    const set = onVault(owner, usdc, { functionName: "setInterestFee", args: [5_000] });
    expect(await watch.act(set)).to.deep.equal([vault(usdc)]);
    await watch.wait(DAY);
    await watch.compare();
    await watch.compareBooks();
  });

  it("follows LTVs: what may be borrowed changes at once, however long liquidation takes to follow", async () => {
    const eth = euler.vault("eWETH-1").address;
    const btc = euler.vault("eWBTC-1").address;
    const set = (
      ...args: readonly [collateral: Address, borrow: number, liquidation: number, ramp: number]
    ) => onVault(owner, usdc, { functionName: "setLTV", args });
    expect(await watch.act(set(eth, 6_000, 6_500, 10 * DAY), watch.poke(usdc))).to.deep.equal([vault(usdc)]);
    const liquidation = () =>
      chain.client.readContract({
        ...{ address: usdc, abi: eulerVaultAbi, functionName: "LTVLiquidation", args: [eth] },
      } as const);
    expect(await liquidation()).to.equal(8_500);
    expect(await watch.rowOf(usdc)).to.include({ ltv: 0.78 });
    await watch.wait(5 * DAY);
    expect(await liquidation()).to.be.within(7_400, 7_600);
    await watch.compare();
    // A pair that nothing more may be borrowed on is no market, while its debts are still ramped down.
    await watch.act(set(btc, 0, 7_000, DAY));
    const markets = (await watch.rows()).flatMap((row) =>
      row.table === "market" && row.marketId.startsWith(usdc) ? [row.marketId] : [],
    );
    expect(markets).to.deep.equal([`${usdc}:${eth}`]);
    await watch.act(set(btc, 7_800, 8_300, 0));
  });

  it("follows hooks: a hooked operation without a target is disabled, as trying it shows", async () => {
    const borrower = borrowerOf("eUSDC-1");
    const hook = (target: Address, operations: number) =>
      onVault(owner, usdc, { functionName: "setHookConfig", args: [target, operations] });
    const fails = (call: Transaction) =>
      chain.client.call({ account: call.from, to: call.to as Address, data: call.data }).then(
        () => false,
        (error: Error) => /E_OperationDisabled/.test(error.message),
      );
    const deposit = onVault(supplier, usdc, { functionName: "deposit", args: [1_000_000n, supplier] });
    const borrow = onVault(borrower, usdc, { functionName: "borrow", args: [1_000_000n, borrower] });
    expect(await watch.act(hook(zeroAddress, 1 << 0))).to.deep.equal([vault(usdc)]);
    expect(await watch.rowOf(usdc)).to.include({ depositEnabled: false, borrowable: true });
    expect([await fails(deposit), await fails(borrow)]).to.deep.equal([true, false]);
    await watch.act(hook(zeroAddress, 1 << 6));
    expect(await watch.rowOf(usdc)).to.include({ depositEnabled: true, borrowable: false });
    expect([await fails(deposit), await fails(borrow)]).to.deep.equal([false, true]);
    // Withdrawing, for which cash is there, but not to be had.
    await watch.act(hook(zeroAddress, 1 << 2));
    expect(await watch.rowOf(usdc)).to.include({ available: 0, depositEnabled: true, borrowable: true });
    // The check that ends every operation: maxDeposit() does not know of it.
    await watch.act(hook(zeroAddress, 1 << 14));
    expect(await watch.rowOf(usdc)).to.include({ available: 0, depositEnabled: false, borrowable: false });
    expect([await fails(deposit), await fails(borrow)]).to.deep.equal([true, true]);
    const maxDeposit = { address: usdc, abi: eulerVaultAbi, functionName: "maxDeposit" } as const;
    expect((await chain.client.readContract({ ...maxDeposit, args: [supplier] })) > 0n).to.equal(true);
    await watch.act(hook(zeroAddress, 0));
  });

  it("tries hooked operations with a target, as an account without special rights would", async () => {
    const borrower = borrowerOf("eUSDC-1");
    const nonce = await chain.client.getTransactionCount({ address: owner });
    const target = getContractAddress({ from: owner, nonce: BigInt(nonce) }).toLowerCase() as Address;
    const operations = (1 << 0) | (1 << 2) | (1 << 6);
    const hook = (mask: number) =>
      onVault(owner, usdc, { functionName: "setHookConfig", args: [target, mask] });
    const onTarget = (call: Parameters<typeof encodeFunctionData<typeof eulerHook.abi>>[0]) => ({
      from: owner,
      to: target,
      data: encodeFunctionData(call),
      gas: "0x30d40" as const,
    });
    const refuse = (signature: string, isRefused: boolean) =>
      onTarget({
        abi: eulerHook.abi,
        functionName: "setRefused",
        args: [toFunctionSelector(signature), isRefused],
      });
    const accepted = (call: Transaction) =>
      chain.client.call({ account: call.from, to: call.to as Address, data: call.data }).then(
        () => true,
        () => false,
      );
    const deposit = onVault(supplier, usdc, { functionName: "deposit", args: [1_000_000n, supplier] });
    const borrow = onVault(borrower, usdc, { functionName: "borrow", args: [1_000_000n, borrower] });
    await watch.mine([{ from: owner, data: eulerHook.bytecode, gas: "0x7a1200" }]);
    await watch.mine([hook(operations)]);
    expect(await watch.rowOf(usdc)).to.include({ depositEnabled: true, borrowable: true });
    expect([await accepted(deposit), await accepted(borrow)]).to.deep.equal([true, true]);

    await watch.mine([refuse("function deposit(uint256,address)", true), watch.poke(usdc)]);
    expect(await watch.rowOf(usdc)).to.include({ depositEnabled: false, borrowable: true });
    expect([await accepted(deposit), await accepted(borrow)]).to.deep.equal([false, true]);

    await watch.mine([refuse("function borrow(uint256,address)", true), watch.poke(usdc)]);
    expect(await watch.rowOf(usdc)).to.include({ depositEnabled: false, borrowable: false });
    // Whom the target admits may go on: the flags are those of everybody else.
    const admit = onTarget({ abi: eulerHook.abi, functionName: "admit", args: [borrower] });
    await watch.mine([admit, watch.poke(usdc)]);
    expect([await accepted(borrow), (await watch.rowOf(usdc))?.borrowable]).to.deep.equal([true, false]);

    await watch.mine([
      refuse("function deposit(uint256,address)", false),
      refuse("function borrow(uint256,address)", false),
      refuse("function withdraw(uint256,address,address)", true),
      watch.poke(usdc),
    ]);
    expect(await watch.rowOf(usdc)).to.include({ depositEnabled: true, borrowable: true, available: 0 });
    await watch.act(onVault(owner, usdc, { functionName: "setHookConfig", args: [zeroAddress, 0] }));
  });

  it("follows rate models, also none", async () => {
    const set = (model: Address) =>
      onVault(owner, usdc, { functionName: "setInterestRateModel", args: [model] });
    expect(await watch.act(set(zeroAddress))).to.deep.equal([vault(usdc)]);
    expect(await watch.rowOf(usdc)).to.include({ borrowApy: 0, supplyApy: 0, borrowable: true });
    await watch.wait(DAY);
    await watch.compare();
    await watch.compareBooks();
    await watch.act(set(euler.deployment.rateModels.risky));
    expect((await watch.rowOf(usdc))?.borrowApy).to.be.greaterThan(0.05);
  });

  it("follows fees paid out", async () => {
    await watch.act(onVault(owner, usdc, { functionName: "setFeeReceiver", args: [supplier] }));
    expect(watch.evkState(usdc).books.fees > 0n).to.equal(true);
    const convert = onVault(supplier, usdc, { functionName: "convertFees", args: [] });
    expect(await watch.act(convert)).to.deep.equal([vault(usdc)]);
    expect(watch.evkState(usdc).books.fees).to.equal(0n);
  });

  it("takes in a new vault of the factory", async () => {
    const { factory, oracle, tokens } = euler.deployment;
    const metadata = concat([tokens.DAI.address, oracle, USD]);
    const made = await watch.act(
      onVaultFactory(supplier, factory, { functionName: "createProxy", args: [zeroAddress, true, metadata] }),
    );
    expect(made).to.have.length(2);
    expect(await watch.rowOf(made[1]?.id as Address)).to.include({ listed: false });
    expect(made[0]).to.deep.equal({ kind: "evk-factory", id: factory });
    const dai = await watch.rowOf(made[1]?.id as Address);
    expect(dai).to.include({ symbol: "eDAI-1", supply: 0, utilizationRate: 0, borrowable: false });
  });

  it("follows Euler's perspectives: a vault that leaves them is not listed", async () => {
    const { address } = euler.vault("eWETH-2");
    const { governed, ungoverned } = euler.deployment.perspectives;
    const change = (perspective: Address, functionName: "perspectiveVerify" | "perspectiveUnverify") =>
      functionName === "perspectiveVerify"
        ? onPerspective(owner, perspective, { functionName, args: [address, true] })
        : onPerspective(owner, perspective, { functionName, args: [address] });
    const lists = (id: Address) => ({ kind: "euler-perspective", id });
    expect(await watch.rowOf(address)).to.include({ listed: true });
    expect(await watch.act(change(governed, "perspectiveUnverify"))).to.deep.equal([lists(governed)]);
    expect(await watch.rowOf(address)).to.include({ listed: false });
    expect(await watch.act(change(ungoverned, "perspectiveVerify"))).to.deep.equal([lists(ungoverned)]);
    expect(await watch.rowOf(address)).to.include({ listed: true });
    await watch.act(change(ungoverned, "perspectiveUnverify"), change(governed, "perspectiveVerify"));
  });

  it("ignores unknown contracts with the same events", async () => {
    const { implementation, tokens } = euler.deployment;
    const stranger = chain.accounts[7] as Address;
    const nonce = await chain.client.getTransactionCount({ address: stranger });
    const factory = getContractAddress({ from: stranger, nonce: BigInt(nonce) });
    const data = encodeDeployData({ ...eulerVaultFactory, args: [implementation] });
    const metadata = concat([tokens.DAI.address, zeroAddress, zeroAddress]);
    const touched = await watch.act(
      { from: stranger, data, gas: "0x7a1200" },
      onVaultFactory(stranger, factory, { functionName: "createProxy", args: [zeroAddress, true, metadata] }),
    );
    expect(touched).to.deep.equal([]);
    expect(watch.events).to.include.members(["ProxyCreated", "EVaultCreated", "VaultStatus"]);
  });

  it("accrues a year as the contracts do, and equals them when poked", async () => {
    await watch.act(...euler.deployment.vaults.map(({ address }) => watch.poke(address)));
    await watch.wait(365 * DAY);
    await watch.compare();
    await watch.compareBooks();
    const touched = await watch.act(watch.poke(usdc));
    expect(touched).to.deep.equal([vault(usdc)]);
  });

  it("stops growing where the contract does: at debts and powers that it cannot count", async () => {
    const { address } = euler.vault("eWETH-2");
    const most = 10n ** 27n;
    const data = encodeDeployData({ ...eulerRateModel, args: [most, most, most, 10n ** 18n / 2n] });
    const nonce = await chain.client.getTransactionCount({ address: owner });
    const model = getContractAddress({ from: owner, nonce: BigInt(nonce) });
    const set = onVault(owner, address, { functionName: "setInterestRateModel", args: [model] });
    expect(await watch.act({ from: owner, data, gas: "0x7a1200" }, set)).to.deep.equal([vault(address)]);
    expect((await watch.rowOf(address))?.borrowApy).to.be.closeTo(10_000, 1);
    const debts: (number | undefined)[] = [];
    for (const years of [1, 2, 3, 100]) {
      await watch.wait(years * 365 * DAY);
      await watch.compareVault(address);
      await watch.compareBooks();
      debts.push((await watch.rowOf(address))?.borrow);
    }
    expect(debts.at(-1)).to.be.lessThan(debts[0] as number);
  });

  it("handles every topic that it requests, and scans each earn factory from its first block", () => {
    const { factory, earnFactory } = euler.deployment;
    const deployment = {
      eVaultFactory: factory,
      eulerEarnFactories: [{ address: earnFactory, fromBlock: 1 }],
    };
    expect(eulerV2.roots(deployment)).to.deep.equal([{ kind: "evk-factory", id: factory }]);
    const perspectives = {
      ...{ source: "here", date: "2026-01-01" },
      ...{ governed: usdc, ungoverned: [weth], escrow: owner, eulerEarn: supplier },
    };
    expect(eulerV2.roots({ ...deployment, perspectives }).slice(1)).to.deep.equal(
      [usdc, weth, owner, supplier].map((id) => ({ kind: "euler-perspective", id })),
    );
    const [scan, ...others] = eulerV2.scans(deployment);
    expect(others).to.deep.equal([]);
    expect(scan).to.deep.include({ addresses: [earnFactory], fromBlock: 1 });
    expect(eulerV2.topics).to.include.members([...(scan?.topics ?? [])]);
  });
});
