import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { ConflictError, put, requireRow, type Store } from "../../port.ts";
import { sample, samples } from "../../suite/sample.ts";
import { openSqliteStore } from "../store.ts";
import { CellPacker } from "./cells.ts";

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
  });

  it("refuses what a field cannot hold, and keeps what it has", () => {
    const list = store.openRows(samples, "dex");
    list.add(sample(1));
    const wrong = { ...sample(2), blockTime: 1.5 };
    expect(() => list.add(wrong)).to.throw(TypeError, "samples.blockTime");
    list.add(sample(4));
    expect([...list.take()]).to.deep.equal([sample(1), sample(4)]);
  });

  it("packs as many rows again and again into the memory of the first ones", () => {
    const packer = new CellPacker(2, [false, true]);
    const lengths = [1, 2, 3].map(() => {
      for (let i = 1_024; i < 4_096; i++) packer.add([`text ${i}`, `0x${i.toString(16).padStart(64, "0")}`]);
      const taken = packer.take();
      packer.giveBack(taken);
      return taken.segments.map(({ text, bytes }) => [text.length, bytes.length]);
    });
    expect(lengths[0]?.[0]?.[1]).to.be.within(33 * 1_024, 2 * 33 * 1_024);
    expect(lengths[1]).to.deep.equal(lengths[0]);
    expect(lengths[2]).to.deep.equal(lengths[0]);
  });

  it("is empty without rows", () => {
    const taken = store.openRows(samples, "dex").take();
    expect([taken.length, [...taken]]).to.deep.equal([0, []]);
  });
});
