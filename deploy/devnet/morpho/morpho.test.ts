import { expect } from "chai";
import { after, before, it } from "mocha";
import { type Hex, parseEventLogs, zeroAddress } from "viem";
import { describeThorough } from "../../../services/shared/testkit/describe.ts";
import { metaMorphoAbi, morphoAbi } from "../contracts/morpho/abi.ts";
import { lossKeepingVault, vaultFactory } from "../contracts/morpho/artifacts.ts";
import { createTestChain, type TestChain } from "../testkit.ts";
import { createTraders } from "../traders.ts";
import { rawOf } from "./deploy.ts";
import { NO_CAP } from "./market.ts";
import type { MorphoDeployment, MorphoMarket } from "./plan.ts";

const GENESIS_S = 1_760_000_000;

describeThorough("devnet: Morpho", () => {
  let chain: TestChain;
  let deployment: MorphoDeployment;
  before(async () => {
    chain = await createTestChain({ timestamp: GENESIS_S, accounts: 32, families: ["morpho-v1"] });
    deployment = chain.morpho.deployment;
  });
  after(() => chain.stop());

  const marketAt = async ({ id }: MorphoMarket) => {
    const read = { address: deployment.morpho, abi: morphoAbi, functionName: "market", args: [id] } as const;
    const {
      totalSupplyAssets: supply,
      totalBorrowAssets: borrow,
      fee,
    } = await chain.client.readContract(read);
    return { supply, borrow, fee, use: Number(borrow) / Number(supply) };
  };
  const ofVault = <N extends "totalAssets" | "curator" | "fee" | "timelock" | "totalSupply" | "MORPHO">(
    address: Hex,
    functionName: N,
  ) => chain.client.readContract({ address, abi: metaMorphoAbi, functionName });

  it("has the planned markets, with what was lent and borrowed", async () => {
    for (const market of Object.values(deployment.markets)) {
      const { borrow, fee } = await marketAt(market);
      const read = { address: deployment.morpho, abi: morphoAbi, functionName: "idToMarketParams" } as const;
      const params = await chain.client.readContract({ ...read, args: [market.id] });
      const lower = Object.entries(params).map(([key, value]) => [key, String(value).toLowerCase()]);
      expect(Object.fromEntries(lower)).to.deep.equal({ ...market.params, lltv: String(market.params.lltv) });
      expect(borrow).to.equal(rawOf(market.spec.borrowedUsd, market.loan));
      expect(Number(fee) / 1e16).to.equal(market.spec.feePct ?? 0);
    }
    const { aeroUsdc, idleUsdc } = deployment.markets;
    expect((await marketAt(aeroUsdc)).use).to.be.within(0.995, 1);
    expect(idleUsdc.params).to.include({ collateralToken: zeroAddress, irm: zeroAddress, lltv: 0n });
  });

  it("has the planned vaults, announced by their factories, with caps, curator and timelock", async () => {
    const { vaults, actors, factories, markets, morpho } = deployment;
    const logs = await chain.client.getLogs({ address: Object.values(factories), fromBlock: 0n });
    const announced = parseEventLogs({ abi: vaultFactory.abi, logs, strict: true });
    expect(announced.map(({ args }) => args.metaMorpho.toLowerCase())).to.have.members(
      Object.values(vaults).map(({ address }) => address),
    );
    for (const { address, asset, spec } of Object.values(vaults)) {
      expect((await ofVault(address, "MORPHO")).toLowerCase()).to.equal(morpho);
      const curator = spec.hasCurator ? actors.curator : zeroAddress;
      expect((await ofVault(address, "curator")).toLowerCase()).to.equal(curator);
      expect(Number(await ofVault(address, "fee")) / 1e16).to.equal(spec.feePct ?? 0);
      expect(await ofVault(address, "timelock")).to.equal(spec.version === "1.0" ? 86_400n : 0n);
      const total = await ofVault(address, "totalAssets");
      expect(Number(rawOf(spec.depositUsd, asset) - total)).to.be.within(0, 5);
      expect((await ofVault(address, "totalSupply")) === 0n).to.equal(spec.depositUsd === 0);
      for (const [name, usd] of Object.entries(spec.capsUsd)) {
        const read = { address, abi: metaMorphoAbi, functionName: "config" } as const;
        const args = [markets[name as keyof typeof markets].id] as const;
        const [cap, enabled] = await chain.client.readContract({ ...read, args });
        expect([cap, enabled]).to.deep.equal([usd === null ? NO_CAP : rawOf(usd, asset), true]);
      }
    }
  });

  it("has traders that do all that can be done and never fail, and keep the markets in use", async () => {
    const traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 11 });
    const first = (await chain.headNumber()) + 1;
    const hashes: Hex[] = [];
    // Twelve days: time enough for the nearly full market's rate to become unbearable.
    for (let block = 0; block < 600; block++) {
      const timestamp = GENESIS_S + 100 + block * 1_800;
      hashes.push(...(await traders.tradeBlock({ timestamp, swaps: 0 })).transactions);
    }
    const receipts = await chain.anvil.rpc.batch<{ status: string }>(
      hashes.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] })),
    );
    expect(receipts.filter(({ status }) => status !== "0x1")).to.deep.equal([]);

    const logs = await chain.client.getLogs({ fromBlock: BigInt(first) });
    const ofMorpho = parseEventLogs({ abi: morphoAbi, logs, strict: true });
    expect(new Set(ofMorpho.map(({ eventName }) => eventName))).to.include.all.keys(
      ...["Supply", "Withdraw", "Borrow", "Repay", "AccrueInterest"],
    );
    const abi = [...metaMorphoAbi, ...lossKeepingVault.abi.filter(({ type }) => type === "event")];
    const ofVaults = parseEventLogs({ abi, logs, strict: true });
    expect(new Set(ofVaults.map(({ eventName }) => eventName))).to.include.all.keys(
      ...["ReallocateSupply", "ReallocateWithdraw", "UpdateLastTotalAssets", "UpdateLostAssets"],
    );
    for (const [name, market] of Object.entries(deployment.markets)) {
      const touched = ofMorpho.filter(({ args }) => "id" in args && args.id === market.id);
      expect(touched.length, name).to.be.above(market.collateral ? 60 : 0);
      if (market.collateral) expect((await marketAt(market)).use, name).to.be.within(0.2, 1);
    }
  });
});
