import { expect } from "chai";
import { after, before, it } from "mocha";
import { createRandom } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { KEPT_HEADERS } from "../../shared/evm/finality/fork.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeOnEngines } from "../../shared/storage/testkit/engines.ts";
import { entityHistory } from "../store/collections.ts";
import {
  createPool,
  dumpFreshIndex,
  dumpStore,
  expectSame,
  type IndexedChain,
  indexLending,
  mineBusyBlocks,
  startTestIngest,
} from "./harness.ts";

/** Blocks that come while the ingest is away; more where all is checked. */
const ABSENCES =
  process.env.TEST_ABSENCES === "all"
    ? [1, KEPT_HEADERS - 1, KEPT_HEADERS + 1, 5_000]
    : [1, KEPT_HEADERS + 1];

describeOnEngines(
  (engine) => `lending ingest on ${engine}: a long absence`,
  { rounds: 22, thorough: true },
  (engine) => {
    let chain: TestChain;
    let indexed: IndexedChain & { remove(): Promise<void> };
    let opened: { store: Store; remove(): Promise<void> };

    before(async () => {
      chain = await createTestChain();
      indexed = await indexLending(chain);
      // So that a block is final before the first fork.
      await chain.mine(100);
      opened = await engine.open();
    });
    after(async () => {
      await opened?.remove();
      await indexed?.remove();
      await chain?.stop();
    });

    for (const [i, blocks] of ABSENCES.entries()) {
      it(`heals what was replaced at the head before ${blocks} blocks came`, async () => {
        const { store } = opened;
        const random = createRandom(100 + i);
        await createPool(chain, random);
        await mineBusyBlocks(chain, { blocks: 25, seed: 100 + i });
        const first = await startTestIngest(indexed, { store });
        await first.catchUp();
        await first.close();
        await chain.reorg(1 + random.below(20), { transactionsPerBlock: 2, seed: i });
        await chain.mine(blocks);
        const second = await startTestIngest(indexed, { store });
        await second.catchUp();
        await second.close();
        expectSame(await dumpStore(store, indexed), await dumpFreshIndex(indexed));
        for (const { block, blockHash } of await store.find(entityHistory, {}))
          expect((await chain.header(block)).hash, `block ${block}`).to.equal(blockHash);
        const final = await store.get(finalBlocks, { chainId: 8453 });
        expect((await chain.header(final?.number ?? -1)).hash).to.equal(final?.hash);
      });
    }
  },
);
