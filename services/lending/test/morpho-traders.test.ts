import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { createTraders } from "../../../deploy/devnet/traders.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { createMorphoScene } from "./morpho-scene.ts";

const GENESIS_S = 1_760_000_000;

describeThorough("Morpho among traders", () => {
  let chain: TestChain;
  before(async () => {
    chain = await createTestChain({ timestamp: GENESIS_S, poolCount: 1, families: ["morpho-v1"] });
  });
  after(() => chain.stop());

  it("is followed by its events alone, a hundred blocks at a time, to every cell", async () => {
    const scene = createMorphoScene(chain);
    await scene.settle([]);
    const traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 21 });
    const touched = new Set<string>();
    for (let hundred = 0; hundred < 3; hundred++) {
      for (let block = 0; block < 100; block++) {
        const timestamp = GENESIS_S + 100 + (hundred * 100 + block) * 900;
        await traders.tradeBlock({ timestamp, swaps: 0 });
      }
      for (const name of await scene.settle([])) touched.add(name);
      await scene.expectTruth();
    }
    const { markets, vaults } = scene.kit.deployment;
    // All but the vault without deposits.
    expect(touched.size).to.equal(Object.keys(markets).length + Object.keys(vaults).length - 1);
  });
});
