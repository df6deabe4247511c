import { expect } from "chai";
import { after, afterEach, before, it } from "mocha";
import { type FaultyRpc, startFaultyRpc } from "../../../deploy/devnet/node/faulty-rpc.ts";
import { DEX_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import type { SourceOptions } from "../../shared/evm/source/source.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSameStore,
  mineBusyBlocks,
  startTestIngest,
} from "./kit/harness.ts";

const QUICK = { timeoutMs: 300, backoffMs: 5, maxBackoffMs: 50, openMs: 50, maxOpenMs: 200, rateCoolMs: 20 };
/** High enough that in some hundred requests, and some ten of them for logs, each is all but certain to happen. */
const FAULTS = {
  hang: 0.03,
  rateLimit: 0.04,
  truncated: 0.04,
  badGateway: 0.04,
  reset: 0.04,
  emptyLogs: 0.15,
  duplicateLogs: 0.15,
  headBack: 0.06,
};
type Counts = ReturnType<FaultyRpc["counts"]>;

describeThorough("evm-dex ingest: RPC endpoints that fail", () => {
  let chain: TestChain;
  let rpcs: FaultyRpc[] = [];

  before(async () => {
    chain = await createTestChain({
      keptStates: 5000,
      families: DEX_FAMILIES,
    });
    await mineBusyBlocks(chain, { blocks: 700, seed: 7 });
  });
  afterEach(async () => {
    for (const rpc of rpcs) await rpc.close();
    rpcs = [];
  });
  after(() => chain?.stop());

  it("lose and repeat nothing, where logs are read by range", async () => {
    const counts = await indexThrough([1, 2], { ...QUICK, withoutReceipts: true });
    for (const fault of Object.keys(counts) as (keyof Counts)[]) {
      expect(counts[fault], `a storm without ${fault} proves nothing about it`).to.be.greaterThan(0);
    }
  });

  it("lose and repeat nothing, where whole blocks are read", async () => {
    const counts = await indexThrough([3, 4], QUICK);
    const faults = Object.values(counts).reduce((sum, count) => sum + count, 0);
    // Few requests are needed then: which faults meet them is chance.
    expect(faults, JSON.stringify(counts)).to.be.greaterThan(5);
  });

  /** Indexes the chain through two bad endpoints, in backfill and at the head, and holds it against a fresh index. */
  async function indexThrough(seeds: readonly number[], sourceOptions: SourceOptions): Promise<Counts> {
    for (const seed of seeds) {
      const options = { target: chain.url, faults: FAULTS, seed, rangeLimit: 40, retryAfterS: 0 };
      rpcs.push(await startFaultyRpc(options));
    }
    const ingest = await startTestIngest(chain, { urls: rpcs.map((rpc) => rpc.url), sourceOptions });
    try {
      await ingest.catchUp();
      for (let round = 0; round < 30; round++) {
        await mineBusyBlocks(chain, { blocks: 1 + (round % 3), seed: 100 + round });
        await ingest.catchUp();
      }
      await catchUpTo(ingest, Number(await chain.anvil.rpc.call("eth_blockNumber")));
      expectSameStore(await dumpStore(ingest.store), await dumpFreshIndex(chain));
    } finally {
      await ingest.close();
    }
    const [first, second] = rpcs.map((rpc) => rpc.counts()) as [Counts, Counts];
    const names = Object.keys(first) as (keyof Counts)[];
    return Object.fromEntries(names.map((name) => [name, first[name] + second[name]])) as unknown as Counts;
  }
});

/** A node that is behind ends an ingest too early: the head is read from the chain itself. */
async function catchUpTo(ingest: { catchUp(): Promise<void>; block(): number }, head: number): Promise<void> {
  while (ingest.block() < head) await ingest.catchUp();
}
