import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { put, type Store } from "../../../shared/storage/port.ts";
import { type TraderRow, traders } from "../../store/token-collections.ts";
import { openTestStore } from "../../test/store.ts";
import { DocumentCache, writeChanges } from "./document-cache.ts";

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

  it("are read from the store, and returned with what they were before", async () => {
    const book = new DocumentCache(store, { collection: traders });
    await book.load([key("a"), key("b"), key("new")]);
    expect(book.get(key("a"))).to.deep.equal(trader("a", 1));
    expect(book.get(key("new"))).to.equal(undefined);
    book.set(key("a"), trader("a", 10));
    book.set(key("a"), trader("a", 11));
    book.set(key("new"), trader("new", 12));
    expect(book.get(key("a"))?.lastTime).to.equal(11);
    expect(book.take()).to.deep.equal([
      { key: key("a"), row: trader("a", 11), before: trader("a", 1) },
      { key: key("new"), row: trader("new", 12), before: null },
    ]);
    book.set(key("new"), trader("new", 13));
    const again = book.take();
    expect(again).to.deep.equal([{ key: key("new"), row: trader("new", 13), before: trader("new", 12) }]);
    expect(book.take()).to.deep.equal([]);
  });

  it("are written and removed as they were changed", async () => {
    const book = new DocumentCache(store, { collection: traders });
    await book.load([key("a"), key("b"), key("new"), key("brief")]);
    book.set(key("a"), trader("a", 10));
    book.set(key("b"), null);
    book.set(key("new"), trader("new", 12));
    book.set(key("brief"), trader("brief", 12));
    book.set(key("brief"), null);
    const changes = book.take();
    expect(changes).to.have.length(3);
    await store.write(writeChanges(traders, changes));
    expect(await store.find(traders, {})).to.deep.equal([trader("a", 10), trader("new", 12)]);
  });

  it("must be loaded first: what was not read does not count as absent", async () => {
    const book = new DocumentCache(store, { collection: traders });
    expect(() => book.get(key("a"))).to.throw("traders MINT a was not loaded");
    expect(() => book.set(key("a"), trader("a", 5))).to.throw("traders MINT a was not loaded");
    await book.load([key("a")]);
    book.clear();
    expect(() => book.get(key("a"))).to.throw("was not loaded");
  });

  it("are dropped when there are too many, least recently used first, and read again", async () => {
    const book = new DocumentCache(store, { collection: traders, maxEntries: 2 });
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
