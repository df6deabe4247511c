import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { put, removeWhere, type Store } from "../../../shared/storage/port.ts";
import { type SegmentRow, segments } from "../../store/collections.ts";
import { openTestStore } from "../../test/store.ts";
import { SegmentIndex } from "./segment-index.ts";

/** Ten slots each, from slot `10 × number + offset` on. */
function segmentRow(number: number, options: { list?: string; offset?: number } = {}): SegmentRow {
  const { list = "a", offset = 0 } = options;
  const [firstSlot, lastSlot] = [offset + number * 10, offset + number * 10 + 9];
  const counted = { rows: 5, mints: [], counts: [1, 5] };
  return { list, number, firstSlot, firstTime: 0, lastSlot, lastTime: 0, ...counted };
}

function segmentRows(count: number, options: { list?: string; offset?: number } = {}): SegmentRow[] {
  return Array.from({ length: count }, (_, number) => segmentRow(number, options));
}

describe("segments in memory", () => {
  let store: Store;
  let reads: number;
  beforeEach(async () => {
    store = await openTestStore();
    reads = 0;
    for (const name of ["find", "get"] as const) {
      const read = store[name] as (...given: unknown[]) => unknown;
      Object.assign(store, {
        [name]: (...given: unknown[]) => {
          reads += 1;
          return read.apply(store, given);
        },
      });
    }
  });
  afterEach(() => store.close());

  const numbers = async (cache: SegmentIndex, options: { list?: string; toSlot: number; limit?: number }) =>
    (await cache.before(options.list ?? "a", { toSlot: options.toSlot, limit: options.limit ?? 3 })).map(
      ({ number }) => number,
    );

  it("are those that end at or before a slot, the newest first; a newer one is seen at once", async () => {
    const cache = new SegmentIndex(store);
    expect(await numbers(cache, { toSlot: 1_000 })).to.deep.equal([]);
    await store.write([put(segments, segmentRows(20))]);
    expect(await numbers(cache, { toSlot: 1_000 })).to.deep.equal([19, 18, 17]);
    expect(await numbers(cache, { toSlot: 99 })).to.deep.equal([9, 8, 7]);
    expect(await numbers(cache, { toSlot: 98 })).to.deep.equal([8, 7, 6]);
    expect(await numbers(cache, { toSlot: 15 })).to.deep.equal([0]);
    expect(await numbers(cache, { toSlot: 8 })).to.deep.equal([]);
    await store.write([put(segments, [segmentRow(20)])]);
    expect(await numbers(cache, { toSlot: 1_000 })).to.deep.equal([20, 19, 18]);
  });

  it("are read once, and of a long list few of those newer than requested", async () => {
    await store.write([put(segments, segmentRows(5_000))]);
    const cache = new SegmentIndex(store);
    expect(await numbers(cache, { toSlot: 10_009, limit: 64 })).to.have.length(64);
    expect(cache.size).to.be.below(500);
    reads = 0;
    expect((await numbers(cache, { toSlot: 10_009, limit: 64 }))[0]).to.equal(1_000);
    expect(reads).to.be.at.most(2);
  });

  it("end where retention took the rest, and begin anew where it took all", async () => {
    await store.write([put(segments, segmentRows(300))]);
    const cache = new SegmentIndex(store);
    await numbers(cache, { toSlot: 5_000, limit: 400 });
    await store.write([removeWhere(segments, { list: "a", number: { lt: 250 } })]);
    const fresh = new SegmentIndex(store);
    expect((await numbers(fresh, { toSlot: 5_000, limit: 400 })).at(-1)).to.equal(250);
    expect(await numbers(fresh, { toSlot: 2_400, limit: 400 })).to.deep.equal([]);
    await store.write([
      removeWhere(segments, { list: "a", number: { gte: 0 } }),
      put(segments, segmentRows(400, { offset: 9_000 })),
    ]);
    for (const each of [cache, fresh]) {
      expect(await numbers(each, { toSlot: 9_015, limit: 9 })).to.deep.equal([0]);
      expect(await numbers(each, { toSlot: 5_000, limit: 9 })).to.deep.equal([]);
    }
  });

  it("of the least recently requested lists are dropped, and the list's own if it alone is too long", async () => {
    for (const list of ["a", "b", "c"]) await store.write([put(segments, segmentRows(100, { list }))]);
    const cache = new SegmentIndex(store, 250);
    for (const list of ["a", "b", "c"]) await numbers(cache, { list, toSlot: 1_000, limit: 100 });
    expect(cache.size).to.equal(200);
    reads = 0;
    await numbers(cache, { list: "b", toSlot: 1_000, limit: 100 });
    expect(reads).to.equal(1);
    expect(await numbers(cache, { list: "a", toSlot: 1_000, limit: 100 })).to.have.length(100);
    expect(cache.size).to.equal(200);
    const small = new SegmentIndex(store, 30);
    for (let i = 0; i < 3; i++)
      expect(await numbers(small, { toSlot: 1_000, limit: 100 })).to.deep.equal(
        Array.from({ length: 100 }, (_, n) => 99 - n),
      );
    expect(small.size).to.be.at.most(30);
  });
});
