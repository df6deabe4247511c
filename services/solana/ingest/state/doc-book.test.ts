import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { put, type Store } from "../../../shared/storage/port.ts";
import { type TraderRow, traders } from "../../store/collections.ts";
import { openTestStore } from "../../test/store.ts";
import { DocBook } from "./doc-book.ts";

function trader(account: string, lastTime: number): TraderRow {
  return { mint: "MINT", account, lastTime };
}

describe("documents that blocks change", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
    await store.write([put(traders, [trader("a", 1), trader("b", 2)])]);
  });
  afterEach(() => store.close());

  const key = (account: string) => ({ mint: "MINT", account });

  it("come from the store, and go with what they were before", async () => {
    const book = new DocBook(store, { collection: traders });
    await book.load([key("a"), key("b"), key("new")]);
    expect(book.get(key("a"))).to.deep.equal(trader("a", 1));
    expect(book.get(key("new"))).to.equal(undefined);
    book.set(trader("a", 10));
    book.set(trader("a", 11));
    book.set(trader("new", 12));
    expect(book.get(key("a"))?.lastTime).to.equal(11);
    expect(book.take()).to.deep.equal({
      rows: [trader("a", 11), trader("new", 12)],
      before: [trader("a", 1), null],
    });
    book.set(trader("new", 13));
    expect(book.take()).to.deep.equal({ rows: [trader("new", 13)], before: [trader("new", 12)] });
    expect(book.take()).to.deep.equal({ rows: [], before: [] });
  });

  it("must be loaded first: nothing is taken for absent that was not looked for", async () => {
    const book = new DocBook(store, { collection: traders });
    expect(() => book.get(key("a"))).to.throw("traders MINT a was not loaded");
    expect(() => book.set(trader("a", 5))).to.throw("traders MINT a was not loaded");
    await book.load([key("a")]);
    book.clear();
    expect(() => book.get(key("a"))).to.throw("was not loaded");
  });

  it("are dropped when there are too many, those least lately used first, and read again", async () => {
    const book = new DocBook(store, { collection: traders, maxEntries: 2 });
    await book.load([key("a"), key("b")]);
    await book.load([key("a"), key("new")]);
    book.take();
    expect(() => book.get(key("b"))).to.throw("was not loaded");
    expect(book.get(key("a"))).to.deep.equal(trader("a", 1));
    await store.write([put(traders, [trader("b", 7)])]);
    await book.load([key("b")]);
    expect(book.get(key("b"))?.lastTime).to.equal(7);
  });
});
