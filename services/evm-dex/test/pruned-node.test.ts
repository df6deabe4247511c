import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { tokens } from "../store/collections.ts";
import { startAlteredNode } from "./kit/altered-node.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSameStore,
  mineBusyBlocks,
  startTestIngest,
} from "./kit/harness.ts";

/** symbol() and decimals(). */
const SELECTORS: readonly unknown[] = ["0x95d89b41", "0x313ce567"];

describeWithChain("evm-dex ingest: a node that has pruned the head with which a backfill began", () => {
  let chain: TestChain;

  before(async () => {
    chain = await createTestChain({ poolCount: 4 });
    await mineBusyBlocks(chain, { blocks: 120, seed: 41 });
  });
  after(() => chain?.stop());

  it("gives symbols and decimals all the same: they are read at the head of that moment", async () => {
    let refused = 0;
    const node = await startAlteredNode(chain.url, ({ method, params }, reply) => {
      const [call, block] = params as [{ data?: string } | undefined, unknown];
      // By number: of whichever head the caller had in mind.
      if (method !== "eth_call" || typeof block !== "string" || !SELECTORS.includes(call?.data)) return;
      refused += 1;
      delete reply.result;
      Object.assign(reply, { error: { code: -32000, message: "missing trie node" } });
    });
    const ingest = await startTestIngest({ url: node.url, deploymentsFile: chain.deploymentsFile });
    try {
      await ingest.catchUp();
      expect(refused, "reads by number").to.equal(0);
      const rows = await ingest.store.find(tokens, { fields: ["symbol", "decimals"] });
      expect(rows.length).to.be.at.least(2);
      for (const { symbol, decimals } of rows) {
        expect(symbol).not.to.equal("");
        expect(decimals).to.be.above(0);
      }
      expectSameStore(await dumpStore(ingest.store), await dumpFreshIndex(chain));
    } finally {
      await ingest.close();
      await node.close();
    }
  });
});
