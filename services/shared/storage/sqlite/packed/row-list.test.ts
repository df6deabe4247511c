import { expect } from "chai";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it } from "mocha";
import { randomRuns } from "../../../testkit/describe.ts";
import { ConflictError, put, requireRow, type Store } from "../../port.ts";
import { NotingPool } from "../../suite/noting-pool.ts";
import { sample, samples } from "../../suite/sample.ts";
import { bytesOf, type Cell } from "../cell.ts";
import { openSqliteStore } from "../store.ts";
import { BLOCK_BYTES, BlockPool } from "./blocks.ts";
import { CellPacker, NOT_HEX } from "./packer.ts";
import { readCells } from "./reader.ts";

describe("PackedRowList", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openSqliteStore({ path: ":memory:" });
    await store.declare([samples]);
  });
  afterEach(() => store.close());

  const failure = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

  it("gives its rows to one write: their memory is used again", async () => {
    const list = store.openRows(samples, "dex");
    list.add(sample(1));
    const taken = list.take();
    await store.write([put(samples, taken)]);
    expect(String(await failure(store.write([put(samples, taken)])))).to.include("memory is used again");
    expect(() => [...taken]).to.throw("memory is used again");
  });

  it("also to one that fails", async () => {
    const list = store.openRows(samples, "dex");
    list.add(sample(1));
    const taken = list.take();
    const absent = requireRow(samples, { chainId: 8453, address: "none" }, {});
    expect(await failure(store.write([put(samples, taken), absent]))).to.be.instanceOf(ConflictError);
    expect(() => [...taken]).to.throw("memory is used again");
    expect(await store.count(samples, {})).to.equal(0);
    list.add(sample(2));
    await store.write([put(samples, list.take())]);
    expect(await store.find(samples, { filter: {} })).to.deep.equal([sample(2)]);
  });

  it("keeps what waits apart from what was taken and is not written yet", async () => {
    const list = store.openRows(samples, "dex");
    list.add(sample(1));
    const first = list.take();
    list.add(sample(2, { symbol: "later" }));
    expect([...first]).to.deep.equal([sample(1)]);
    await store.write([put(samples, first)]);
    expect([...list.take()]).to.deep.equal([sample(2, { symbol: "later" })]);
    for (const symbols of [
      ["long", "s", "short"],
      ["s", "the longest", "long"],
    ]) {
      const rows = symbols.map((symbol, i) => sample(i, { symbol, dex: `dex ${i}` }));
      for (const row of rows.toReversed()) list.add(row);
      expect([...list.take()]).to.deep.equal(rows);
    }
  });

  it("refuses what a field cannot hold, and keeps what it has", () => {
    const list = store.openRows(samples, "dex");
    list.add(sample(1));
    const wrong = { ...sample(2), blockTime: 1.5 };
    expect(() => list.add(wrong)).to.throw(TypeError, "samples.blockTime");
    for (const txHash of ["0xA0", "0xa", "0x", "x", "ab", `0x${"ab".repeat(BLOCK_BYTES)}g0`])
      expect(() => list.add(sample(3, { symbol: "lost", txHash })), txHash.slice(-6)).to.throw(
        TypeError,
        "samples.txHash: it must be 0x and lower-case hex digits in pairs",
      );
    list.add(sample(4));
    expect([...list.take()]).to.deep.equal([sample(1), sample(4)]);
  });

  it("packs rows of any width again and again into the memory of the first ones", () => {
    const pool = new NotingPool();
    for (const width of [2, 3, 2, 1]) {
      const packer = new CellPacker(width, { pool, isHex: [false, true] });
      for (let i = 0; i < 3_000; i++)
        packer.add([`text ${i}`, `0x${i.toString(16).padStart(64, "0")}`, i / 3].slice(0, width));
      const packed = packer.take();
      for (const { longText } of packed.segments) expect(longText).to.equal(undefined);
      packer.giveBack(packed);
    }
    const rowBytes = 8 + 11 + 34 + 9;
    expect(pool.taken.size).to.be.within(2, Math.ceil((3_000 * rowBytes) / BLOCK_BYTES) + 1);
    pool.clear();
    const before = pool.taken.size;
    pool.giveBack(new Uint8Array(new SharedArrayBuffer(BLOCK_BYTES + 1)));
    expect(pool.take(1)).to.have.length(BLOCK_BYTES);
    expect(pool.taken.size).to.equal(before + 1);
  });

  it("gives back what it packed, in any order, however long its cells are", () => {
    const pool = new BlockPool();
    const text = fc.oneof(
      fc.string({ maxLength: 300 }),
      fc.constantFrom(254, 255, 256, 257).map((length) => "y".repeat(length)),
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.nat(90_000).map((length) => "x".repeat(length)),
      fc.nat(90_000).map((length) => "\u20ac".repeat(length)),
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(254, 255, 256, 257).map((length) => new Uint8Array(length).fill(9)),
      fc.nat(90_000).map((length) => new Uint8Array(length).fill(7)),
    );
    const number = fc.oneof(
      fc.constantFrom(0, -0, 255, 256, 65_535, 65_536, 2 ** 31 - 1, 2 ** 31, -1, -(2 ** 31), -(2 ** 31) - 1),
      fc.double({ noNaN: true }),
      fc.maxSafeInteger(),
    );
    const hex = fc.oneof(
      { arbitrary: fc.constantFrom("", "0x0f", "0x00ff", `0x${"ab".repeat(32)}`), weight: 4 },
      fc.constant(`0x${"cd".repeat(70_000)}`),
      fc.constantFrom("0x", "0x0", "0x0F", "ff", `0x${"cd".repeat(70_000)}x0`),
    );
    const row = fc.tuple(
      fc.option(text),
      fc.option(bytes),
      fc.option(number),
      fc.option(hex),
      fc.option(hex),
    );
    fc.assert(
      fc.property(fc.array(row, { maxLength: 60 }), fc.nat(59), (all, by) => {
        const packer = new CellPacker(5, { pool, isHex: [false, false, false, true, true] });
        const isRefused = (cells: readonly Cell[]) =>
          cells.some((cell, i) => i > 2 && typeof cell === "string" && bytesOf(cell) === undefined);
        const rows = all.filter((cells) => !isRefused(cells));
        const added = all.map((cells) => packer.add(cells));
        expect(added.map((place) => place === NOT_HEX)).to.deep.equal(all.map(isRefused));
        const places = added.filter((place) => place !== NOT_HEX);
        expect(packer.count).to.equal(rows.length);
        const expected = rows.map((cells) =>
          cells.map((cell, i) => (i > 2 && typeof cell === "string" ? (bytesOf(cell) as Uint8Array) : cell)),
        );
        const turned = rows.map((_, i) => (i + by) % rows.length);
        const isTurned = by % 2 === 1;
        const taken = packer.take();
        const order = new Uint32Array(turned.map((i) => places[i] as number));
        const parts = [{ ...taken, ...(isTurned && { order }) }];
        // As another thread has it.
        const next = readCells(structuredClone({ width: 5, count: taken.count, parts }));
        for (const i of isTurned ? turned : rows.keys()) {
          const cells: Cell[] = ["kept"];
          next(cells, 1);
          expect(cells).to.deep.equal(["kept", ...(expected[i] as Cell[])]);
        }
        packer.giveBack(taken);
      }),
      { numRuns: randomRuns(200) },
    );
  });

  it("is empty without rows", () => {
    const taken = store.openRows(samples, "dex").take();
    expect([taken.length, [...taken]]).to.deep.equal([0, []]);
  });
});
