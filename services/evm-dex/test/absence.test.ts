import { expect } from "chai";
import { after, before, it } from "mocha";
import { createRandom } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { KEPT_HEADERS } from "../../shared/evm/finality/fork.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeOnEngines } from "../../shared/storage/testkit/engines.ts";
import { poolEvents } from "../store/collections.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSameStore,
  mineBusyBlocks,
  startTestIngest,
} from "./kit/harness.ts";

/** Blocks that come while the ingest is away; more where all is checked. */
const ABSENCES =
  process.env.TEST_ABSENCES === "all"
    ? [1, KEPT_HEADERS - 1, KEPT_HEADERS + 1, 5_000]
    : [1, KEPT_HEADERS + 1];

describeOnEngines(
  (engine) => `evm-dex ingest on ${engine}: a long absence`,
  { rounds: 22, thorough: true },
  (engine) => {
    let chain: TestChain;
    let opened: { store: Store; remove(): Promise<void> };

    before(async () => {
      chain = await createTestChain();
      // So that a block is final before the first fork.
      await chain.mine(100);
      opened = await engine.open();
    });
    after(async () => {
      await opened?.remove();
      await chain?.stop();
    });

    for (const [i, blocks] of ABSENCES.entries()) {
      it(`replaces what was reorganised at the head before ${blocks} blocks came`, async () => {
        const { store } = opened;
        const random = createRandom(100 + i);
        await mineBusyBlocks(chain, { blocks: 25, seed: 100 + i });
        const first = await startTestIngest(chain, { store });
        await first.catchUp();
        await first.close();
        const before = await store.find(poolEvents, { fields: ["blockHash"] });
        await chain.reorg(1 + random.below(20), { transactionsPerBlock: 2, seed: i });
        await chain.mine(blocks);
        const second = await startTestIngest(chain, { store });
        await second.catchUp();
        await second.close();
        expectSameStore(
          withoutBalanceBlocks(await dumpStore(store)),
          withoutBalanceBlocks(await dumpFreshIndex(chain)),
        );
        const hashes = new Set(
          (await store.find(poolEvents, { fields: ["blockHash"] })).map((row) => row.blockHash),
        );
        expect(
          before.some((row) => !hashes.has(row.blockHash)),
          "events were replaced",
        ).to.equal(true);
        const final = await store.get(finalBlocks, { chainId: 8453 });
        expect((await chain.header(final?.number ?? -1)).hash).to.equal(final?.hash);
      });
    }
  },
);

/** Nodes forget states: after thousands of blocks, a fresh index has to read the same balances at the head. */
function withoutBalanceBlocks(dump: Record<string, unknown[]>): Record<string, unknown[]> {
  const states = dump.pool_states as Record<string, unknown>[];
  return { ...dump, pool_states: states.map(({ balanceBlock: _, ...row }) => row) };
}
