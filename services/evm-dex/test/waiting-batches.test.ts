import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { ReorgDetected } from "../../shared/chain-errors.ts";
import type { Store } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { checkpoints, poolEvents } from "../store/collections.ts";
import { startAlteredNode } from "./kit/altered-node.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSameStore,
  mineBusyBlocks,
  startTestIngest,
} from "./kit/harness.ts";

/** Far more than are followed with their headers: most of them are a backfill. */
const BLOCKS = 500;
/** The parent of this one is told wrong. */
const FORGED = 150;

describeThorough("evm-dex ingest: batches of a backfill that wait to be written", () => {
  let chain: TestChain;

  before(async () => {
    chain = await createTestChain({ keptStates: 5_000 });
    await mineBusyBlocks(chain, { blocks: BLOCKS, seed: 31 });
  });
  after(() => chain?.stop());

  it("are indexed again where their write has failed, and then once", async () => {
    const inner = await openSqliteStore({ path: ":memory:" });
    let [failures, writes] = [2, 0];
    const store = new Proxy<Store>(inner, {
      get(target, name) {
        if (name === "write")
          return async (steps: Parameters<Store["write"]>[0]) => {
            const isOfEvents = steps.some((step) => step.kind === "put" && step.collection === poolEvents);
            // Each second one, so that one fails in the middle of the run.
            if (isOfEvents && writes++ % 2 === 1 && failures-- > 0) throw new ReorgDetected("tried");
            return inner.write(steps);
          };
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const ingest = await startTestIngest(chain, { store });
    try {
      const head = await ingest.source.head();
      // Not until it succeeds: an indexer that is never loaded anew would be tried for ever.
      for (let tries = 0; tries < 10 && ingest.block() < head.number; tries++)
        await ingest.sync.step(head).catch((error: unknown) => {
          if (!(error instanceof ReorgDetected)) throw error;
        });
      expect(failures).to.be.lessThan(2);
      expectSameStore(await dumpStore(inner), await dumpFreshIndex(chain));
    } finally {
      await ingest.close();
      await inner.close();
    }
  });

  it("are written where the source contradicts itself after them", async () => {
    const node = await startAlteredNode(chain.url, (_, { result }) => {
      const block = result as { number?: string; parentHash?: string } | null | undefined;
      if (block?.parentHash !== undefined && Number(block.number) === FORGED)
        block.parentHash = `0x${"11".repeat(32)}`;
    });
    const sourceOptions = { withoutReceipts: true };
    const ingest = await startTestIngest(chain, { urls: [node.url], sourceOptions });
    try {
      const error = await ingest.sync.step(await ingest.source.head()).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(ReorgDetected);
      expect(ingest.block()).to.be.within(FORGED / 3, FORGED - 1);
      const stored = await ingest.store.get(checkpoints, { chainId: 8453 });
      expect(stored?.blockNumber).to.equal(ingest.block());
    } finally {
      await ingest.close();
      await node.close();
    }
  });
});
