import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { put, type Store } from "../../../shared/storage/port.ts";
import { storeWith } from "../../../shared/storage/within.ts";
import { randomRuns } from "../../../shared/testkit/describe.ts";
import { poolUsers, rollups } from "../../store/collections.ts";
import { address, CHAIN_ID, openTestStore } from "../../test/kit/rows.ts";
import { anyBatches, expectCounted, OTHER, POOL } from "../../test/kit/swap-batches.ts";
import { ANN, BOB } from "../../test/kit/swap-model.ts";
import { BucketBook, type PreviousSwap, type UserSwap } from "./bucket-book.ts";
import { countSwaps } from "./count-swaps.ts";
import { UncountedSwaps } from "./uncounted-swaps.ts";

interface Counter {
  readonly store: Store;
  readonly book: BucketBook;
  readonly partSize?: number;
}

/** Counts what waits, and writes it. Returns by number what was told. */
async function count(uncounted: UncountedSwaps, { store, book, partSize }: Counter): Promise<PreviousSwap[]> {
  const told: PreviousSwap[] = [];
  const events = {
    tell(number: number, { previousMinute, previousUsers }: Record<string, unknown>) {
      expect(told[number], `swap ${number} is told once`).to.equal(undefined);
      told[number] = { minute: previousMinute, users: previousUsers } as PreviousSwap;
    },
  };
  await countSwaps(uncounted.take(), { book, events, ...(partSize !== undefined && { partSize }) });
  const { rollups: rollupRows, users } = book.flush();
  await store.write([put(rollups, rollupRows), put(poolUsers, users)]);
  return told;
}

const swapAt = (time: number, { user = ANN as string, poolAddress = POOL as string } = {}): UserSwap => ({
  ...{ poolAddress, time, user, valueUsd: 2, feeUsd: 1, tickTravel: 1, closePrice: 3 },
});

describe("countSwaps", () => {
  it("equals a model over the whole list, in parts of any size, over restarts, with two pools", async () => {
    await fc.assert(
      fc.asyncProperty(anyBatches, fc.integer({ min: 1, max: 6 }), async (batches, partSize) => {
        const store = await openTestStore();
        const uncounted = new UncountedSwaps();
        let book = new BucketBook(store, CHAIN_ID);
        const lastTimes = new Map<string, number>();
        const told: PreviousSwap[] = [];
        for (const { swaps, restart } of batches) {
          for (const [i, swap] of swaps.entries()) {
            const lastTime = lastTimes.get(swap.poolAddress) ?? Number.POSITIVE_INFINITY;
            expect(uncounted.add(swap, lastTime)).to.equal(i);
            lastTimes.set(swap.poolAddress, swap.time);
          }
          told.push(...(await count(uncounted, { store, book, partSize })));
          if (restart) book = new BucketBook(store, CHAIN_ID);
        }
        await expectCounted(store, { batches, told });
        await store.close();
      }),
      { numRuns: randomRuns(60) },
    );
  });

  it("looks up a pair and a bucket once in a write, and lets go of those of one part before the next", async () => {
    const own = await openTestStore();
    const asked: string[] = [];
    const getMany: Store["getMany"] = async (from, keys) => {
      for (const key of keys as readonly Record<string, unknown>[])
        asked.push([from.name, key.poolAddress, key.user ?? `${key.span} ${key.start}`].join(" "));
      return own.getMany(from, keys);
    };
    const store = storeWith(own, { getMany });
    class NotingBook extends BucketBook {
      override collect(): void {
        asked.push("collected");
        super.collect();
      }
    }
    const pools = Array.from({ length: 10 }, (_, i) => address(0x500 + i));
    const write = async (time: number, lastTime: number) => {
      const uncounted = new UncountedSwaps();
      for (let i = 0; i < 400; i++)
        uncounted.add(
          swapAt(time + i, { user: i % 20 < 10 ? ANN : BOB, poolAddress: pools[i % 10] as string }),
          lastTime,
        );
      await count(uncounted, { store, book: new NotingBook(store, CHAIN_ID), partSize: 80 });
      return asked.splice(0);
    };
    expect(await write(86_400, Number.POSITIVE_INFINITY)).to.have.lengthOf.above(0);
    const turns = await write(90_000 + 86_400, 86_799);
    const keys = turns.filter((turn) => turn !== "collected");
    expect(new Set(keys).size).to.equal(keys.length);
    // Of each pool two users, and the last minute, hour and day that both leave: no bucket of today is stored.
    expect(keys).to.have.length(10 * 5);
    // Two pools have 80 swaps: their users are looked up together, then their buckets.
    const parts = [0, 2, 4, 6, 8].flatMap((i) => {
      const [first, second] = [pools[i], pools[i + 1]];
      return [first, first, second, second, first, first, first, second, second, second, undefined];
    });
    // A flush collects what is left.
    expect(turns.map((turn) => turn.split(" ")[1])).to.deep.equal([...parts, undefined]);
    await own.close();
  });

  it("gives the memory of counted swaps back", async () => {
    const store = await openTestStore();
    const uncounted = new UncountedSwaps();
    uncounted.add(swapAt(60), Number.POSITIVE_INFINITY);
    const taken = uncounted.take();
    await countSwaps(taken, { book: new BucketBook(store, CHAIN_ID), events: { tell: () => {} } });
    uncounted.add(swapAt(120), 60);
    expect(taken.swapOf(0, POOL).time).to.equal(120);
    await store.close();
  });

  it("has an error of the store, after which nothing is flushed", async () => {
    const own = await openTestStore();
    const store = storeWith(own, {
      getMany: async () => {
        throw new Error("no disk");
      },
    });
    // A pair is looked up where others may be stored.
    await own.write([put(poolUsers, [{ chainId: CHAIN_ID, poolAddress: OTHER, user: ANN, lastMinute: 60 }])]);
    const uncounted = new UncountedSwaps();
    uncounted.add(swapAt(120), Number.POSITIVE_INFINITY);
    const failed = await count(uncounted, { store, book: new BucketBook(store, CHAIN_ID) }).catch(String);
    expect(failed).to.equal("Error: no disk");
    expect(await own.count(rollups, {})).to.equal(0);
    await own.close();
  });
});
