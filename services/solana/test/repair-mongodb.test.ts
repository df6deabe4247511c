import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { MongoClient } from "mongodb";
import { openMongoStore } from "../../shared/storage/mongodb/store.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeWithProcesses } from "../../shared/testkit/describe.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import { COLLECTIONS, priceVerdicts } from "../store/collections.ts";
import { indexInBatches } from "./index-in-batches.ts";
import { MOVES, type Move, RepairMarket, readAllCandles, TOKENS } from "./repair-market.ts";
import { contents } from "./store.ts";
import { TestIndex } from "./test-index.ts";

const url = process.env.MONGODB_URL;
const SETTLED_MINUTES = 10;

describeWithProcesses("Solana: a price taken back over MongoDB", () => {
  if (url === undefined) {
    it("pending: MONGODB_URL is not set, so there is no server to run against", function () {
      this.skip();
    });
    return;
  }
  const database = `chaintables_test_${randomUUID().replaceAll("-", "")}`;
  let store: Store;
  before(async () => {
    store = await openMongoStore({ url, database });
    await store.declare(COLLECTIONS);
  });
  after(async () => {
    await store?.close();
    const client = new MongoClient(url);
    await client.db(database).dropDatabase();
    await client.close();
  });

  it("is taken back as over SQLite, also after a fork in the midst of it", async () => {
    const market = new RepairMarket();
    market.move(MOVES[0] as Move, true);
    const open = market.blocks.length;
    market.calm(SETTLED_MINUTES);
    const { blocks } = market;
    const expected = await indexInBatches(blocks, [60]);
    try {
      const { slot, time } = blocks[0] as TimedBlock;
      const index = await TestIndex.open(store, { slot, time });
      const finalLag = 2 * SETTLED_MINUTES;
      for (let at = 0; at < blocks.length; at += 60)
        await index.apply(blocks.slice(at, at + 60), { finalLag });
      expect(await store.find(priceVerdicts, {})).to.have.length(1);
      await index.fork((blocks[open - 1] as TimedBlock).slot);
      expect(await store.find(priceVerdicts, {})).to.deep.equal([]);
      const next = blocks.findIndex((block) => block.slot > index.checkpoint.slot);
      await index.apply(blocks.slice(next), { finalLag });
      expect(await contents(store)).to.deep.equal(await contents(expected));
      for (const mint of TOKENS) {
        const candles = await readAllCandles(store, { mint, until: market.now });
        expect(candles).to.deep.equal(await readAllCandles(expected, { mint, until: market.now }));
        expect(candles.size).to.be.above(100);
      }
    } finally {
      await expected.close();
    }
  });
});
