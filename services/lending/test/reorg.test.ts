import { expect } from "chai";
import { after, before, it } from "mocha";
import { LENDING_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { createRandom, type Random } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { describeRounds } from "../../shared/testkit/describe.ts";
import { entities, entityHistory } from "../store/collections.ts";
import {
  busyMiner,
  dumpFreshIndex,
  dumpStore,
  expectSame,
  type IndexedChain,
  indexLending,
  poolCreation,
  startTestIngest,
  type TestIngest,
} from "./harness.ts";

/** npm test makes few; check:full all. */
const REORGS = Number(process.env.TEST_REORGS ?? 3);
const MAX_DEPTH = 20;

describeRounds(REORGS, "lending ingest: reorgs", () => {
  let chain: TestChain;
  let indexed: IndexedChain & { remove(): Promise<void> };
  let ingest: TestIngest;
  /** Up to here, blocks stay: without contracts nothing can be sent. */
  let deployed: number;

  before(async () => {
    chain = await createTestChain({ keptStates: 1_000, families: LENDING_FAMILIES });
    deployed = await chain.headNumber();
    indexed = await indexLending(chain);
    ingest = await startTestIngest(indexed);
  });
  after(async () => {
    await ingest?.close();
    await indexed?.remove();
    await chain?.stop();
  });

  it(`ends as a fresh index of the chain after each of ${REORGS} random reorgs`, async () => {
    const random = createRandom(20_261_122);
    const mine = busyMiner(chain);
    let undone = 0;
    let gone = 0;
    for (let i = 0; i < REORGS; i++) {
      const blocks = 1 + random.below(6);
      for (let b = 0; b < blocks; b++) {
        await mine(random, { intervalS: random.pick([1, 2, 2, 12, 47, 3600]) });
        if (random.next() < 0.5) await ingest.catchUp();
      }
      await ingest.catchUp();
      const epoch = ingest.checkpoint().epoch;
      const before = await readHashes(ingest);
      const depth = Math.min(1 + random.below(MAX_DEPTH), (await chain.headNumber()) - deployed);
      await chain.reorg(depth, replacement(chain, { depth, random }));
      if (random.next() < 0.3) await chain.mine(1 + random.below(3), { intervalS: 2 });
      await ingest.catchUp();
      const hashes = await chainHashes(chain);
      undone += before.filter((hash) => !hashes.has(hash)).length;
      gone += ingest.checkpoint().epoch - epoch;
      expectSame(await dumpStore(ingest.store, indexed), await dumpFreshIndex(indexed));
      await expectOnChain(ingest, hashes);
    }
    expect(undone, "reorgs that undid nothing prove nothing").to.be.greaterThan(REORGS);
    expect(gone, "reorgs that removed no unit prove nothing").to.be.greaterThan(REORGS / 10);
  });
});

/** What comes in place of the blocks that go. */
function replacement(chain: TestChain, options: { depth: number; random: Random }) {
  const { depth, random } = options;
  if (random.next() < 0.5) return { transactionsPerBlock: random.below(4), seed: random.below(1e9) };
  const creations = Array.from({ length: random.below(4) }, () => poolCreation(chain, random));
  return { transactions: creations.map((each) => [each, random.below(depth)] as const) };
}

async function readHashes({ store }: TestIngest): Promise<string[]> {
  return (await store.find(entities, {})).flatMap(({ blockHash }) => blockHash ?? []);
}

async function chainHashes(chain: TestChain): Promise<Set<string>> {
  const numbers = Array.from({ length: (await chain.headNumber()) + 1 }, (_, i) => `0x${i.toString(16)}`);
  const blocks = await chain.anvil.rpc.batch<{ hash: string }>(
    numbers.map((number) => ({ method: "eth_getBlockByNumber", params: [number, false] })),
  );
  return new Set(blocks.map(({ hash }) => hash));
}

/** Nothing that was read, and no history, is of a block that was replaced; the last history is the state. */
async function expectOnChain({ store }: TestIngest, hashes: ReadonlySet<string>): Promise<void> {
  const rows = await store.find(entities, {});
  const history = await store.find(entityHistory, {});
  for (const { kind, id, blockHash } of [...rows, ...history])
    expect(blockHash === null || hashes.has(blockHash), `${kind} ${id}`).to.equal(true);
  const last = new Map(history.map((row) => [`${row.kind} ${row.id}`, row.state]));
  for (const { kind, id, state } of rows)
    expect(last.get(`${kind} ${id}`) ?? null, `history of ${kind} ${id}`).to.equal(state);
}
