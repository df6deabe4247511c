import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import { put, type Store } from "../../../shared/storage/port.ts";
import { storeWith } from "../../../shared/storage/within.ts";
import { describeLong, randomRuns } from "../../../shared/testkit/describe.ts";
import { DAY, HOUR, MINUTE, SPANS, type Span } from "../../metrics/bucket.ts";
import { poolUsers, rollups } from "../../store/collections.ts";
import { address, CHAIN_ID, openTestStore } from "../../test/kit/rows.ts";
import {
  anyBatches,
  type Batch,
  expectCounted,
  expectModel,
  OTHER,
  POOL,
  previousOf,
  swapsOf,
} from "../../test/kit/swap-batches.ts";
import { ANN, BOB, CID, DAN, EVE, FAY, type ModelSwap, modelBuckets } from "../../test/kit/swap-model.ts";
import { BucketBook, type PreviousSwap } from "./bucket-book.ts";
import type { Detail } from "./detail.ts";

/** One write of the ingest: load, add, store. Returns what is told of the previous swaps. */
async function addBatch(
  book: BucketBook,
  { swaps, store }: { store: Store; swaps: readonly (ModelSwap & { poolAddress: string })[] },
): Promise<PreviousSwap[]> {
  await book.prepare(swaps);
  const previous = swaps.map((swap) => book.add(swap));
  const { rollups: rollupRows, users } = book.flush();
  await store.write([put(rollups, rollupRows), put(poolUsers, users)]);
  return previous;
}

const swapAt = (time: number, user: string = ANN): ModelSwap & { poolAddress: string } => ({
  poolAddress: POOL,
  time,
  user,
  valueUsd: 2,
  feeUsd: 1,
  tickTravel: 1,
  closePrice: 3,
});

describeLong("BucketBook", () => {
  it("counts a user where they swapped last, in each span", async () => {
    const store = await openTestStore();
    const book = new BucketBook(store, CHAIN_ID);
    const midnight = 1_699_920_000;
    const swaps = [
      swapAt(midnight),
      swapAt(midnight + 59),
      swapAt(midnight + 60),
      swapAt(midnight + 3_600),
      swapAt(midnight + 60, BOB),
    ];
    const previous = await addBatch(book, { store, swaps });
    expect(previous).to.deep.equal([
      { minute: null, users: null },
      { minute: midnight, users: null },
      { minute: midnight, users: "1" },
      { minute: midnight + 60, users: "1 1" },
      { minute: null, users: null },
    ]);
    const lastSeen = async (span: number) =>
      (await store.find(rollups, { filter: { chainId: CHAIN_ID, poolAddress: POOL, span } })).map(
        ({ start, lastSeenUsers, swapCount }) => [start - midnight, lastSeenUsers, swapCount],
      );
    expect(await lastSeen(60)).to.deep.equal([
      [0, 0, 2],
      [60, 1, 2],
      [3_600, 1, 1],
    ]);
    expect(await lastSeen(3_600)).to.deep.equal([
      [0, 1, 4],
      [3_600, 1, 1],
    ]);
    expect(await lastSeen(86_400)).to.deep.equal([[0, 2, 5]]);
    await store.close();
  });

  it("flushes what changed once, and the same row again when it changes again", async () => {
    const store = await openTestStore();
    const book = new BucketBook(store, CHAIN_ID);
    await addBatch(book, { store, swaps: [swapAt(1_000_000)] });
    const unchanged = book.flush();
    expect([...unchanged.rollups, ...unchanged.users]).to.deep.equal([]);
    book.add(swapAt(1_000_001));
    const taken = book.flush();
    expect([...taken.rollups].map(({ span, swapCount }) => [span, swapCount])).to.deep.equal([
      [60, 2],
      [3_600, 2],
      [86_400, 2],
    ]);
    expect([...taken.users], "the minute is the same").to.deep.equal([]);
    await store.close();
  });

  it("reads again what it evicted", async () => {
    const store = await openTestStore();
    const book = new BucketBook(store, CHAIN_ID);
    const day = 86_400;
    const first = 1_000 * day;
    await addBatch(book, { store, swaps: [swapAt(first), swapAt(first, BOB)] });
    // Three buckets a day: more than the 60,000 that are kept in memory.
    const others = Array.from({ length: 20_000 }, (_, i) => swapAt(first + (i + 1) * day, BOB));
    await addBatch(book, { store, swaps: others });
    expect(await addBatch(book, { store, swaps: [swapAt(first + 20_001 * day)] })).to.deep.equal([
      { minute: first, users: "1 1 1" },
    ]);
    for (const span of SPANS) {
      const [row] = await store.find(rollups, {
        filter: { chainId: CHAIN_ID, poolAddress: POOL, span },
        limit: 1,
      });
      expect(row, `span ${span}`).to.include({ start: first, swapCount: 2, lastSeenUsers: 0 });
    }
    await store.close();
  });

  it("leaves buckets away that are not stored: retention has removed them", async () => {
    const store = await openTestStore();
    const first = 1_000 * DAY;
    const key = { chainId: CHAIN_ID, poolAddress: POOL };
    await store.write([put(poolUsers, [{ ...key, user: ANN, lastMinute: first }])]);
    const book = new BucketBook(store, CHAIN_ID);
    const told = await addBatch(book, { store, swaps: [swapAt(first + 2 * DAY), swapAt(first + 3 * DAY)] });
    expect(told).to.deep.equal([
      { minute: first, users: "-1 -1 -1" },
      { minute: first + 2 * DAY, users: "1 1 1" },
    ]);
    expect(await store.count(rollups, { ...key, start: first })).to.equal(0);
    await store.close();
  });

  it("asks an index that began empty for users it has written and evicted alone, until another writes", async () => {
    const asked: unknown[] = [];
    const own = await openTestStore();
    const getMany: Store["getMany"] = async (from, keys) => {
      if (from.name === poolUsers.name) asked.push(...keys.map((key) => (key as { user?: unknown }).user));
      return own.getMany(from, keys);
    };
    const store = storeWith(own, { getMany });
    const usersOf = async (book: BucketBook, names: readonly string[], time: number) => {
      asked.length = 0;
      await addBatch(book, { store, swaps: names.map((name) => swapAt(time, name)) });
      return asked.splice(0);
    };
    const book = new BucketBook(store, CHAIN_ID);
    const others = Array.from({ length: 90_000 }, (_, i) => address(0x1000 + i));
    expect(await usersOf(book, [ANN, BOB, ANN], 60)).to.deep.equal([]);
    expect(await usersOf(book, others.slice(0, 45_000), 60)).to.have.lengthOf.below(9);
    expect(await usersOf(book, others.slice(45_000), 60)).to.have.lengthOf.below(99);
    expect(await usersOf(book, [ANN, EVE], 120)).to.deep.equal([ANN]);
    const stored = await own.get(poolUsers, { chainId: CHAIN_ID, poolAddress: POOL, user: ANN });
    expect(stored?.lastMinute).to.equal(120);
    book.forget([]);
    expect(await usersOf(book, [CID], 180)).to.deep.equal([]);
    book.forget([OTHER]);
    expect(await usersOf(book, [DAN], 180), "what another has written is not known").to.deep.equal([DAN]);
    const next = new BucketBook(store, CHAIN_ID);
    expect(await usersOf(next, [FAY], 240), "nor what was before").to.deep.equal([FAY]);
    await own.close();
  });

  it("equals a model over the whole list, in any batches, over restarts, with two pools", async () => {
    await fc.assert(
      fc.asyncProperty(anyBatches, async (batches) => {
        const store = await openTestStore();
        await expectCounted(store, { batches, told: await addAll(store, batches) });
        await store.close();
      }),
      { numRuns: randomRuns(40) },
    );
  });

  it("keeps hours, users and each pool's last minute where no more stays, and all minutes where these stay", async () => {
    const detail = fc.constantFrom<Detail>("minutes", "hours");
    await fc.assert(
      fc.asyncProperty(anyBatches, detail, async (batches, detail) => {
        const store = await openTestStore();
        const previous = await addAll(store, batches, detail);
        const swaps = swapsOf(batches);
        const spans: Span[] = detail === "minutes" ? [MINUTE, HOUR] : [HOUR];
        for (const poolAddress of [POOL, OTHER]) {
          await expectModel(store, { poolAddress, swaps, spans });
          const own = swaps.filter((swap) => swap.poolAddress === poolAddress);
          const key = { chainId: CHAIN_ID, poolAddress };
          const minutes = await store.find(rollups, { filter: { ...key, span: MINUTE } });
          const expected = modelBuckets(own, MINUTE).map((bucket) => ({ ...key, span: MINUTE, ...bucket }));
          expect(minutes.slice(-1)).to.deep.equal(expected.slice(-1));
          if (detail === "hours") expect(minutes.length).to.be.at.most(batches.length);
          expect(await store.count(rollups, { ...key, span: DAY })).to.equal(0);
        }
        expect(previous).to.deep.equal(
          swaps.map((swap, i) => ({ ...previousOf(swaps.slice(0, i), swap), users: null })),
        );
        await store.close();
      }),
      { numRuns: randomRuns(40) },
    );
  });
});

async function addAll(store: Store, batches: readonly Batch[], detail?: Detail): Promise<PreviousSwap[]> {
  let book = new BucketBook(store, CHAIN_ID, detail);
  const previous: PreviousSwap[] = [];
  for (const { swaps, restart } of batches) {
    previous.push(...(await addBatch(book, { store, swaps })));
    if (restart) book = new BucketBook(store, CHAIN_ID, detail);
  }
  return previous;
}
