import { expect } from "chai";
import { after, before, it } from "mocha";
import { createRandom, type Random } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { headers } from "../../shared/index/evm/headers.ts";
import { put, type Store, type WriteStep } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { describeThoroughRounds } from "../../shared/testkit/describe.ts";
import { entities, entityHistory } from "../store/collections.ts";
import {
  createPool,
  dumpFreshIndex,
  dumpStore,
  expectSame,
  type IndexedChain,
  indexLending,
  queueActions,
  startTestIngest,
} from "./harness.ts";

const ROUNDS = 60;

class Killed extends Error {}

/** A store whose writes happen step by step, as MongoDB's, and stop at a given step. */
function stepwise(store: Store, random: Random) {
  let isDoomed = false;
  let broken = 0;
  const write = async (steps: readonly WriteStep[]): Promise<void> => {
    const at = isDoomed ? random.below(steps.length + 1) : steps.length;
    for (const [i, step] of steps.entries()) {
      if (i === at) {
        // Documents are written in no fixed order: any part of them may be there.
        if (step.kind === "put")
          await store.write([
            put(step.collection, [...step.rows].filter(() => random.next() < 0.5) as never),
          ]);
        break;
      }
      await store.write([step]);
    }
    if (!isDoomed) return;
    broken++;
    throw new Killed();
  };
  return {
    store: new Proxy(store, {
      get(target, name) {
        const own = name === "write" ? write : Reflect.get(target, name);
        return typeof own === "function" ? own.bind(target) : own;
      },
    }),
    /** The next write breaks off somewhere. */
    doom(is: boolean) {
      isDoomed = is;
    },
    broken: () => broken,
  };
}

describeThoroughRounds(ROUNDS, "lending ingest: writes that break off in the middle", () => {
  let chain: TestChain;
  let indexed: IndexedChain & { remove(): Promise<void> };
  before(async () => {
    chain = await createTestChain({ keptStates: 1_000 });
    indexed = await indexLending(chain);
  });
  after(async () => {
    await indexed?.remove();
    await chain?.stop();
  });

  it(`leave what the next start makes good, ${ROUNDS} times, with reorgs among them`, async () => {
    const random = createRandom(77);
    const inner = await openSqliteStore({ path: ":memory:" });
    const { store, doom, broken } = stepwise(inner, random);
    for (let round = 0; round < ROUNDS; round++) {
      for (let b = 0; b < 1 + random.below(3); b++) {
        await queueActions(chain, random);
        if (random.next() < 0.5) await createPool(chain, random);
        await chain.mine(1, { intervalS: random.pick([2, 12, 1800]) });
      }
      doom(true);
      const killed = startTestIngest(indexed, { store });
      const ingest = await killed.catch(
        (error: unknown) => expect(error).to.be.instanceOf(Killed) && undefined,
      );
      if (ingest !== undefined) {
        const error = await ingest.catchUp().catch((caught: unknown) => caught);
        expect(error).to.be.instanceOf(Killed);
        await ingest.close();
      }
      if (random.next() < 0.6) {
        const depth = Math.min(1 + random.below(random.pick([2, 8])), (await chain.headNumber()) - 4);
        await chain.reorg(depth, { transactionsPerBlock: random.below(3), seed: round });
      }
      if (random.next() < 0.3) continue;
      doom(false);
      const next = await startTestIngest(indexed, { store });
      await next.catchUp();
      expectSame(await dumpStore(inner, indexed), await dumpFreshIndex(indexed));
      await expectOwnBlocks(inner, chain);
      await next.close();
    }
    expect(broken()).to.be.at.least(ROUNDS);
    await inner.close();
  });
});

/** States, history and headers are all of blocks on the chain, and history ends with each entity's state. */
async function expectOwnBlocks(store: Store, chain: TestChain): Promise<void> {
  const rows = await store.find(entities, {});
  const history = await store.find(entityHistory, {});
  const kept = await store.find(headers, {});
  const claimed = new Map<number, string | null>();
  for (const { block, blockHash } of [...rows, ...history]) claimed.set(block ?? -1, blockHash);
  for (const { number, hash } of kept) claimed.set(number, hash);
  for (const [number, hash] of claimed)
    expect((await chain.header(number)).hash, `block ${number}`).to.equal(hash);
  const last = new Map(history.map((row) => [`${row.kind} ${row.id}`, row.state]));
  for (const { kind, id, state } of rows) expect(last.get(`${kind} ${id}`), `${kind} ${id}`).to.equal(state);
}
