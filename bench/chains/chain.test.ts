import { expect } from "chai";
import { describe, it } from "mocha";
import { createRpc } from "../../deploy/devnet/node/rpc.ts";
import { buildBenchChain } from "./chain.ts";

describe("bench: chain", () => {
  it("holds the promised swaps and is the same chain when it is loaded from its file", async () => {
    const size = { swaps: 60, pools: 4, perBlock: 6 };
    const made = await buildBenchChain(size);
    await made.stop();
    expect(made.expected).to.include({ swaps: 60, pools: 4, headNumber: 13 });
    expect(Object.values(made.expected.swapsByPool)).to.deep.equal([15, 15, 15, 15]);

    const loaded = await buildBenchChain(size);
    try {
      expect(loaded.fromCache).to.equal(true);
      expect(loaded.expected).to.deep.equal(made.expected);
      const logs = await createRpc(loaded.url).call<unknown[]>("eth_getLogs", [
        { fromBlock: "0x0", toBlock: "latest" },
      ]);
      expect(logs).to.have.length(made.expected.logs);
    } finally {
      await loaded.stop();
    }
  });
});
