import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Collection } from "../../shared/storage/collection.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import {
  blockTimes,
  type CheckpointRow,
  candles,
  poolRows,
  type SegmentRow,
  segments,
  supplyRows,
  tokenRows,
} from "../store/collections.ts";
import { traders } from "../store/token-collections.ts";
import { openTestStore } from "../test/store.ts";
import { Retention } from "./retention.ts";

const DAY = 86_400;
const START = 1_700_000_000;
/** A slot an hour, for ten days. */
const SLOTS = 240;
const timeOf = (slot: number) => START + slot * 3_600;
const LISTS = ["A", "B", "C"];
/** One list of many rows a slot. */
const HOT = 60;

const place = (slot: number, i: number) => ({
  slot,
  time: timeOf(slot),
  transactionIndex: i,
  instructionIndex: 0,
  signature: `s${slot}`,
  leg: 0,
});

function tokenRow(mint: string, slot: number, i: number) {
  return { ...place(slot, i), mint, txType: 0, dex: 0, pool: "p", amount: 1, valueUsd: null, priceUsd: null };
}

function segment(number: number, slots: { firstSlot: number; lastSlot: number }): SegmentRow {
  const { firstSlot, lastSlot } = slots;
  return {
    ...{ list: "token A", number, firstSlot, lastSlot, rows: 10, mints: [], counts: [] },
    ...{ firstTime: timeOf(firstSlot), lastTime: timeOf(lastSlot) },
  };
}

describe("Retention", () => {
  let store: Store;
  let writes: number;
  let counted: Store;
  let checkpoint: CheckpointRow;

  beforeEach(async () => {
    store = await openTestStore();
    const slots = Array.from({ length: SLOTS }, (_, slot) => slot);
    const token = slots.flatMap((slot) => [
      ...Array.from({ length: HOT }, (_, i) => tokenRow("A", slot, i)),
      tokenRow("B", slot, 0),
      ...(slot < 24 ? [tokenRow("C", slot, 0)] : []),
    ]);
    const pool = slots.flatMap((slot) => ({
      ...place(slot, 0),
      ...{ pool: "p", kind: 0, dex: 0, tokenIn: "A", amountIn: 1, priceInUsd: null, valueUsd: null },
      ...{ tokenOut: "B", amountOut: 1, priceOutUsd: null, account: "x" },
    }));
    const supply = slots.map((slot) => ({
      ...place(slot, 0),
      ...{ mint: "B", isMint: true, accountCount: 3, authority: null, amount: 1n, decimals: 6 },
    }));
    await store.write([
      put(tokenRows, token),
      put(poolRows, pool),
      put(supplyRows, supply),
      put(
        blockTimes,
        slots.map((slot) => ({ time: timeOf(slot), firstSlot: slot })),
      ),
      put(segments, [
        segment(0, { firstSlot: 0, lastSlot: 99 }),
        segment(1, { firstSlot: 100, lastSlot: 180 }),
        segment(2, { firstSlot: 181, lastSlot: 230 }),
      ]),
      put(
        traders,
        LISTS.flatMap((mint) => slots.map((slot) => ({ mint, account: `x${slot}`, lastTime: timeOf(slot) }))),
      ),
      put(candles, [
        {
          ...{ mint: "C", seconds: 60, start: START - (START % 60), open: 1, high: 1, low: 1, close: 1 },
          ...{ volumeUsd: 1, volumeToken: 1, trades: 1, transactions: 1, ifRefused: null },
        },
      ]),
    ]);
    writes = 0;
    counted = new Proxy(store, {
      get(target, name: keyof Store) {
        if (name === "write") writes += 1;
        const value = target[name];
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    checkpoint = {
      ...{
        chainId: 0,
        slot: SLOTS - 1,
        blockhash: "h",
        time: timeOf(SLOTS - 1),
        fromSlot: 0,
        fromTime: START,
      },
      ...{ rowsFromSlot: 0, rowsFromTime: START, headSlot: SLOTS, finalizedSlot: SLOTS, fromBlockhash: "g" },
      ...{ trades: 0, otherSwaps: 0 },
    };
  });
  afterEach(() => store.close());

  const counts = async () =>
    Object.fromEntries(
      await Promise.all(
        [tokenRows, poolRows, supplyRows, blockTimes, traders, candles].map(async (rows) => [
          rows.name,
          await store.count(rows as Collection, {}),
        ]),
      ),
    );

  /** Batches, until a pass must be over. */
  async function turn(retention: Retention, times = 1): Promise<void> {
    for (let i = 0; i < times; i++) {
      checkpoint = { ...checkpoint, ...retention.checkpointFields() };
      await retention.afterBatch({ checkpoint });
    }
  }

  it("first returns what it will remove, then removes it from every list, and leaves the rest", async () => {
    const before = await counts();
    const retention = new Retention({
      store: counted,
      guard: () => [],
      rowSeconds: 5 * DAY,
      budgetMs: Number.POSITIVE_INFINITY,
    });
    await turn(retention);
    expect(await counts()).to.deep.equal(before);
    const from = SLOTS - 1 - 5 * 24;
    expect(retention.checkpointFields()).to.deep.equal({ rowsFromSlot: from, rowsFromTime: timeOf(from) });
    await turn(retention);
    const kept = SLOTS - from;
    expect(await counts()).to.deep.equal({
      [tokenRows.name]: kept * (HOT + 1),
      [poolRows.name]: kept,
      [supplyRows.name]: kept,
      [blockTimes.name]: kept,
      // Those of the last two days.
      [traders.name]: LISTS.length * 49,
      [candles.name]: 1,
    });
    const slots = await store.find(tokenRows, { filter: { mint: "A" }, fields: ["slot"], limit: 1 });
    expect(slots).to.deep.equal([{ slot: from }]);
    // One that ends later is still needed, and so is the last one's number.
    const left = await store.find(segments, { fields: ["number"] });
    expect(left).to.deep.equal([{ number: 1 }, { number: 2 }]);
  });

  it("keeps the number of a list's last segment though all its rows go", async () => {
    checkpoint = { ...checkpoint, time: timeOf(SLOTS + 500) };
    await store.write([put(blockTimes, [{ time: timeOf(SLOTS + 500), firstSlot: SLOTS + 500 }])]);
    const retention = new Retention({
      store,
      guard: () => [],
      rowSeconds: DAY,
      budgetMs: Number.POSITIVE_INFINITY,
    });
    await turn(retention, 2);
    expect(await store.count(tokenRows, {})).to.equal(0);
    expect(await store.find(segments, { fields: ["number"] })).to.deep.equal([{ number: 2 }]);
  });

  it("works in small pieces, none of which is large", async () => {
    const sizes: number[] = [];
    const watched = new Proxy(store, {
      get(target, name: keyof Store) {
        if (name !== "write") {
          const value = target[name];
          return typeof value === "function" ? value.bind(target) : value;
        }
        return async (steps: Parameters<Store["write"]>[0]) => {
          const before = await target.count(tokenRows, {});
          await target.write(steps);
          sizes.push(before - (await target.count(tokenRows, {})));
        };
      },
    });
    const retention = new Retention({ store: watched, guard: () => [], rowSeconds: DAY, budgetMs: 0 });
    let turns = 0;
    while ((await store.count(traders, {})) > LISTS.length * 49 && turns < 200) {
      await turn(retention);
      turns += 1;
    }
    // A whole slot more than intended, at most.
    expect(Math.max(...sizes)).to.be.within(1_000, 2_000 + HOT);
    expect(turns).to.be.within(10, 60);
    expect(await store.count(tokenRows, { slot: { lt: SLOTS - 1 - 24 } })).to.equal(0);
  });

  it("keeps rows for ever if configured so, but no traders of days ago", async () => {
    const retention = new Retention({
      store,
      guard: () => [],
      rowSeconds: 0,
      budgetMs: Number.POSITIVE_INFINITY,
    });
    const { [traders.name]: _, ...before } = await counts();
    await turn(retention, 3);
    const { [traders.name]: left, ...after } = await counts();
    expect(after).to.deep.equal(before);
    expect(left).to.equal(LISTS.length * 49);
    expect(checkpoint.rowsFromSlot).to.equal(0);
  });

  it("begins again when an hour has passed, and not before", async () => {
    const retention = new Retention({
      store: counted,
      guard: () => [],
      rowSeconds: 5 * DAY,
      budgetMs: Number.POSITIVE_INFINITY,
    });
    await turn(retention, 2);
    writes = 0;
    checkpoint = { ...checkpoint, time: checkpoint.time + 3_599 };
    await turn(retention, 3);
    expect(writes).to.equal(0);
    checkpoint = { ...checkpoint, time: checkpoint.time + 1 };
    await turn(retention, 2);
    expect(writes).to.be.greaterThan(0);
    expect(checkpoint.rowsFromSlot).to.equal(SLOTS - 5 * 24);
  });
});
