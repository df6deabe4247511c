import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { put, type Store } from "../../../shared/storage/port.ts";
import { type TokenTransactionRow, tokenRows } from "../../store/collections.ts";
import { buildSegments } from "../../test/build-segments.ts";
import { openTestStore } from "../../test/store.ts";
import { CountCache } from "./count-cache.ts";
import { readPage } from "./paging.ts";
import { SegmentIndex } from "./segment-index.ts";
import { type TokenListFilter, tokenList } from "./token-list.ts";

const ROWS = 100;

/** One row a slot; values 5.00, 5.01 … 5.99 USD, all of one class. */
function rowsOf(mint: string): TokenTransactionRow[] {
  return Array.from({ length: ROWS }, (_, slot) => ({
    ...{
      mint,
      slot,
      transactionIndex: 0,
      instructionIndex: 0,
      signature: `s${slot}`,
      leg: 0,
      time: slot,
      pool: "pool",
    },
    ...{ txType: slot % 2, dex: 0, amount: 1, valueUsd: 5 + slot / 100, priceUsd: null },
  }));
}

describe("counts of segments that value classes cannot decide", () => {
  let store: Store;
  let counted: number;
  beforeEach(async () => {
    store = await openTestStore();
    await store.write([put(tokenRows, [...rowsOf("A"), ...rowsOf("B").slice(0, 50)])]);
    await buildSegments(store, { rows: 10, upTo: 89 });
    counted = 0;
    const { count } = store;
    store.count = (...query) => {
      counted += 1;
      return count.apply(store, query);
    };
  });
  afterEach(() => store.close());

  it("are kept by list and filter, and read once", async () => {
    const memory = { segments: new SegmentIndex(store), counts: new CountCache() };
    const read = async (filter: TokenListFilter, skip: number): Promise<number[]> => {
      const list = tokenList(store, { ...memory, filter });
      const page = await readPage(list, { range: { fromSlot: 0, toSlot: ROWS }, skip, limit: 3 });
      return page.map(({ slot }) => slot);
    };
    const filters: TokenListFilter[] = [
      { mint: "A", minValueUsd: 5.2 },
      { mint: "A", minValueUsd: 5.3 },
      { mint: "A", minValueUsd: 5.2, txTypes: [1] },
      { mint: "A", minValueUsd: 5.2, dex: 0 },
      { mint: "A", minValueUsd: 5.2, dex: 1 },
      { mint: "B", minValueUsd: 5.2 },
    ];
    const all = [...rowsOf("A"), ...rowsOf("B").slice(0, 50)].reverse();
    for (const isAgain of [false, true]) {
      counted = 0;
      for (const filter of filters) {
        const { mint, txTypes, dex, minValueUsd = 0 } = filter;
        const matching = all
          .filter((row) => row.mint === mint && (row.valueUsd ?? 0) >= minValueUsd)
          .filter((row) => (txTypes?.includes(row.txType) ?? true) && (dex === undefined || row.dex === dex))
          .map(({ slot }) => slot);
        for (const skip of [5, 25, 60])
          expect(await read(filter, skip), `${JSON.stringify(filter)} from ${skip}`).to.deep.equal(
            matching.slice(skip, skip + 3),
          );
      }
      // Only what is not counted in any segment: the end of the list, each time.
      if (isAgain) expect(counted).to.equal(filters.length * 3);
      else expect(counted).to.be.above(filters.length * 3);
    }
    expect(memory.counts.size).to.be.within(20, 60);
  });

  it("are dropped filter by filter, least recently requested first", async () => {
    const memory = new CountCache(3);
    const reads: string[] = [];
    const read = (filter: string, firstSlot: number) =>
      memory.get({ filter, firstSlot }, async () => {
        reads.push(`${filter}${firstSlot}`);
        return firstSlot * 2;
      });
    for (const filter of ["a", "a", "b"]) expect(await read(filter, 1)).to.equal(2);
    expect(await read("b", 2)).to.equal(4);
    expect(reads).to.deep.equal(["a1", "b1", "b2"]);
    await read("a", 1);
    await read("c", 1);
    expect(memory.size).to.equal(2);
    await read("a", 1);
    await read("b", 1);
    expect(reads).to.deep.equal(["a1", "b1", "b2", "c1", "b1"]);
  });
});
