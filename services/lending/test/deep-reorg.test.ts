import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { createRandom } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { entities, entityHistory } from "../store/collections.ts";
import {
  createPool,
  dumpFreshIndex,
  dumpStore,
  expectSame,
  type IndexedChain,
  indexLending,
  mineBusyBlocks,
  startTestIngest,
  type TestIngest,
} from "./harness.ts";

describeThorough("lending ingest: forks deeper than the kept headers", () => {
  let chain: TestChain;
  let indexed: IndexedChain & { remove(): Promise<void> };
  let ingest: TestIngest;
  let before: string;

  beforeEach(async () => {
    // What is final is not replaced: here nothing is for longer than the deepest fork.
    chain = await createTestChain({ finalDepth: 2_000 });
    indexed = await indexLending(chain);
    await mineBusyBlocks(chain, { blocks: 20, seed: 1 });
    ingest = await startTestIngest(indexed);
    await ingest.catchUp();
    // The chain goes back to here, without the node having to keep every state since.
    before = await chain.anvil.rpc.call("evm_snapshot");
  });
  afterEach(async () => {
    await ingest?.close();
    await indexed?.remove();
    await chain?.stop();
  });

  /** Blocks with something in the first and the last of them; the ingest follows. */
  async function grow(blocks: number, seed: number): Promise<void> {
    const random = createRandom(seed);
    for (let i = 0; i < 3; i++) await createPool(chain, random);
    await mineBusyBlocks(chain, { blocks: 5, seed });
    await ingest.catchUp();
    await chain.mine(blocks - 10);
    await mineBusyBlocks(chain, { blocks: 5, seed: seed + 1 });
    await ingest.catchUp();
  }

  /** Another branch, as long as it says. */
  async function replace(blocks: number, seed: number): Promise<void> {
    expect(await chain.anvil.rpc.call("evm_revert", [before])).to.equal(true);
    const random = createRandom(seed);
    for (let i = 0; i < 3; i++) await createPool(chain, random);
    await mineBusyBlocks(chain, { blocks: 5, seed });
    await chain.mine(blocks - 5);
  }

  async function expectFresh(): Promise<void> {
    expectSame(await dumpStore(ingest.store, indexed), await dumpFreshIndex(indexed));
    const head = await chain.headNumber();
    const all = [...(await ingest.store.find(entities, {})), ...(await ingest.store.find(entityHistory, {}))];
    for (const { block, blockHash } of all) {
      expect(block).to.be.at.most(head);
      expect(blockHash).to.equal((await chain.header(block ?? -1)).hash);
    }
    expect(await ingest.store.count(entities, { version: { gt: ingest.checkpoint().version } })).to.equal(0);
  }

  it("are found by the recorded states of entities, and followed from there", async () => {
    await grow(300, 10);
    const { epoch } = ingest.checkpoint();
    await replace(310, 20);
    await ingest.catchUp();
    await expectFresh();
    expect(ingest.lines.join("\n")).to.match(/reorganised 30\d blocks down to 2\d;/);
    expect(ingest.checkpoint().epoch).to.be.greaterThan(epoch);
  });

  it("cause everything to be found and read again where they are very deep", async () => {
    await grow(700, 30);
    await replace(720, 40);
    await ingest.catchUp();
    await expectFresh();
    expect(ingest.lines).to.include("read all entities");
  });

  it("are accepted of a chain that has become shorter, after a few checks", async () => {
    await grow(60, 50);
    await replace(30, 60);
    const { blockNumber } = ingest.checkpoint();
    expect(await chain.headNumber()).to.be.lessThan(blockNumber);
    for (let look = 0; look < 8; look++) await ingest.step();
    expect(ingest.checkpoint().blockNumber).to.equal(await chain.headNumber());
    await expectFresh();
  });
});
