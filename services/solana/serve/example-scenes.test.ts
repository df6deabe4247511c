import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { parseQuery } from "../../shared/contract/parse.ts";
import { createLog } from "../../shared/logging/log.ts";
import { ExampleFinder } from "../../shared/service/examples.ts";
import type { Store } from "../../shared/storage/port.ts";
import { put } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { endpoints, tokens, tokenTransactions } from "../contract.ts";
import { WRAPPED_SOL } from "../endpoints/params.ts";
import { createHandlers } from "../handlers.ts";
import { type CheckpointRow, COLLECTIONS, checkpoints } from "../store/collections.ts";
import { tokens as tokenDocuments } from "../store/token-collections.ts";
import { fillStore } from "../test/fill.ts";
import { createDeps } from "./deps.ts";
import { findExampleScenes } from "./example-scenes.ts";

describe("solana: scenes of examples", () => {
  const endTime = 1_700_500_000;
  let store: Store;
  let checkpoint: CheckpointRow;
  before(async () => {
    store = await openSqliteStore({ path: ":memory:" });
    ({ checkpoint } = await fillStore(store, { endTime, blocks: 200 }));
  });
  after(() => store.close());
  const finderOf = (store: Store) =>
    new ExampleFinder({
      endpoints,
      handlers: createHandlers(createDeps(store)),
      findExampleCandidates: findExampleScenes({ store: store }),
      log: createLog({ name: "solana", level: "silent" }),
    });

  it("make an example of every endpoint that returns rows", async () => {
    const found = await finderOf(store).find();
    expect(Object.keys(found)).to.have.members(endpoints.map(({ path }) => path));
    for (const endpoint of endpoints) {
      const query = new URLSearchParams(found[endpoint.path]).toString();
      expect(parseQuery(endpoint, query).ignored, endpoint.path).to.deep.equal([]);
    }
  });

  it("have windows inside the index, around the last trade, in which every filter fits it", async () => {
    const scenes = await findExampleScenes({ store })(tokenTransactions as never);
    expect(scenes[0]?.token_address).to.equal(WRAPPED_SOL);
    for (const { after_time, before_time, min_value_usd = "0" } of scenes) {
      expect(Number(after_time)).to.be.at.least(checkpoint.rowsFromTime);
      expect(Number(before_time))
        .to.be.at.most(checkpoint.time + 1)
        .and.greaterThan(Number(after_time));
      expect(min_value_usd).to.match(/^\d+(\.\d\d)?$/);
    }
  });

  it("search by a symbol only where it is a plain word: anyone can name a token anything", async () => {
    const find = async () => (await findExampleScenes({ store })(tokens as never))[0];
    const known = await store.get(tokenDocuments, { mint: WRAPPED_SOL });
    if (known === undefined) throw new Error("the sample has no wrapped SOL");
    for (const [symbol, filter] of [
      ["SOL", "SOL"],
      ["visit https://evil.example", undefined],
      ['"><script>', undefined],
      ["", undefined],
    ]) {
      await store.write([put(tokenDocuments, [{ ...known, symbol: symbol ?? "" }])]);
      expect((await find())?.filter, symbol).to.equal(filter);
    }
    await store.write([put(tokenDocuments, [known])]);
  });

  it("do not exist before the first block", async () => {
    const empty = await openSqliteStore({ path: ":memory:" });
    await empty.declare(COLLECTIONS);
    expect(await finderOf(empty).find()).to.deep.equal({});
    await empty.write([put(checkpoints, [{ ...checkpoint, slot: checkpoint.fromSlot - 1 }])]);
    expect(await finderOf(empty).find()).to.deep.equal({});
    await empty.close();
  });
});
