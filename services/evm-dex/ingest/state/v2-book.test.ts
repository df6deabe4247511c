import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { quantizeUsd } from "../../../shared/pricing/quantize.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { storeWith } from "../../../shared/storage/within.ts";
import { v2AmountsText } from "../../metrics/v2-bucket.ts";
import { v2LargeSwaps, v2Rollups } from "../../store/v2-collections.ts";
import { address, CHAIN_ID, hash, openTestStore } from "../../test/kit/rows.ts";
import type { V2SwapRow } from "../../views/v2-swap.ts";
import { V2Book } from "./v2-book.ts";

const POOLS = [address(0x900), address(0x901)];
const START = 1_699_999_000;
const E18 = 10n ** 18n;

const amount = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n });
const usd = fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }).map(quantizeUsd), { freq: 8 });
const anySwap = fc.record({
  pool: fc.nat(1),
  after: fc.constantFrom(0, 1, 59, 1_800, 3_599, 3_600, 40_000),
  amount0: amount,
  amount1: amount,
  fee0: fc.bigInt({ min: 0n, max: 10n ** 20n }),
  fee1: fc.bigInt({ min: 0n, max: 10n ** 20n }),
  supply: fc.bigInt({ min: 1n, max: 10n ** 24n }),
  valueUsd: usd,
  feeUsd: usd,
});
type AnySwap = typeof anySwap extends fc.Arbitrary<infer S> ? S : never;

function toRows(swaps: readonly AnySwap[]): V2SwapRow[] {
  let time = START;
  return swaps.map((swap, i) => {
    time += swap.after;
    return {
      poolAddress: POOLS[swap.pool] as string,
      time,
      blockNumber: 100 + i,
      logIndex: i % 3,
      txHash: hash(i),
      moved: { amount0: swap.amount0, amount1: swap.amount1 },
      valueUsd: swap.valueUsd,
      feeUsd: swap.feeUsd,
      fees: { amount0: swap.fee0, amount1: swap.fee1, totalSupply: swap.supply },
    };
  });
}

const abs = (value: bigint) => (value < 0n ? -value : value);
const sum = <T>(list: readonly T[], options: (each: T) => bigint) =>
  list.reduce((total, each) => total + options(each), 0n);

/** One bucket's row by going over the whole list for every number. */
function modelRollup(
  swaps: readonly AnySwap[],
  rows: readonly V2SwapRow[],
  at: { pool: string; span: number; start: number },
) {
  const isIn = (row: V2SwapRow) =>
    row.poolAddress === at.pool && row.time >= at.start && row.time < at.start + at.span;
  const own = swaps.filter((_, i) => isIn(rows[i] as V2SwapRow));
  const usdOf = (isWanted: (swap: AnySwap) => boolean) =>
    own.filter(isWanted).reduce((total, { valueUsd }) => total + (valueUsd ?? 0), 0);
  return {
    chainId: CHAIN_ID,
    poolAddress: at.pool,
    span: at.span,
    start: at.start,
    swapCount: own.length,
    unpricedCount:
      own.filter((s) => s.valueUsd === null).length + own.filter((s) => s.feeUsd === null).length,
    zeroForOneUsd: usdOf(({ amount0 }) => amount0 > 0n),
    oneForZeroUsd: usdOf(({ amount0 }) => amount0 <= 0n),
    feesUsd: own.reduce((total, { feeUsd }) => total + (feeUsd ?? 0), 0),
    amounts: v2AmountsText.write({
      volume0: sum(own, ({ amount0 }) => abs(amount0)),
      volume1: sum(own, ({ amount1 }) => abs(amount1)),
      fees0: sum(own, ({ fee0 }) => fee0),
      fees1: sum(own, ({ fee1 }) => fee1),
      growth0: sum(own, ({ fee0, supply }) => (fee0 * E18) / supply),
      growth1: sum(own, ({ fee1, supply }) => (fee1 * E18) / supply),
    }),
  };
}

describe("V2Book", () => {
  it("has the hours and days of all swaps, however they are split over writes and restarts", async () => {
    const story = fc.record({
      swaps: fc.array(anySwap, { minLength: 1, maxLength: 40 }),
      batch: fc.integer({ min: 1, max: 9 }),
      restart: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(story, async ({ swaps, batch, restart }) => {
        const store = await openTestStore();
        const rows = toRows(swaps);
        let book = new V2Book(store, CHAIN_ID);
        for (let at = 0; at < rows.length; at += batch) {
          if (restart) book = new V2Book(store, CHAIN_ID);
          const part = rows.slice(at, at + batch);
          await book.prepare(part);
          for (const row of part) book.add(row);
          const { rollups, largeSwaps } = book.flush();
          await store.write([put(v2Rollups, rollups), put(v2LargeSwaps, largeSwaps)]);
        }
        for (const span of [3_600, 86_400]) {
          const stored = await store.find(v2Rollups, { filter: { chainId: CHAIN_ID, span } });
          const keys = new Map(
            rows.map((row) => {
              const start = row.time - (row.time % span);
              return [`${row.poolAddress}:${start}`, { pool: row.poolAddress, span, start }];
            }),
          );
          expect(stored).to.have.deep.members([...keys.values()].map((at) => modelRollup(swaps, rows, at)));
        }
        await expectLargest(await store.find(v2LargeSwaps, {}), rows);
        await store.close();
      }),
      { numRuns: 40 },
    );
  });

  it("reads again what a store that failed did not tell, and nothing later than the pool's last event", async () => {
    const own = await openTestStore();
    const [swap] = fc.sample(anySwap, { numRuns: 1, seed: 2 });
    const [first, second] = toRows([swap, swap].map((one) => ({ ...(one as AnySwap), after: 0, pool: 0 })));
    let asked = 0;
    let isAway = true;
    const getMany: Store["getMany"] = async (from, keys) => {
      asked += keys.length;
      if (isAway && keys.length > 0) throw new Error("The store is away.");
      return own.getMany(from, keys);
    };
    const store = storeWith(own, { getMany });
    const write = async (book: V2Book, row: V2SwapRow, lastTime: number) => {
      await book.prepare([row], () => lastTime);
      book.add(row);
      const { rollups, largeSwaps } = book.flush();
      await own.write([put(v2Rollups, rollups), put(v2LargeSwaps, largeSwaps)]);
      return rollups.map(({ swapCount }) => swapCount);
    };
    const { time } = first as V2SwapRow;
    expect(await write(new V2Book(store, CHAIN_ID), first as V2SwapRow, time - 86_400)).to.deep.equal([1, 1]);
    expect(asked, "none of them can be stored").to.equal(0);
    const book = new V2Book(store, CHAIN_ID);
    const failed = await book.prepare([second as V2SwapRow]).catch((error: Error) => error.message);
    expect(failed).to.equal("The store is away.");
    isAway = false;
    expect(await write(book, second as V2SwapRow, time)).to.deep.equal([2, 2]);
    await own.close();
  });

  it("writes what changed, and only that", async () => {
    const store = await openTestStore();
    const book = new V2Book(store, CHAIN_ID);
    const [swap] = fc.sample(anySwap, { numRuns: 1, seed: 2 });
    const rows = toRows(
      Array.from({ length: 11 }, () => ({ ...(swap as AnySwap), after: 0, pool: 0, valueUsd: 5 })),
    );
    await book.prepare(rows);
    for (const row of rows) book.add(row);
    expect(book.flush().rollups).to.have.length(2);
    expect(book.flush()).to.deep.equal({ rollups: [], largeSwaps: [] });
    // Ten are larger: it is not among the largest.
    book.add({ ...(rows[0] as V2SwapRow), blockNumber: 999, valueUsd: 1 });
    const { rollups, largeSwaps } = book.flush();
    expect([rollups.length, largeSwaps.length]).to.deep.equal([2, 0]);
    await store.close();
  });
});

/** The ten largest of each pool and hour: by value, unpriced last, the earlier first. */
async function expectLargest(
  stored: readonly { poolAddress: string; start: number; swaps: unknown }[],
  rows: readonly V2SwapRow[],
) {
  const hours = new Set(rows.map((row) => `${row.poolAddress}:${row.time - (row.time % 3_600)}`));
  expect(stored.map(({ poolAddress, start }) => `${poolAddress}:${start}`)).to.have.members([...hours]);
  for (const { poolAddress, start, swaps } of stored) {
    const own = rows.filter(
      (row) => row.poolAddress === poolAddress && row.time - (row.time % 3_600) === start,
    );
    const value = ({ valueUsd }: V2SwapRow) => valueUsd ?? -1;
    const largest = [...own]
      .sort((a, b) => value(b) - value(a) || a.blockNumber - b.blockNumber)
      .slice(0, 10);
    expect((swaps as { txHash: string }[]).map(({ txHash }) => txHash)).to.deep.equal(
      largest.map(({ txHash }) => txHash),
    );
  }
}
