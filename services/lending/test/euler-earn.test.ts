import { expect } from "chai";
import { after, before, it } from "mocha";
import { maxUint256, zeroAddress, zeroHash } from "viem";
import { eulerEarnAbi } from "../../../deploy/devnet/contracts/euler/abi.ts";
import { USD } from "../../../deploy/devnet/euler/plan.ts";
import type { EulerKit } from "../../../deploy/devnet/euler/testkit.ts";
import {
  onConnector,
  onEarn,
  onEarnFactory,
  onOracle,
  onVault,
} from "../../../deploy/devnet/euler/transactions.ts";
import type { Address } from "../../../deploy/devnet/node/transactions.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { describeWithChain, itThorough } from "../../shared/testkit/describe.ts";
import { EntityMap } from "../protocols/entity-map.ts";
import type { EarnState } from "../protocols/euler-v2/earn-state.ts";
import { eulerV2 } from "../protocols/euler-v2/protocol.ts";
import { EulerWatch } from "./euler-watch.ts";

const DAY = 86_400;

describeWithChain("lending: EulerEarn vaults against the contracts", () => {
  let chain: TestChain;
  let euler: EulerKit;
  let watch: EulerWatch;
  let owner: Address;
  let supplier: Address;
  let usdc: Address;
  let usdc2: Address;
  let prime: Address;
  let ether: Address;

  before(async () => {
    chain = await createTestChain({ poolCount: 1, families: ["euler-v2"] });
    euler = chain.euler;
    watch = new EulerWatch(chain);
    await watch.start();
    owner = euler.deployment.owner;
    supplier = euler.deployment.supplier;
    usdc = euler.vault("eUSDC-1").address;
    usdc2 = euler.vault("eUSDC-2").address;
    prime = euler.earn("pUSDC").address;
    ether = euler.earn("sWETH").address;
  });
  after(() => chain.stop());

  const vault = (id: Address) => ({ kind: "evk-vault", id });
  const earn = (id: Address) => ({ kind: "earn-vault", id });

  it("follows an earn vault's deposits, moves between strategies and withdrawals", async () => {
    const assets = 5_000_000_000n;
    const deposit = onEarn(supplier, prime, { functionName: "deposit", args: [assets, supplier] });
    expect(await watch.act(deposit)).to.have.deep.members([earn(prime), vault(usdc)]);
    const held = await chain.client.readContract({
      ...{ address: prime, abi: eulerEarnAbi, functionName: "expectedSupplyAssets", args: [usdc] },
    } as const);
    const allocations = [
      { id: usdc, assets: held / 2n },
      { id: usdc2, assets: maxUint256 },
    ];
    const reallocate = onEarn(supplier, prime, { functionName: "reallocate", args: [allocations] });
    expect(await watch.act(reallocate)).to.have.deep.members([earn(prime), vault(usdc), vault(usdc2)]);
    const withdraw = onEarn(supplier, prime, {
      functionName: "withdraw",
      args: [assets, supplier, supplier],
    });
    expect(await watch.act(withdraw)).to.have.deep.members([earn(prime), vault(usdc)]);
  });

  it("lets a strategy's interest show in the earn vault's row without touching it", async () => {
    const before = await watch.rowOf(prime);
    const touched = await watch.act(watch.poke(usdc2));
    expect(touched).to.deep.equal([vault(usdc2)]);
    await watch.wait(30 * DAY);
    await watch.compare();
    expect((await watch.rowOf(prime))?.supply).to.be.greaterThan(before?.supply ?? Number.NaN);
  });

  itThorough("follows what owner and curator of an earn vault decide", async () => {
    const set = (from: Address, to: Address, call: Parameters<typeof onEarn>[2]) =>
      watch.act(onEarn(from, to, call));
    expect(await set(owner, prime, { functionName: "setFee", args: [25n * 10n ** 16n] })).to.deep.equal([
      earn(prime),
    ]);
    expect(await watch.rowOf(prime)).to.include({ performanceFee: 0.25, curator: supplier });
    await set(owner, prime, { functionName: "setCurator", args: [zeroAddress] });
    expect(await watch.rowOf(prime)).to.include({ curator: owner });
    await set(owner, prime, { functionName: "setCurator", args: [chain.accounts[3] as Address] });
    expect(await watch.rowOf(prime)).to.include({ curator: chain.accounts[3] });
    await set(owner, prime, { functionName: "setName", args: ["Primer USDC"] });
    expect(await watch.rowOf(prime)).to.include({ vaultName: "Primer USDC", symbol: "pUSDC" });
    await set(owner, prime, { functionName: "setSymbol", args: ["ppUSDC"] });
    expect(await watch.rowOf(prime)).to.include({ symbol: "ppUSDC" });
    // A cap above what is there, then one below it, then a queue without the strategy.
    await set(owner, prime, { functionName: "submitCap", args: [usdc2, 1_199_000_000_000n] });
    expect((await watch.rowOf(prime))?.depositEnabled).to.equal(true);
    await set(owner, prime, { functionName: "setSupplyQueue", args: [[usdc2]] });
    await set(owner, prime, { functionName: "submitCap", args: [usdc2, 1n] });
    const full = await watch.rowOf(prime);
    expect(full).to.include({ supplyCap: full?.supply, depositEnabled: false });
    await set(owner, prime, { functionName: "setSupplyQueue", args: [[usdc]] });
    await set(owner, prime, { functionName: "submitCap", args: [usdc2, 0n] });
    expect(await set(owner, prime, { functionName: "submitMarketRemoval", args: [usdc2] })).to.deep.equal([
      earn(prime),
    ]);
    const [, strategy] = watch.earnState(prime).strategies;
    expect(strategy).to.include({ vault: usdc2, cap: 0n, removableAt: await watch.time() });
    await set(owner, prime, { functionName: "revokePendingMarketRemoval", args: [usdc2] });
    expect(watch.earnState(prime).strategies[1]).to.include({ removableAt: 0 });
  });

  it("shows an earn vault without a cap of its own with that of its strategy", async () => {
    const queue = [euler.vault("eWETH-2").address];
    const open = await watch.rowOf(ether);
    expect(open).to.include({ curator: owner, depositEnabled: true });
    expect(open?.supplyCap).to.be.above(open?.supply as number);
    await watch.act(onEarn(owner, ether, { functionName: "setSupplyQueue", args: [queue] }));
    const capped = await watch.rowOf(ether);
    expect(capped?.supplyCap)
      .to.be.below(open?.supplyCap as number)
      .and.above(capped?.supply as number);
  });

  it("follows liquidations, and losses that all suppliers share", async () => {
    const { oracle, connector, tokens } = euler.deployment;
    const [aero, btc] = [euler.vault("eAERO-1"), euler.vault("eWBTC-1")];
    const violator = euler.vault("eUSDC-2").borrower as Address;
    const liquidator = chain.accounts[5] as Address;
    const price = (token: Address, value: bigint) =>
      onOracle(owner, oracle, { functionName: "setPrice", args: [token, USD, value] });
    const amount = 1_000n * 10n ** 8n;
    await watch.act(
      ...euler.fund({ account: liquidator, vault: btc, amount }),
      onVault(liquidator, btc.address, { functionName: "deposit", args: [amount, liquidator] }),
      onConnector(liquidator, connector, { functionName: "enableController", args: [liquidator, usdc2] }),
      // Both lose nine tenths, without an event of a vault.
      price(tokens.AERO.address, 11n * 10n ** 16n),
      price(tokens.WBTC.address, 9_600n * 10n ** 28n),
    );
    const seize = (collateral: Address) =>
      onVault(liquidator, usdc2, {
        functionName: "liquidate",
        args: [violator, collateral, 100_000_000_000n, 0n],
      });
    expect(await watch.act(seize(btc.address))).to.deep.equal([vault(usdc2)]);
    const lentBefore = (await watch.rowOf(usdc2))?.supply ?? Number.NaN;
    expect(await watch.act(seize(aero.address))).to.deep.equal([vault(usdc2)]);
    expect((await watch.rowOf(usdc2))?.supply).to.be.lessThan(lentBefore - 100_000);
    // The earn vault keeps the loss: its supply is that of its last accrual.
    expect((await watch.rowOf(prime))?.supply).to.equal(Number(watch.earnState(prime).lastTotalAssets) / 1e6);
    await watch.act(onEarn(owner, prime, { functionName: "setFee", args: [0n] }));
    expect(watch.earnState(prime).lostAssets > 0n).to.equal(true);
    await watch.wait(DAY);
    await watch.compare();
  });

  it("is as exact where a vault was read between its events, but for how fees compound in earn vaults", async () => {
    const late = new EulerWatch(chain);
    const poked = await watch.supplies();
    await watch.wait(20 * DAY + 7);
    const now = await watch.supplies();
    await late.start();
    await watch.wait(40 * DAY + 3);
    const then = await watch.supplies();
    // fee × (1 − fee) × yield before the reading × yield since, of what is in the strategy.
    const off = poked.map((before, i) => {
      const grown = [(now[i] as number) / before - 1, (then[i] as number) / (now[i] as number) - 1];
      return 0.25 * (grown[0] as number) * (grown[1] as number);
    });
    await late.compare({ unitsOff: 1, earnOff: Math.max(...off) });
  });

  it("follows a new owner, who curates where nobody else does", async () => {
    const heir = chain.accounts[6] as Address;
    const hand = (from: Address, to: Address) =>
      watch.act(onEarn(from, ether, { functionName: "transferOwnership", args: [to] }));
    expect(await hand(owner, heir)).to.deep.equal([earn(ether)]);
    expect(await watch.rowOf(ether)).to.include({ curator: heir });
    await hand(heir, owner);
  });

  /** Makes an earn vault without a timelock whose only strategy is the given one, and deposits. */
  const nest = async (strategy: Address, { name, fee }: { name: string; fee: bigint }): Promise<Address> => {
    const { earnFactory, tokens } = euler.deployment;
    const args = [owner, 0n, tokens.USDC.address, name, name, zeroHash] as const;
    const [created, ...others] = await watch.act(
      onEarnFactory(supplier, earnFactory, { functionName: "createEulerEarn", args }),
    );
    const id = created?.id as Address;
    expect(others).to.deep.equal([{ kind: "earn-creation", id: `${id}:${supplier}` }]);
    expect(await watch.rowOf(id)).to.include({ supply: 0, supplyApy: 0, ltv: null, depositEnabled: false });
    const set = (call: Parameters<typeof onEarn>[2]) => onEarn(owner, id, call);
    await watch.act(
      set({ functionName: "submitCap", args: [strategy, 2n ** 136n - 1n] }),
      set({ functionName: "acceptCap", args: [strategy] }),
      set({ functionName: "setSupplyQueue", args: [[strategy]] }),
      set({ functionName: "setFeeRecipient", args: [owner] }),
      set({ functionName: "setFee", args: [fee] }),
      ...euler.fund({
        account: supplier,
        vault: { ...euler.earn("pUSDC"), address: id },
        amount: 10n ** 12n,
      }),
      onEarn(supplier, id, { functionName: "deposit", args: [10n ** 11n, supplier] }),
    );
    return id;
  };

  itThorough(
    "reads earn vaults inside earn vaults as what they are, at any depth, between readings too",
    async () => {
      await watch.act(onEarn(owner, prime, { functionName: "setFee", args: [10n ** 17n] }));
      await watch.act(...euler.deployment.vaults.map(({ address }) => watch.poke(address)));
      const inner = await nest(prime, { name: "inner", fee: 2n * 10n ** 17n });
      const outer = await nest(inner, { name: "outer", fee: 0n });
      for (const id of [inner, outer]) {
        const row = await watch.rowOf(id);
        expect(row?.supplyApy, id).to.be.above(0);
        expect(row?.borrow, id).to.be.above(0);
        expect(row, id).to.include({ borrowable: true, depositEnabled: true });
      }
      // Nothing is read again: interest and fees of all levels show as the contracts have them.
      const before = await watch.rowOf(outer);
      await watch.wait(30 * DAY);
      await watch.compare();
      expect((await watch.rowOf(outer))?.supply).to.be.above(before?.supply ?? Number.NaN);
      // What the innermost one decides shows in the others at once.
      expect(
        await watch.act(onEarn(owner, prime, { functionName: "setSupplyQueue", args: [[]] })),
      ).to.deep.equal([earn(prime)]);
      for (const id of [inner, outer]) {
        const closed = await watch.rowOf(id);
        expect(closed).to.include({ depositEnabled: false, supplyCap: closed?.supply });
      }
    },
  );

  it("takes a vault that contains itself as it was read", async () => {
    const [ring] = [watch.earnState(prime)].map((state): EarnState => ({ ...state, strategies: [] }));
    if (ring === undefined) throw new Error("There is no such vault.");
    const entities = new EntityMap();
    const [time, block] = [await watch.time(), 1];
    const strategyOf = (vault: string): EarnState["strategies"][number] => ({
      ...{ vault, shares: 10n, cap: 100n, removableAt: 0 },
      ...{ assets: 10n, withdrawable: 5n, depositable: 7n },
    });
    for (const [id, inner] of [
      ["0xa", "0xb"],
      ["0xb", "0xa"],
      ["0xc", "0xc"],
    ] as const) {
      const state = { ...ring, supplyQueue: [inner], strategies: [strategyOf(inner)] };
      entities.put({ kind: "earn-vault", id, state, block, time });
    }
    const rows = [...eulerV2.rows(entities, { chainId: 8453, time, deployment: watch.deployment })];
    expect(rows.map((row) => row.table === "vault" && row.address)).to.deep.equal(["0xa", "0xb", "0xc"]);
    for (const row of rows) expect(row).to.include({ supplyApy: null, borrowable: false });
  });
});
