import { expect } from "chai";
import { after, before, it } from "mocha";
import { encodeDeployData, getContractAddress, type Hex } from "viem";
import { eulerVaultAbi } from "../../../deploy/devnet/contracts/euler/abi.ts";
import {
  eulerCyclicalRateModel,
  eulerKinkyRateModel,
} from "../../../deploy/devnet/contracts/euler/more-artifacts.ts";
import type { EulerVault } from "../../../deploy/devnet/euler/plan.ts";
import { onConnector, onVault } from "../../../deploy/devnet/euler/transactions.ts";
import type { Address } from "../../../deploy/devnet/node/transactions.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { apyOf } from "../protocols/euler-v2/evk-view.ts";
import { EulerWatch } from "./euler-watch.ts";

const DAY = 86_400;
const YEAR = 31_556_952;
const FULL = 2 ** 32 - 1;
/** A yearly rate, per second with 27 decimals. */
const perSecond = (year: number) => BigInt(Math.round((year / YEAR) * 1e18)) * 10n ** 9n;

describeWithChain("lending: EVK vaults with kinky and cyclical rate models", () => {
  let chain: TestChain;
  let watch: EulerWatch;
  let vault: EulerVault;
  let owner: Address;

  before(async () => {
    chain = await createTestChain({ poolCount: 1, families: ["euler-v2"] });
    watch = new EulerWatch(chain);
    await watch.start();
    owner = chain.euler.deployment.owner;
    vault = chain.euler.vault("eUSDC-2");
  });
  after(() => chain.stop());

  /** Gives the vault a new model, by the event of its governor. */
  async function setModel(data: Hex): Promise<void> {
    const nonce = BigInt(await chain.client.getTransactionCount({ address: owner }));
    const model = getContractAddress({ from: owner, nonce });
    await watch.mine([{ from: owner, data, gas: "0x1e8480" }]);
    await watch.mine([
      onVault(owner, vault.address, { functionName: "setInterestRateModel", args: [model] }),
      watch.poke(vault.address),
    ]);
    await watch.compareVault(vault.address);
  }
  const read = (functionName: "interestRate" | "cash" | "totalBorrows") =>
    chain.client.readContract({ ...{ address: vault.address, abi: eulerVaultAbi, functionName } } as const);
  const rowRate = async () => (await watch.rowOf(vault.address))?.borrowApy ?? Number.NaN;

  it("kinky: the rate that the curve has at the utilisation, below its kink, above it, and at its cutoff", async () => {
    const { connector } = chain.euler.deployment;
    const borrower = chain.accounts[5] as Address;
    const [base, kinkShare, shape] = [perSecond(0.01), 0.5, 20n];
    const kink = Math.round(FULL * kinkShare);
    const slope = perSecond(0.05) / BigInt(kink);
    const cutoff = perSecond(0.4);
    const args = [base, slope, shape, kink, cutoff] as const;
    await setModel(encodeDeployData({ ...eulerKinkyRateModel, args }));
    /** The published formula, in floats. */
    const rateAt = (used: number) => {
      const [x, k, s] = [used * FULL, kink, Number(slope)];
      if (x <= k) return Number(base) + x * s;
      const steep =
        (s * (x - k) * (FULL - k) * (1 + Number(shape))) / (FULL - x) - s * (x - k) * Number(shape);
      return Math.min(Number(cutoff), Number(base) + k * s + steep);
    };
    const seen: number[] = [];
    const btc = chain.euler.vault("eWBTC-1");
    const pledge = 1_000n * 10n ** 8n;
    await watch.mine([
      ...chain.euler.fund({ account: borrower, vault: btc, amount: pledge }),
      onVault(borrower, btc.address, { functionName: "deposit", args: [pledge, borrower] }),
      onConnector(borrower, connector, {
        ...{ functionName: "enableController", args: [borrower, vault.address] },
      }),
    ]);
    for (const target of [0.45, 0.49, 0.7, 0.9]) {
      const [cash, borrows] = await Promise.all([read("cash"), read("totalBorrows")]);
      const amount = ((cash + borrows) * BigInt(target * 100)) / 100n - borrows;
      await watch.mine([
        onVault(borrower, vault.address, { functionName: "borrow", args: [amount, borrower] }),
      ]);
      await watch.compareVault(vault.address);
      const used = (await watch.rowOf(vault.address))?.utilizationRate ?? Number.NaN;
      expect(used).to.be.closeTo(target, 0.001);
      const rate = await rowRate();
      expect(rate, `at ${target}`).to.be.closeTo(apyOf(BigInt(Math.round(rateAt(used)))), rate * 1e-4);
      seen.push(rate);
    }
    expect([...seen].sort((a, b) => a - b)).to.deep.equal(seen);
    expect(seen.at(-1)).to.be.closeTo(apyOf(cutoff), 1e-9);
    await watch.wait(10 * DAY);
    await watch.compareVault(vault.address);
  });

  it("cyclical: the rate of the vault's last update, as the contract charges it, until the next one", async () => {
    const { timestamp } = await chain.header(await chain.headNumber());
    const [low, high] = [perSecond(0.02), perSecond(0.3)];
    const args = [low, high, BigInt(20 * DAY), BigInt(10 * DAY), BigInt(timestamp)] as const;
    await setModel(encodeDeployData({ ...eulerCyclicalRateModel, args }));
    expect(await rowRate()).to.be.closeTo(apyOf(low), 1e-12);
    // The model's second phase has begun, but a vault asks its model at updates only.
    await watch.wait(25 * DAY);
    expect(await read("interestRate")).to.equal(low);
    await watch.compareVault(vault.address);
    expect(await rowRate()).to.be.closeTo(apyOf(low), 1e-12);
    await watch.mine([watch.poke(vault.address)]);
    expect(await rowRate()).to.be.closeTo(apyOf(high), 1e-12);
    // Back in the first phase: the same the other way.
    await watch.wait(10 * DAY);
    await watch.compareVault(vault.address);
    expect(await rowRate()).to.be.closeTo(apyOf(high), 1e-12);
    await watch.mine([watch.poke(vault.address)]);
    expect(await rowRate()).to.be.closeTo(apyOf(low), 1e-12);
  });
});
