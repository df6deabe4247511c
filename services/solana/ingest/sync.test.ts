import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { Store } from "../../shared/storage/port.ts";
import { journal, tokenRows } from "../store/collections.ts";
import { transactions } from "../test/arbitrary-transactions.ts";
import { Killed, storeOfSteps } from "../test/broken-store.ts";
import { FakeCluster } from "../test/fake-cluster.ts";
import { contents, openTestStore } from "../test/store.ts";
import { ChainMoved, OtherCluster } from "./chain-moved.ts";
import { openCheckpoint } from "./start-slot.ts";
import { SolanaSync } from "./sync.ts";

const START = 1_700_000_000;

const produced = fc.record({
  kind: fc.constant("produce" as const),
  skipped: fc.oneof({ arbitrary: fc.constant(0), weight: 4 }, { arbitrary: fc.nat(50), weight: 1 }),
  seconds: fc.integer({ min: -2, max: 40 }),
  isTimed: fc.boolean(),
  transactions,
});

/** What happens to a cluster and to an ingest that looks at it now and then. */
const event = fc.oneof(
  { arbitrary: produced, weight: 8 },
  { arbitrary: fc.record({ kind: fc.constant("finalize" as const), behind: fc.nat(3) }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constant("fork" as const), depth: fc.nat(4) }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constant("look" as const) }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constant("restart" as const) }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constant("kill" as const), steps: fc.nat(40) }), weight: 2 },
);
type Event = typeof event extends fc.Arbitrary<infer E> ? E : never;

/** Ten seconds pass between any two looks at it. */
function* tick(): Generator<number> {
  for (let ms = 0; ; ms += 10_000) yield ms;
}

async function openSync(cluster: FakeCluster, store: Store): Promise<SolanaSync> {
  const { source, reader } = cluster;
  const clock = tick();
  const checkpoint = await openCheckpoint(store, { source, reader, startSlot: 0 });
  return SolanaSync.open(
    {
      store,
      source,
      reader,
      signal: new AbortController().signal,
      log: () => {},
      report: () => {},
      guard: () => [],
      // Final heads are asked for at every step.
      now: () => clock.next().value as number,
    },
    checkpoint,
  );
}

async function look(sync: SolanaSync): Promise<void> {
  for (;;) {
    try {
      if (!(await sync.step())) return;
    } catch (error) {
      if (!(error instanceof ChainMoved)) throw error;
      await sync.heal();
    }
  }
}

function live(cluster: FakeCluster, of: { events: readonly Event[]; time: { now: number } }): void {
  for (const each of of.events) {
    if (each.kind === "finalize") cluster.finalize(each.behind);
    if (each.kind === "fork") cluster.fork(each.depth);
    if (each.kind !== "produce") continue;
    of.time.now += each.seconds;
    cluster.produce({ ...each, blockTime: each.isTimed ? of.time.now : null });
  }
}

function newCluster(): FakeCluster {
  const cluster = new FakeCluster();
  cluster.produce({ blockTime: START, transactions: [] });
  cluster.finalize(0);
  return cluster;
}

async function freshContents(cluster: FakeCluster) {
  const store = await openTestStore();
  try {
    await look(await openSync(cluster, store));
    return await contents(store);
  } finally {
    await store.close();
  }
}

async function goThrough(
  events: readonly Event[],
  { store, broken }: { store: Store; broken: ReturnType<typeof storeOfSteps> },
): Promise<void> {
  const cluster = newCluster();
  const time = { now: START };
  let sync = await openSync(cluster, store);
  for (const each of events) {
    live(cluster, { events: [each], time });
    if (each.kind === "look") await look(sync);
    if (each.kind === "kill") {
      broken.killAfter(each.steps);
      await look(sync).catch((error: unknown) => {
        if (!(error instanceof Killed)) throw error;
      });
      broken.killAfter(Number.POSITIVE_INFINITY);
    }
    if (each.kind === "kill" || each.kind === "restart") sync = await openSync(cluster, store);
  }
  // A cluster whose blocks were dropped goes on beyond them.
  do cluster.produce({ blockTime: time.now, transactions: [] });
  while (cluster.headSlot <= sync.checkpoint.slot);
  await look(sync);
  expect(sync.checkpoint.slot).to.equal(cluster.headSlot);
  expect(await contents(store)).to.deep.equal(await freshContents(cluster));
}

describe("SolanaSync", () => {
  it("ends as a fresh index does, over forks, restarts and kills in the middle of writes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 40 }), fc.boolean(), async (events, isAtomic) => {
        const inner = await openTestStore();
        try {
          const broken = storeOfSteps(inner);
          await goThrough(events, { store: isAtomic ? inner : broken, broken });
        } finally {
          await inner.close();
        }
      }),
      { numRuns: 60 },
    );
  });

  it("reads final slots in batches while far behind, and confirmed ones one by one", async () => {
    const cluster = newCluster();
    for (let i = 0; i < 100; i++) cluster.produce({ blockTime: START + i, transactions: [] });
    cluster.finalize(31);
    const store = await openTestStore();
    const sync = await openSync(cluster, store);
    await sync.step();
    expect([sync.checkpoint.slot, sync.isFollowing]).to.deep.equal([169, false]);
    expect(cluster.asked.every(({ commitment }) => commitment === "finalized")).to.equal(true);
    expect(await store.count(journal, {})).to.equal(0);
    await look(sync);
    expect([sync.checkpoint.slot, sync.isFollowing]).to.deep.equal([200, true]);
    expect(await store.count(journal, {})).to.equal(31);
    cluster.finalize(10);
    cluster.produce({ blockTime: START + 200, transactions: [] });
    await look(sync);
    expect(await store.count(journal, {})).to.equal(11);
    await store.close();
  });

  it("gives a block without a time, or with an earlier one, that of the block before", async () => {
    const cluster = newCluster();
    const [held] = fc.sample(
      transactions.filter((each) => each.some(({ events }) => events.some(({ kind }) => kind === "trade"))),
      {
        numRuns: 1,
        seed: 5,
      },
    );
    for (const blockTime of [START + 9, null, START + 7, START + 10])
      cluster.produce({ blockTime, transactions: held ?? [] });
    const store = await openTestStore();
    await look(await openSync(cluster, store));
    const rows = await store.find(tokenRows, { order: [{ field: "slot", direction: "asc" }] });
    const times = new Map(rows.map(({ slot, time }) => [slot, time - START]));
    expect([...times]).to.deep.equal([
      [101, 9],
      [102, 9],
      [103, 9],
      [104, 10],
    ]);
    await store.close();
  });

  it("refuses another cluster, by its first block, and one that has dropped final blocks", async () => {
    const cluster = newCluster();
    const store = await openTestStore();
    await look(await openSync(cluster, store));
    const other = new FakeCluster({ genesis: 1 });
    other.produce({ blockTime: START, transactions: [] });
    other.finalize(0);
    await refused(() => openSync(other, store));
    // A cluster of which the first block is not to be had any more is told by the last final one.
    for (let i = 0; i < 20; i++) cluster.produce({ blockTime: START, transactions: [] });
    cluster.finalize(5);
    const sync = await openSync(cluster, store);
    await look(sync);
    for (let i = 0; i < 20; i++) other.produce({ blockTime: START, transactions: [] });
    other.finalize(5);
    cluster.firstAvailable = 110;
    other.firstAvailable = 110;
    await openSync(cluster, store);
    await refused(() => openSync(other, store));
    other.firstAvailable = 118;
    const gone = await openSync(other, store).catch((error: unknown) => error);
    expect(String(gone)).to.contain("Slots 121 to 117");
    await store.close();
  });

  it("does not go back before what is final", async () => {
    const cluster = newCluster();
    for (let i = 0; i < 6; i++) cluster.produce({ blockTime: START, transactions: [] });
    cluster.finalize(3);
    const store = await openTestStore();
    const sync = await openSync(cluster, store);
    await look(sync);
    const other = new FakeCluster({ genesis: 2 });
    for (let i = 0; i < 9; i++) other.produce({ blockTime: START, transactions: [] });
    cluster.chain.splice(1, cluster.chain.length, ...other.chain.slice(1));
    await refused(() => look(sync));
    await store.close();
  });
});

async function refused(work: () => Promise<unknown>): Promise<void> {
  const error = await work().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(OtherCluster);
}
