import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { type FaultyRpc, startFaultyRpc } from "../../../deploy/devnet/faulty-rpc.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { dumpFreshIndex, dumpStore, expectSameStore, mineBusyBlocks, startTestIngest } from "./harness.ts";

const QUICK = { timeoutMs: 300, backoffMs: 5, maxBackoffMs: 50, openMs: 50, maxOpenMs: 200, rateCoolMs: 20 };
const FAULTS = {
  hang: 0.01,
  rateLimit: 0.02,
  truncated: 0.04,
  badGateway: 0.03,
  reset: 0.03,
  emptyLogs: 0.06,
  duplicateLogs: 0.05,
  headBack: 0.06,
};

describe("evm-dex ingest: RPC endpoints that fail", () => {
  let chain: TestChain;
  const rpcs: FaultyRpc[] = [];

  before(async function () {
    this.timeout(60_000);
    chain = await createTestChain({ keptStates: 5000 });
    await mineBusyBlocks(chain, { blocks: 700, seed: 7 });
    for (const seed of [1, 2]) {
      rpcs.push(
        await startFaultyRpc({ target: chain.url, faults: FAULTS, seed, rangeLimit: 40, retryAfterS: 0 }),
      );
    }
  });
  after(async () => {
    for (const rpc of rpcs) await rpc.close();
    await chain?.stop();
  });

  it("lose and double nothing, in backfill and at the head", async function () {
    this.timeout(120_000);
    const ingest = await startTestIngest(chain, { urls: rpcs.map((rpc) => rpc.url), sourceOptions: QUICK });
    try {
      await ingest.catchUp();
      for (let round = 0; round < 40; round++) {
        await mineBusyBlocks(chain, { blocks: 1 + (round % 3), seed: 100 + round });
        await ingest.catchUp();
      }
      await catchUpTo(ingest, Number(await chain.anvil.rpc.call("eth_blockNumber")));
      expectSameStore(await dumpStore(ingest.store), await dumpFreshIndex(chain));
      const counts = rpcs.map((rpc) => rpc.counts());
      for (const fault of Object.keys(counts[0] ?? {}) as (keyof (typeof counts)[0])[]) {
        expect(
          counts.reduce((sum, each) => sum + each[fault], 0),
          `a storm without ${fault} proves nothing about it`,
        ).to.be.greaterThan(0);
      }
    } finally {
      await ingest.close();
    }
  });
});

/** A node that is behind makes an ingest content too early: the truth is the chain's own head. */
async function catchUpTo(ingest: { catchUp(): Promise<void>; block(): number }, head: number): Promise<void> {
  while (ingest.block() < head) await ingest.catchUp();
}
