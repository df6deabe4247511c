import { expect } from "chai";
import fc from "fast-check";
import { after, before, it } from "mocha";
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from "viem";
import { adaptiveCurveIrmAbi, marketIdOf } from "../../../deploy/devnet/contracts/morpho/abi.ts";
import { flatRateModel } from "../../../deploy/devnet/contracts/morpho/artifacts.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { adaptRate } from "../protocols/morpho-v1/math/adaptive-curve.ts";
import { wMul } from "../protocols/morpho-v1/math/fixed.ts";
import type { MarketState } from "../protocols/morpho-v1/state.ts";
import type { LendingRow } from "../protocols/rows.ts";
import { entities } from "../store/collections.ts";
import { fromStateText } from "../store/state-text.ts";
import { expectRows } from "./compare-rows.ts";
import { indexLending, startTestIngest } from "./harness.ts";
import { createMorphoScene, type MorphoScene } from "./morpho-scene.ts";
import { morphoTruth } from "./morpho-truth.ts";

const WAD = 10n ** 18n;
const USDC = 10n ** 6n;

/** 40 % a year. */
const FLAT_RATE = (WAD * 4n) / 10n / 31_536_000n;

describeWithChain("Morpho's interest rate models", () => {
  let chain: TestChain;
  let scene: MorphoScene;

  before(async () => {
    chain = await createTestChain({ timestamp: 1_760_000_000, poolCount: 1, families: ["morpho-v1"] });
    scene = createMorphoScene(chain);
    await scene.settle([]);
  });
  after(() => chain.stop());

  it("AdaptiveCurveIrm: equals the contract's rate for any market, however long it was inactive", async () => {
    const { client } = chain;
    const { irm, markets } = scene.kit.deployment;
    const { id, params } = markets.aeroUsdc;
    const block = await chain.headNumber();
    const { timestamp } = await chain.header(block);
    const blockNumber = BigInt(block);
    const read = { address: irm, abi: adaptiveCurveIrmAbi, blockNumber } as const;
    const rateAtTarget = await client.readContract({ ...read, functionName: "rateAtTarget", args: [id] });

    const inputs = fc.record({
      supplyAssets: fc.bigInt({ min: 0n, max: 10n ** 30n }),
      utilization: fc.oneof(
        fc.bigInt({ min: 0n, max: WAD }),
        fc.bigInt({ min: (WAD * 89n) / 100n, max: (WAD * 91n) / 100n }),
      ),
      elapsed: fc.oneof(fc.nat(100), fc.nat(86_400 * 30), fc.nat(86_400 * 365 * 20)),
    });
    for (const { supplyAssets, utilization, elapsed } of fc.sample(inputs, 200)) {
      const borrowAssets = wMul(supplyAssets, utilization);
      const market = {
        totalSupplyAssets: supplyAssets,
        totalSupplyShares: 0n,
        totalBorrowAssets: borrowAssets,
        totalBorrowShares: 0n,
        lastUpdate: BigInt(timestamp - elapsed),
        fee: 0n,
      };
      const rate = await client.readContract({
        ...read,
        functionName: "borrowRateView",
        args: [params, market],
      });
      const { averageRate } = adaptRate(rateAtTarget, { supplyAssets, borrowAssets }, BigInt(elapsed));
      expect(averageRate, `${supplyAssets} ${borrowAssets} ${elapsed}`).to.equal(rate);
    }
  });

  it("another model: its rate when it was read, as if constant", async () => {
    const { actors, markets } = scene.kit.deployment;
    const { owner, supplier, borrower } = actors;
    const nonce = BigInt(await chain.client.getTransactionCount({ address: owner }));
    const irm = getContractAddress({ from: owner, nonce }).toLowerCase() as Hex;
    const creation = encodeDeployData({ ...flatRateModel, args: [FLAT_RATE] });
    const params = { ...markets.wethUsdc.params, irm };
    const id = marketIdOf(params);
    const [created] = await chain.sendTransactions([{ from: owner, data: creation, gas: "0x1e8480" }]);
    const market = `morpho-market ${id}`;
    const hashes = [
      created as Hex,
      await scene.kit.morpho(owner, "enableIrm", [irm]),
      await scene.kit.morpho(owner, "createMarket", [params]),
      await scene.kit.morpho(supplier, "supply", [params, 1_000n * USDC, 0n, supplier, "0x"]),
      await scene.kit.morpho(borrower, "supplyCollateral", [params, WAD, borrower, "0x"]),
      await scene.kit.morpho(borrower, "borrow", [params, 400n * USDC, 0n, borrower, borrower]),
    ];
    expect(await scene.settle(hashes)).to.deep.equal([market]);
    const state = () => scene.units.table.get<MarketState>("morpho-market", id)?.state;
    expect(state()).to.include({ rateAtTarget: null, borrowRate: FLAT_RATE });

    const rowsAtHead = async () => {
      const isIt = (row: LendingRow) => row.table === "market" && row.marketId === id;
      const truth = { block: await chain.headNumber(), vaults: [], markets: [id] };
      return [(await scene.rows()).filter(isIt), await morphoTruth(chain, truth)] as const;
    };
    expectRows(...(await rowsAtHead()));
    await chain.mine(1, { intervalS: 86_400 * 365 });
    expectRows(...(await rowsAtHead()));

    // A model changes its rate without an event; the market's next reading finds it.
    const data = encodeFunctionData({
      abi: flatRateModel.abi,
      functionName: "setRate",
      args: [FLAT_RATE / 2n],
    });
    const poke = await scene.kit.morpho(supplier, "accrueInterest", [params]);
    await chain.sendTransactions([{ from: supplier, to: irm, data, gas: "0x1e8480" }]);
    expect(await scene.settle([poke])).to.deep.equal([market]);
    expect(state()?.borrowRate).to.equal(FLAT_RATE / 2n);
    expectRows(...(await rowsAtHead()));
  });

  it("another model that changes its mind without an event shows at the next head", async () => {
    const { actors, markets } = scene.kit.deployment;
    const { owner, supplier } = actors;
    const nonce = BigInt(await chain.client.getTransactionCount({ address: owner }));
    const irm = getContractAddress({ from: owner, nonce }).toLowerCase() as Hex;
    const params = { ...markets.wethUsdc.params, irm };
    const creation = encodeDeployData({ ...flatRateModel, args: [FLAT_RATE] });
    await chain.sendTransactions([{ from: owner, data: creation, gas: "0x1e8480" }]);
    await scene.kit.morpho(owner, "enableIrm", [irm]);
    await scene.kit.morpho(owner, "createMarket", [params]);
    await chain.mine();
    const indexed = await indexLending(chain);
    const ingest = await startTestIngest(indexed);
    try {
      const rateNow = async () => {
        await ingest.catchUp();
        const key = { chainId: 8453, kind: "morpho-market", id: marketIdOf(params) };
        const row = await ingest.store.get(entities, key);
        return (fromStateText(row?.state ?? "null") as MarketState).borrowRate;
      };
      expect(await rateNow()).to.equal(FLAT_RATE);
      const args = [FLAT_RATE * 3n] as const;
      const data = encodeFunctionData({ abi: flatRateModel.abi, functionName: "setRate", args });
      await chain.sendTransactions([{ from: supplier, to: irm, data, gas: "0x1e8480" }]);
      await chain.mine();
      expect(await rateNow()).to.equal(FLAT_RATE * 3n);
    } finally {
      await ingest.close();
      await indexed.remove();
    }
  });
});
