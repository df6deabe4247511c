import { expect } from "chai";
import { after, before, it } from "mocha";
import { parseEventLogs, zeroAddress } from "viem";
import { describeThorough } from "../../../services/shared/testkit/describe.ts";
import { eulerEarnAbi, eulerVaultAbi } from "../contracts/euler/abi.ts";
import type { Address, Transaction } from "../node/transactions.ts";
import { createTestChain, type TestChain } from "../testkit.ts";
import { createTraders } from "../traders.ts";
import { encodeAmountCap } from "./amount-cap.ts";
import type { EulerVaultName } from "./market.ts";
import { rawUsd } from "./plan.ts";
import type { EulerKit } from "./testkit.ts";
import { onConnector, onVault } from "./transactions.ts";

const GENESIS_S = 1_760_000_000;
const YEAR = 31_556_952;

describeThorough("devnet: Euler", () => {
  let chain: TestChain;
  let euler: EulerKit;
  before(async () => {
    chain = await createTestChain({ timestamp: GENESIS_S, accounts: 32, families: ["euler-v2"] });
    euler = chain.euler;
  });
  after(() => chain.stop());

  type Amount = "totalAssets" | "totalBorrows" | "cash" | "interestRate" | "accumulatedFeesAssets";
  const amount = (name: EulerVaultName, functionName: Amount) =>
    chain.client.readContract({ address: euler.vault(name).address, abi: eulerVaultAbi, functionName });
  const debtOf = (name: EulerVaultName, account: Address) =>
    chain.client.readContract({
      ...{ address: euler.vault(name).address, abi: eulerVaultAbi },
      ...({ functionName: "debtOf", args: [account] } as const),
    });
  const mined = async (...transactions: Transaction[]) => {
    const hashes = await euler.send(...transactions);
    await chain.mine();
    return Promise.all(hashes.map((hash) => chain.client.getTransactionReceipt({ hash })));
  };
  const wait = async (seconds: number) => {
    const { timestamp } = await chain.header(await chain.headNumber());
    await chain.anvil.rpc.call("evm_mine", [{ timestamp: timestamp + seconds, blocks: 1 }]);
  };
  const refusal = ({ from, to, data }: Transaction) =>
    chain.client.call({ account: from, to: to as Address, data }).then(
      () => "",
      (error: Error) => error.message,
    );

  it("has the planned vaults and loans, and a vault that answers nothing", async () => {
    for (const { address, asset, borrower, spec } of euler.deployment.vaults) {
      const read = { address, abi: eulerVaultAbi } as const;
      expect(await chain.client.readContract({ ...read, functionName: "symbol" })).to.equal(spec.name);
      if (borrower === undefined || spec.loan === undefined) continue;
      expect(await debtOf(spec.name, borrower)).to.equal(rawUsd(asset, spec.loan.usd));
    }
    const broken = {
      address: euler.deployment.brokenVault,
      abi: eulerVaultAbi,
      functionName: "asset",
    } as const;
    const answer = await chain.client.readContract(broken).catch((error: Error) => error.message);
    expect(answer).to.include("broken");
  });

  it("has the planned earn vaults, their assets shared out", async () => {
    for (const { address, asset, spec } of euler.deployment.earnVaults) {
      const read = { address, abi: eulerEarnAbi } as const;
      expect(await chain.client.readContract({ ...read, functionName: "symbol" })).to.equal(spec.symbol);
      for (const { vault, usd } of spec.strategies) {
        const id = euler.vault(vault).address;
        const held = await chain.client.readContract({
          ...read,
          ...({ functionName: "expectedSupplyAssets", args: [id] } as const),
        });
        expect(Number(held) / Number(rawUsd(asset, usd))).to.be.closeTo(1, 1e-6);
      }
    }
  });

  it("compounds interest every second, of which the fee takes its part", async () => {
    const before = {
      debt: Number(await amount("eWETH-1", "totalBorrows")),
      assets: Number(await amount("eWETH-1", "totalAssets")),
      rate: Number(await amount("eWETH-1", "interestRate")) / 1e27,
    };
    expect(before.rate * YEAR).to.be.within(0.005, 0.027);
    await wait(YEAR);
    const interest = before.debt * Math.expm1(YEAR * Math.log1p(before.rate));
    expect(Number(await amount("eWETH-1", "totalBorrows"))).to.be.closeTo(before.debt + interest, 1e9);
    expect(Number(await amount("eWETH-1", "totalAssets"))).to.be.closeTo(before.assets + interest, 1e9);
    // A few seconds' fees were there before.
    const fees = Number(await amount("eWETH-1", "accumulatedFeesAssets"));
    expect(fees / (interest * 0.15)).to.be.closeTo(1, 1e-6);
  });

  it("sets the rate by utilisation whenever something moves", async () => {
    const { address, borrower } = euler.vault("eWETH-2");
    const before = await amount("eWETH-2", "interestRate");
    const account = borrower as Address;
    await mined(onVault(account, address, { functionName: "borrow", args: [10n ** 18n, account] }));
    const [cash, borrows] = [await amount("eWETH-2", "cash"), await amount("eWETH-2", "totalBorrows")];
    const used = Number(borrows) / Number(cash + borrows);
    const perYear = 0.02 + (0.13 * used) / 0.75;
    expect(Number(await amount("eWETH-2", "interestRate")) / 1e27).to.be.closeTo(perYear / YEAR, 1e-18);
    expect(await amount("eWETH-2", "interestRate")).to.not.equal(before);
  });

  it("keeps to caps, hooks and LTVs", async () => {
    const { owner, supplier, oracle } = euler.deployment;
    const { address, borrower } = euler.vault("eUSDC-2");
    const account = borrower as Address;
    const deposit = onVault(supplier, address, { functionName: "deposit", args: [10n ** 9n, supplier] });
    const borrow = (assets: bigint) =>
      onVault(account, address, { functionName: "borrow", args: [assets, account] });
    expect(await refusal(borrow(10n ** 12n))).to.include("E_AccountLiquidity");
    expect([await refusal(deposit), await refusal(borrow(10n ** 9n))]).to.deep.equal(["", ""]);
    const low = encodeAmountCap(10n ** 11n);
    await mined(onVault(owner, address, { functionName: "setCaps", args: [low, low] }));
    expect(await refusal(deposit)).to.include("E_SupplyCapExceeded");
    expect(await refusal(borrow(10n ** 9n))).to.include("E_BorrowCapExceeded");
    await mined(
      onVault(owner, address, { functionName: "setCaps", args: [0, 0] }),
      onVault(owner, address, { functionName: "setHookConfig", args: [zeroAddress, (1 << 0) | (1 << 6)] }),
    );
    expect(await refusal(deposit)).to.include("E_OperationDisabled");
    expect(await refusal(borrow(10n ** 9n))).to.include("E_OperationDisabled");
    await mined(onVault(owner, address, { functionName: "setHookConfig", args: [oracle, 1 << 0] }));
    expect(await refusal(deposit)).to.include("refused by hook");
    await mined(onVault(owner, address, { functionName: "setHookConfig", args: [zeroAddress, 0] }));
    const withdraw = onVault(account, euler.vault("eWBTC-1").address, {
      ...{ functionName: "withdraw", args: [10n ** 8n * 6n, account, account] },
    });
    expect(await refusal(withdraw)).to.include("E_AccountLiquidity");
  });

  it("lets debts be repaid to the last unit, and the account go", async () => {
    const { borrower, address } = euler.vault("eWBTC-1");
    const account = borrower as Address;
    const all = 2n ** 256n - 1n;
    const receipts = await mined(
      onVault(account, address, { functionName: "repay", args: [all, account] }),
      onVault(account, address, { functionName: "disableController", args: [] }),
      onConnector(account, euler.deployment.connector, {
        ...{ functionName: "enableController", args: [account, address] },
      }),
      onVault(account, address, { functionName: "borrow", args: [10n ** 8n, account] }),
    );
    expect(receipts.map(({ status }) => status)).to.deep.equal(Array(4).fill("success"));
    expect(await debtOf("eWBTC-1", account)).to.equal(10n ** 8n);
  });

  it("moves utilisation by traders, without a failure", async () => {
    const traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 11 });
    const { timestamp } = await chain.header(await chain.headNumber());
    const first = await chain.headNumber();
    const used: number[] = [];
    for (let block = 0; block < 200; block++) {
      const { transactions } = await traders.tradeBlock({
        timestamp: timestamp + 60 + block * 600,
        swaps: 0,
      });
      const receipts = await Promise.all(
        transactions.map((hash) => chain.client.getTransactionReceipt({ hash })),
      );
      expect(receipts.filter(({ status }) => status !== "success")).to.deep.equal([]);
      const [borrows, assets] = [
        await amount("eUSDC-1", "totalBorrows"),
        await amount("eUSDC-1", "totalAssets"),
      ];
      used.push(Number(borrows) / Number(assets));
    }
    expect(Math.max(...used) - Math.min(...used)).to.be.greaterThan(0.1);
    const logs = await chain.client.getLogs({ fromBlock: BigInt(first) });
    const names = parseEventLogs({ abi: [...eulerVaultAbi, ...eulerEarnAbi], logs }).map(
      ({ eventName }) => eventName,
    );
    expect(names).to.include.members(["Borrow", "Repay", "Deposit", "Withdraw", "ReallocateSupply"]);
  });
});
