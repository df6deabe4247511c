import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { createTraders } from "../../../deploy/devnet/traders.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { EulerWatch } from "./euler-watch.ts";

const GENESIS_S = 1_760_000_000;

describeThorough("lending: Euler among traders", () => {
  let chain: TestChain;
  before(async () => {
    chain = await createTestChain({ timestamp: GENESIS_S, poolCount: 1, families: ["euler-v2"] });
  });
  after(() => chain.stop());

  it("is followed by its events alone, block by block, to every cell", async () => {
    const watch = new EulerWatch(chain);
    await watch.start();
    const traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 4 });
    const touched = new Set<string>();
    for (let block = 0; block < 150; block++) {
      const { number } = await traders.tradeBlock({ timestamp: GENESIS_S + 100 + block * 1_800, swaps: 0 });
      for (const { id } of await watch.follow(number)) touched.add(id);
      if (block % 50 === 49) await watch.compare();
    }
    const { vaults, earnVaults } = chain.euler.deployment;
    expect([...touched]).to.have.members([...vaults, ...earnVaults].map(({ address }) => address));
  });
});
