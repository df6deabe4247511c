import { expect } from "chai";
import { it } from "mocha";
import { describeThorough } from "../services/shared/testkit/describe.ts";
import { BASE_SHAPE } from "./chains/head-chain.ts";
import { callsOfNode } from "./chains/head-node.ts";
import { runAtHead } from "./head-run.ts";

/** Blocks of one second: what is counted a block does not depend on their time. */
const SHAPE = { ...BASE_SHAPE, blockSeconds: 1 };
const BLOCKS = 32;

describeThorough("the ingests of npm start at the head of a chain", () => {
  it("ask at most 4 and 2 calls a block of 50 touched pools, the watcher of both included", async () => {
    const { counted, blocks } = await runAtHead({ shape: SHAPE, blocks: BLOCKS, warmUp: 15 });
    const { watcher, lending } = counted;
    const evmDex = counted["evm-dex"];
    // The counting begins and ends within a block: what was asked of one more may be in it.
    expect(callsOfNode(watcher) + callsOfNode(evmDex)).to.be.within(3 * blocks, 4 * (blocks + 1));
    expect(callsOfNode(lending)).to.be.within(1.5 * blocks, 2 * (blocks + 1));
    expect(evmDex.calls.get("eth_call")).to.be.at.most(blocks + 1);
    expect(evmDex.calls.get("eth_getLogs")).to.be.at.most(blocks + 1);
  });
});
