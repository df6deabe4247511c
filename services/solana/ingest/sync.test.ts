import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import { IngestStalled, ReorgDetected } from "../../shared/chain-errors.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeLong, randomRuns } from "../../shared/testkit/describe.ts";
import { type SlotRange, SolanaUpstreamError } from "../chain/port.ts";
import { finalBlocks, journal, tokenRows } from "../store/collections.ts";
import { transactions } from "../test/arbitrary-transactions.ts";
import { createStepwiseStore, Killed } from "../test/broken-store.ts";
import { FakeCluster } from "../test/fake-cluster.ts";
import { contents, openTestStore } from "../test/store.ts";
import { checkLinks } from "./fork.ts";
import type { BlockReader, DecodedBlock } from "./read/decoded-block.ts";
import { requireAgreement } from "./stalls.ts";
import { anchorSource, openCheckpoint } from "./start-slot.ts";
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

async function openSync(
  cluster: FakeCluster,
  store: Store,
  reader: BlockReader = cluster.reader,
): Promise<SolanaSync> {
  const { source } = cluster;
  const clock = tick();
  await anchorSource(store, source);
  await requireAgreement(source);
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
      // Final heads are requested at every step.
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
      if (!(error instanceof ReorgDetected)) throw error;
      await sync.handleReorg();
    }
  }
}

function live(cluster: FakeCluster, options: { events: readonly Event[]; time: { now: number } }): void {
  for (const each of options.events) {
    if (each.kind === "finalize") cluster.finalize(each.behind);
    if (each.kind === "fork") cluster.fork(each.depth);
    if (each.kind !== "produce") continue;
    options.time.now += each.seconds;
    cluster.produce({ ...each, blockTime: each.isTimed ? options.time.now : null });
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
  { store, broken }: { store: Store; broken: ReturnType<typeof createStepwiseStore> },
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

describeLong("SolanaSync", () => {
  it("ends as a fresh index does, over forks, restarts and kills in the middle of writes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 40 }), fc.boolean(), async (events, isAtomic) => {
        const inner = await openTestStore();
        try {
          const broken = createStepwiseStore(inner);
          await goThrough(events, { store: isAtomic ? inner : broken, broken });
        } finally {
          await inner.close();
        }
      }),
      { numRuns: randomRuns(60) },
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
    expect(cluster.requested.every(({ commitment }) => commitment === "finalized")).to.equal(true);
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

  it("gives a block without a time, or with an earlier one, the time of the block before", async () => {
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

  it("stalls on another cluster, and where slots are gone, and deletes nothing", async () => {
    const cluster = newCluster();
    const store = await openTestStore();
    await look(await openSync(cluster, store));
    for (let i = 0; i < 20; i++) cluster.produce({ blockTime: START, transactions: [] });
    cluster.finalize(5);
    await look(await openSync(cluster, store));
    const before = await contents(store);
    const other = new FakeCluster({ genesis: 1 });
    for (let i = 0; i < 21; i++) other.produce({ blockTime: START, transactions: [] });
    other.finalize(5);
    await standsStill(() => openSync(other, store), "contradicts the index");
    // Neither has the first block any more: they differ in the last final one.
    cluster.firstAvailable = 110;
    other.firstAvailable = 110;
    await openSync(cluster, store);
    await standsStill(() => openSync(other, store), "contradicts the index");
    cluster.firstAvailable = 125;
    await standsStill(() => openSync(cluster, store), "Slots 121 to 124 are still to be indexed");
    expect(await contents(store)).to.deep.equal(before);
    await store.close();
  });

  it("does not roll back what is final, and continues when the cluster is back", async () => {
    const cluster = newCluster();
    for (let i = 0; i < 6; i++) cluster.produce({ blockTime: START, transactions: [] });
    cluster.finalize(3);
    const store = await openTestStore();
    const sync = await openSync(cluster, store);
    await look(sync);
    cluster.produce({ blockTime: START, transactions: [] });
    await look(sync);
    expect(await store.get(finalBlocks, { chainId: 0 })).to.include({ slot: 103 });
    const own = [...cluster.chain];
    const before = await contents(store);
    const other = new FakeCluster({ genesis: 2 });
    for (let i = 0; i < 12; i++) other.produce({ blockTime: START, transactions: [] });
    cluster.chain.splice(1, cluster.chain.length, ...other.chain.slice(1));
    await standsStill(() => look(sync), "npm run reindex -- --chain solana");
    expect(await contents(store)).to.deep.equal(before);
    cluster.chain.splice(0, cluster.chain.length, ...own);
    cluster.produce({ blockTime: START, transactions: [] });
    await look(sync);
    expect(sync.checkpoint.slot).to.equal(cluster.headSlot);
    await store.close();
  });

  it("takes no final head for granted: what is stored must be the cluster's block", async () => {
    const cluster = newCluster();
    for (let i = 0; i < 6; i++) cluster.produce({ blockTime: START, transactions: [] });
    const store = await openTestStore();
    const sync = await openSync(cluster, store);
    await look(sync);
    // Blocks that the store has are replaced, and final, before anything new is read.
    cluster.fork(3);
    for (let i = 0; i < 3; i++) cluster.produce({ blockTime: START, transactions: [] });
    cluster.finalize(0);
    await look(sync);
    expect(sync.checkpoint.blockhash).to.equal(cluster.chain.at(-1)?.blockhash);
    expect(await contents(store)).to.deep.equal(await freshContents(cluster));
    await store.close();
  });

  it("checks that its checkpoint is still on the chain before it reads on", async () => {
    const cluster = newCluster();
    for (let i = 0; i < 6; i++) cluster.produce({ blockTime: START, transactions: [] });
    const store = await openTestStore();
    await look(await openSync(cluster, store));
    cluster.fork(4);
    for (let i = 0; i < 60; i++) cluster.produce({ blockTime: START, transactions: [] });
    cluster.finalize(2);
    cluster.requested.length = 0;
    const sync = await openSync(cluster, store);
    expect(sync.checkpoint.slot).to.equal(102);
    expect(cluster.requested).to.deep.equal([]);
    await look(sync);
    expect(await contents(store)).to.deep.equal(await freshContents(cluster));
    await store.close();
  });

  it("finds a fork however long the cluster has finalized nothing", async () => {
    const cluster = newCluster();
    const store = await openTestStore();
    const sync = await openSync(cluster, store);
    for (let i = 0; i < 700; i++) cluster.produce({ blockTime: START + i, transactions: [] });
    await look(sync);
    cluster.fork(600);
    for (let i = 0; i < 650; i++) cluster.produce({ blockTime: START + i, transactions: [] });
    await look(sync);
    expect(await contents(store)).to.deep.equal(await freshContents(cluster));
    await store.close();
  });

  it("ends as a fresh index does where ranges end with the block before their last one's", async () => {
    const cluster = newCluster();
    for (let i = 0; i < 80; i++) cluster.produce({ blockTime: START + i, transactions: [] });
    cluster.finalize(0);
    const store = await openTestStore();
    const wrong = new Set<number>();
    // The block before the last counts as skipped, and comes in the last one's slot: it fits its parent.
    const misreading: BlockReader = {
      async blocks(range) {
        const read = await cluster.reader.blocks(range);
        const [before, last] = read.slice(-2);
        if (before === undefined || last === undefined || wrong.has(last.slot)) return read;
        wrong.add(last.slot);
        return [...read.slice(0, -2), { ...before, slot: last.slot }];
      },
    };
    const sync = await openSync(cluster, store, misreading);
    // Ranges that do not fit are requested again.
    for (let isDone = false; !isDone; )
      isDone = await look(sync).then(
        () => true,
        (error: unknown) => {
          expect(error).to.be.instanceOf(SolanaUpstreamError);
          return false;
        },
      );
    expect(wrong.size).to.be.greaterThan(1);
    expect(await contents(store)).to.deep.equal(await freshContents(cluster));
    await store.close();
  });

  it("writes no block that does not follow the one before it, whatever a reader returns", async () => {
    const cluster = newCluster();
    for (let i = 0; i < 80; i++) cluster.produce({ blockTime: START + i, transactions: [] });
    cluster.finalize(0);
    const store = await openTestStore();
    const { reader } = cluster;
    const broken = {
      blocks: async (range: SlotRange) => {
        const read = await reader.blocks(range);
        return read.filter(({ slot }) => slot !== 150);
      },
    };
    const sync = await openSync(cluster, store, broken);
    let error: unknown;
    for (let i = 0; i < 90 && error === undefined; i++) await sync.step().catch((e) => (error = e));
    expect(error).to.be.instanceOf(Error);
    expect(sync.checkpoint.slot).to.be.at.most(149);
    const late = { ...(cluster.chain[20] as DecodedBlock), previousBlockhash: "of-another-chain" };
    const batch = [cluster.chain[19] as DecodedBlock, late];
    expect(() => checkLinks(batch, { ...sync.checkpoint, ...cluster.chain[18] })).to.throw(ReorgDetected);
    await store.close();
  });
});

async function standsStill(work: () => Promise<unknown>, words: string): Promise<void> {
  const error = await work().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(IngestStalled);
  expect(String(error)).to.contain(words);
}
