import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it } from "mocha";
import { collectGarbage } from "../../../testkit/collect-garbage.ts";
import { randomRuns } from "../../../testkit/describe.ts";
import { collection, type RowOf } from "../../collection.ts";
import { compileCollection } from "../../declaration.ts";
import { put, type Store } from "../../port.ts";
import { compareTexts } from "../../row-list.ts";
import { NotingPool } from "../../suite/noting-pool.ts";
import { entryOf, ROWS_A_CALL } from "../rows.ts";
import { openSqliteStore } from "../store.ts";
import { BLOCK_BYTES, BlockPool } from "./blocks.ts";
import { leave, lend, noteRow } from "./read-memory.ts";
import { PackedRowList } from "./row-list.ts";
import { readBlock, SpillFile } from "./spill-file.ts";

const trades = collection({
  name: "trades",
  fields: { pool: "hex", number: "int", hash: "hex", tick: "int?", note: "text?" },
  key: ["pool", "number"],
  indexes: [],
  shardKey: ["pool"],
});
type Trade = RowOf<typeof trades>;
const entry = entryOf(compileCollection(trades));

function trade(i: number, changes: Partial<Trade> = {}): Trade {
  // Consecutive ones begin with other digits.
  const pool = `0x${((i * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, "0")}`;
  const hash = `0x${(i >> 3).toString(16).padStart(64, "0")}`;
  return { pool, number: i, hash, tick: null, note: null, ...changes };
}

function inOrder(rows: readonly Trade[]): Trade[] {
  return [...rows].sort((a, b) => compareTexts(a.pool, b.pool));
}

describe("SpillFile", () => {
  let folder: string;
  let file: SpillFile;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "chaintables-spill-"));
    file = new SpillFile(join(folder, "rows"));
  });
  afterEach(async () => {
    file.close();
    await rm(folder, { recursive: true });
  });

  const block = (byte: number) => new Uint8Array(new SharedArrayBuffer(BLOCK_BYTES)).fill(byte);
  const read = (place: number, bytes: number) => {
    const into = new Uint8Array(bytes);
    readBlock(file.descriptor as number, { place, into });
    return into;
  };

  it("has no name, and uses the room of what was given back again", async () => {
    expect(file.descriptor).to.equal(undefined);
    expect([file.write(block(1), BLOCK_BYTES), file.write(block(2), 3)]).to.deep.equal([0, 1]);
    expect(await readdir(folder)).to.deep.equal([]);
    expect([read(0, BLOCK_BYTES), read(1, 3)]).to.deep.equal([block(1), block(2).slice(0, 3)]);
    file.giveBack(0);
    expect(file.write(block(3), 5)).to.equal(0);
    expect(read(0, 5)).to.deep.equal(block(3).slice(0, 5));
    expect(file.write(block(4), 1)).to.equal(2);
    expect(() => read(2, 2)).to.throw("shorter than it was written");
  });

  it("ends once nobody uses it, and begins anew", () => {
    file.write(block(1), 1);
    file.clear();
    expect(read(0, 1)).to.deep.equal(new Uint8Array([1]));
    file.giveBack(0);
    file.clear();
    expect(file.descriptor).to.equal(undefined);
    expect(file.write(block(2), 1)).to.equal(0);
    expect(read(0, 1)).to.deep.equal(new Uint8Array([2]));
  });

  it("takes nothing where it cannot be written, and a list then keeps its rows in memory", () => {
    const absent = new SpillFile(join(folder, "absent", "rows"));
    expect(absent.write(block(1), 1)).to.equal(undefined);
    expect(absent.write(block(1), 1)).to.equal(undefined);
    const list = new PackedRowList<Trade>(entry, {
      ...{ orderedBy: "pool", blocksInMemory: 0, pool: new BlockPool(), file: absent },
    });
    const rows = Array.from({ length: 2_000 }, (_, i) => trade(i, { note: "n".repeat(400) }));
    for (const row of rows) list.add(row);
    expect([...list.take()]).to.deep.equal(inOrder(rows));
  });

  it("has rows of a list beyond its first blocks, which come in order with these", () => {
    const pool = new BlockPool();
    fc.assert(
      fc.property(
        fc.nat(2),
        fc.array(fc.record({ length: fc.nat(1_500), first: fc.nat(20_000), note: fc.nat(600) }), {
          maxLength: 3,
        }),
        (blocksInMemory, takes) => {
          const list = new PackedRowList<Trade>(entry, { orderedBy: "pool", blocksInMemory, pool, file });
          for (const { length, first, note } of takes) {
            const rows = Array.from({ length }, (_, i) =>
              // Some pools have several, and one note is longer than a block.
              trade((first + i) % 500, {
                number: first + i,
                note: i === 700 ? "x".repeat(2 * BLOCK_BYTES) : i % 5 === 0 ? null : "\u20ac".repeat(note),
              }),
            );
            for (const row of rows) list.add(row);
            expect(list.length).to.equal(length);
            const taken = list.take();
            expect(taken.length).to.equal(length);
            expect([...taken]).to.deep.equal(inOrder(rows));
            taken.release();
          }
          // All was given back.
          file.clear();
          expect(file.descriptor).to.equal(undefined);
        },
      ),
      { numRuns: randomRuns(60, 10) },
    );
  });

  it("has rows in the order that they came in, and what is told of them later", () => {
    const pool = new NotingPool();
    const used: number[] = [];
    const expectRows = (list: PackedRowList<Trade, "tick" | "note">, orderOf: (rows: Trade[]) => Trade[]) => {
      for (const length of [2_500, 0, 900]) {
        const rows = Array.from({ length }, (_, i) => trade((i * 7) % 300, { number: i, tick: i }));
        for (const row of rows) list.add(row);
        const taken = list.take();
        const told = rows.map((row, i) => ({ ...row, tick: 2 * i, note: "t".repeat(i % 40) }));
        for (const [i, { tick, note }] of told.entries()) taken.tell(i, { tick, note });
        expect([...taken]).to.deep.equal(orderOf(told));
        taken.release();
        if (length > 0) used.push(pool.taken.size);
      }
      file.clear();
      expect(file.descriptor, "all was given back").to.equal(undefined);
    };
    for (const blocksInMemory of [0, 1, 2]) {
      const options = { later: ["tick", "note"] as const, blocksInMemory, pool, file };
      expectRows(new PackedRowList(entry, { orderedBy: null, ...options }), (rows) => rows);
      expectRows(new PackedRowList(entry, { orderedBy: "pool", ...options }), inOrder);
    }
    // Those of the first lists are used again: later ones have two blocks more in memory.
    expect(used.at(-1)).to.be.at.most((used[2] as number) + 2);
  });

  it("has all blocks of rows in order but the first ones", () => {
    for (const blocksInMemory of [0, 1, 2]) {
      const pool = new BlockPool();
      const list = new PackedRowList<Trade>(entry, { orderedBy: null, blocksInMemory, pool, file });
      for (let i = 0; i < 5_000; i++) list.add(trade(i));
      const taken = list.take();
      const blocks = taken.cells.parts.flatMap(({ segments }) => segments.map(({ block }) => typeof block));
      expect(blocks).to.have.lengthOf.above(2);
      expect(blocks.lastIndexOf("object")).to.equal(blocksInMemory - 1);
      taken.release();
    }
  });

  it("refuses fields that cannot be told later", () => {
    const open = (later: readonly (keyof Trade)[]) => () =>
      new PackedRowList<Trade, keyof Trade>(entry, { orderedBy: null, later, pool: new BlockPool() });
    for (const later of [["note"], ["tick", "hash"], ["hash", "tick"], ["number"]] as const)
      expect(open(later)).to.throw(`${later.join(", ")} of trades cannot be told later`);
    expect(open(["tick", "note"])).not.to.throw();
  });

  it("leaves a list little memory, however many rows wait", () => {
    const pool = new NotingPool();
    const list = new PackedRowList<Trade>(entry, { orderedBy: "pool", blocksInMemory: 3, pool, file });
    for (let i = 0; i < 20_000; i++) list.add(trade(i, { note: "n".repeat(200) }));
    // The first ones, and an open one of each part.
    expect(pool.taken.size).to.be.at.most(3 + 16 + 1);
    const rows = list.take();
    expect([...rows]).to.have.length(20_000);
    rows.release();
  });

  it("has the room again of a list that was dropped with its rows, taken or not", async () => {
    const fill = (isTaken: boolean) => {
      const list = new PackedRowList<Trade>(entry, {
        ...{ orderedBy: "pool", blocksInMemory: 0, pool: new BlockPool(), file },
      });
      for (let i = 0; i < 5_000; i++) list.add(trade(i, { note: "n".repeat(200) }));
      return isTaken ? list.take() : list;
    };
    for (const isTaken of [false, true]) {
      expect(fill(isTaken)).to.have.length(5_000);
      expect(file.descriptor).to.be.a("number");
      for (let tries = 0; tries < 100 && file.descriptor !== undefined; tries++) {
        collectGarbage();
        // Finalizers run after a turn.
        await nextTurn();
        file.clear();
      }
      expect(file.descriptor).to.equal(undefined);
    }
  });

  it("is read into the same memory again and again", () => {
    const list = new PackedRowList<Trade>(entry, {
      ...{ orderedBy: "pool", blocksInMemory: 0, pool: new BlockPool(), file },
    });
    for (let i = 0; i < 2_000; i++) list.add(trade(i, { pool: "0x77", note: "n".repeat(200) }));
    const rows = list.take();
    const blocks = rows.cells.parts.flatMap(({ segments }) =>
      segments.filter(({ block }) => typeof block === "number"),
    );
    expect(blocks.length).to.be.greaterThan(5);
    /** After which no call holds the rows that were read before. */
    const readOthers = () => {
      for (let i = 0; i < ROWS_A_CALL; i++) noteRow();
    };
    const lendAll = () => {
      readOthers();
      const lent = blocks.map(() => lend());
      leave(lent);
      readOthers();
      return new Set(lent);
    };
    const before = lendAll();
    expect([...rows]).to.have.length(2_000);
    for (const block of lendAll()) expect(before.has(block)).to.equal(true);
    rows.release();
  });

  it("refuses what is no hex as in memory", () => {
    const list = new PackedRowList<Trade>(entry, {
      ...{ orderedBy: "pool", blocksInMemory: 0, pool: new BlockPool(), file },
    });
    for (const pool of ["", "0x00", "0xf0"]) list.add(trade(1, { pool }));
    for (const pool of ["0x", "0xF0", "0xzz", "pool"])
      expect(() => list.add(trade(1, { pool }))).to.throw(TypeError, "trades.pool");
    expect([...list.take()].map(({ pool }) => pool)).to.deep.equal(["", "0x00", "0xf0"]);
  });

  it("is used by a store's lists, and read by its own writes and by the thread that writes", async () => {
    const path = join(folder, "test.sqlite");
    const store: Store = await openSqliteStore({ path });
    try {
      await store.declare([trades]);
      const list = store.openRows(trades, "pool");
      const count = 60_000;
      const add = (note: string) => {
        for (let i = 0; i < count; i++) list.add(trade(i, { note: note.repeat(50) }));
      };
      for (const note of ["first", "second"]) {
        add(note);
        const bulk = note === "second" ? store.openBulkWriter?.(() => {}) : undefined;
        await (bulk ?? store).write([put(trades, list.take())]);
        await bulk?.close();
        expect(await store.count(trades, {})).to.equal(count);
        for (const i of [0, 1, count - 1])
          expect(await store.get(trades, { pool: trade(i).pool, number: i })).to.deep.equal(
            trade(i, { note: note.repeat(50) }),
          );
      }
      expect((await readdir(folder)).filter((name) => !name.startsWith("test.sqlite"))).to.deep.equal([]);
    } finally {
      await store.close();
    }
  });

  it("keeps the bytes of rows that one call writes, though each block has few of them", async () => {
    const store: Store = await openSqliteStore({ path: join(folder, "test.sqlite") });
    try {
      await store.declare([trades]);
      const list = store.openRows(trades, null, ["tick"]);
      // Some 20 a block: a call has rows of three.
      const rows = Array.from({ length: 900 }, (_, i) =>
        trade(i, { hash: `0x${i.toString(16).padStart(64, "0")}`, tick: i, note: "n".repeat(3_000) }),
      );
      for (const row of rows) list.add(row);
      const taken = list.take();
      for (let i = 0; i < rows.length; i++) taken.tell(i, { tick: -i });
      await store.write([put(trades, taken)]);
      const stored = await store.find(trades, {});
      const told = rows.map((row, i) => ({ ...row, tick: 0 - i }));
      expect(stored).to.deep.equal(told.sort((a, b) => compareTexts(a.pool, b.pool) || a.number - b.number));
    } finally {
      await store.close();
    }
  });
});
