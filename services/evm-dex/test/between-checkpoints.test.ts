import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { KEPT_HEADERS } from "../../shared/evm/finality/fork.ts";
import type { WriteStep } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { storeWith } from "../../shared/storage/within.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { poolStates } from "../store/collections.ts";
import { startTestIngest, type TestIngest } from "./kit/harness.ts";

/** Responses, ETags and snapshots are identified by the checkpoint's block: their data must not change within it. */
describeWithChain("evm-dex ingest: between two checkpoints", () => {
  let chain: TestChain;
  let ingest: TestIngest;
  const writes: string[][] = [];

  before(async () => {
    chain = await createTestChain({});
    const store = await openSqliteStore({ path: ":memory:" });
    const spying = storeWith(store, {
      write(steps) {
        writes.push(steps.map(({ kind, collection }: WriteStep) => `${kind} ${collection.name}`));
        return store.write(steps);
      },
    });
    const swapAll = async () => {
      for (const { address } of chain.pools) {
        await chain.swap(address as `0x${string}`, { zeroForOne: true, amount: 10n ** 12n });
      }
    };
    await swapAll();
    await chain.mine(KEPT_HEADERS + 40, { intervalS: 2 });
    ingest = await startTestIngest(chain, { store: spying });
    await ingest.catchUp();
    await swapAll();
    await chain.mine(3);
    await ingest.catchUp();
    await chain.reorg(3, { transactionsPerBlock: 0 });
    await ingest.catchUp();
    await chain.mine(1);
    await ingest.catchUp();
  });
  after(async () => {
    await ingest?.close();
    await chain?.stop();
  });

  it("no pool changes: backfill, head, reorg and what they left unread", async () => {
    const ofPools = writes.filter((steps) => steps.includes("put pool_states"));
    expect(ofPools.length, "writes of pools").to.be.greaterThan(4);
    for (const steps of ofPools) expect(steps, steps.join(", ")).to.include("put checkpoints");
  });

  it("every balance is read in the end, of pools that have traded since and of those that have not", async () => {
    const states = await ingest.store.find(poolStates, {});
    expect(states.length).to.be.greaterThan(5);
    for (const { poolAddress, lastBlock, balanceBlock } of states) {
      // Later where the node has the state of its last event no more.
      expect(balanceBlock, poolAddress).to.be.at.least(lastBlock);
    }
  });
});
