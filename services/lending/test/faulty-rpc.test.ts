import { expect } from "chai";
import { after, afterEach, before, it } from "mocha";
import { type FaultyRpc, startFaultyRpc } from "../../../deploy/devnet/node/faulty-rpc.ts";
import { LENDING_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSame,
  type IndexedChain,
  indexLending,
  mineBusyBlocks,
  startTestIngest,
} from "./harness.ts";

const QUICK = { timeoutMs: 400, backoffMs: 5, maxBackoffMs: 50, openMs: 50, maxOpenMs: 200, rateCoolMs: 20 };
/** High enough that in some hundred requests, and some ten of them for logs, each is all but certain to happen. */
const FAULTS = {
  hang: 0.03,
  rateLimit: 0.04,
  truncated: 0.04,
  badGateway: 0.04,
  reset: 0.04,
  emptyLogs: 0.25,
  duplicateLogs: 0.35,
  headBack: 0.06,
};
type Counts = ReturnType<FaultyRpc["counts"]>;

describeThorough("lending ingest: RPC endpoints that fail", () => {
  let chain: TestChain;
  let indexed: IndexedChain & { remove(): Promise<void> };
  let rpcs: FaultyRpc[] = [];
  before(async () => {
    chain = await createTestChain({ families: LENDING_FAMILIES });
    await mineBusyBlocks(chain, { blocks: 30, seed: 7 });
    await chain.mine(550, { intervalS: 2 });
    indexed = await indexLending(chain);
  });
  afterEach(async () => {
    for (const rpc of rpcs) await rpc.close();
    rpcs = [];
  });
  after(async () => {
    await indexed?.remove();
    await chain?.stop();
  });

  it("lose nothing: by scans, at the first reading, in every pass", async () => {
    for (const seed of [1, 2]) {
      const options = { target: chain.url, faults: FAULTS, seed, rangeLimit: 60, retryAfterS: 0 };
      rpcs.push(await startFaultyRpc(options));
    }
    const urls = rpcs.map(({ url }) => url);
    const ingest = await startTestIngest(indexed, { urls, sourceOptions: QUICK });
    try {
      await ingest.catchUp();
      for (let round = 0; round < 30; round++) {
        await mineBusyBlocks(chain, { blocks: 1 + (round % 3), seed: 100 + round });
        await ingest.catchUp();
      }
      // A node that is behind lets an ingest finish too early: the truth is the chain's own head.
      const head = await chain.headNumber();
      while (ingest.checkpoint().blockNumber < head) await ingest.catchUp();
      expectSame(await dumpStore(ingest.store, indexed), await dumpFreshIndex(indexed));
    } finally {
      await ingest.close();
    }
    const [first, second] = rpcs.map((rpc) => rpc.counts()) as [Counts, Counts];
    for (const fault of Object.keys(first) as (keyof Counts)[]) {
      const count = first[fault] + second[fault];
      expect(count, `a storm without ${fault} proves nothing about it`).to.be.greaterThan(0);
    }
  });
});
