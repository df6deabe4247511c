import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { MongoClient } from "mongodb";
import { INTERVALS } from "../../shared/contract/candle-params.ts";
import type { Endpoint } from "../../shared/contract/endpoint.ts";
import type { HandlerTable } from "../../shared/service/handlers.ts";
import { openMongoStore } from "../../shared/storage/mongodb/store.ts";
import type { Store } from "../../shared/storage/port.ts";
import { viewOnly } from "../../shared/storage/testkit/view-only.ts";
import { describeWithProcesses } from "../../shared/testkit/describe.ts";
import {
  ohlcvToken,
  poolTransactions,
  tokenHolders,
  tokenMintBurnTransactions,
  tokenSecurity,
  tokens,
  tokenTransactions,
} from "../contract.ts";
import { createHandlers } from "../handlers.ts";
import { createDeps } from "../serve/deps.ts";
import { segments } from "../store/collections.ts";
import { type Query, queryEndpoint } from "./ask.ts";
import { fillStore } from "./fill.ts";
import { FIRST_TIME, MEME, MINTS, POOLS, RARE } from "./random-chain.ts";
import { openTestStore } from "./store.ts";

const SAMPLE = { endTime: FIRST_TIME + 7_200, blocks: 60 };
const WITHIN = { after_time: FIRST_TIME - 86_400, before_time: FIRST_TIME + 86_400 };
const EDGES = [
  { days: 1 },
  { days: 1, after_time: FIRST_TIME + 3_600 },
  { days: 1, before_time: FIRST_TIME + 6_000 },
];
const pool_address = POOLS[0]?.address;

const QUESTIONS: readonly [Endpoint, Query[]][] = [
  [
    tokenTransactions,
    MINTS.flatMap((token_address) =>
      [
        ...EDGES,
        { days: 1, offset: 40, limit: 7 },
        { days: 1, tx_type: "buy", dex: "raydium" },
        { days: 1, pool_address, min_value_usd: 0.5, offset: 3 },
        { days: 1, min_value_usd: 7.7, offset: 20 },
      ].map((more) => ({ token_address, ...more })),
    ),
  ],
  [poolTransactions, [0, 30].map((offset) => ({ pool_address, days: 1, offset, limit: 25 }))],
  [tokens, [{}, { filter: "eM" }, { filter: "eme co" }, { filter: "nothing" }]],
  [tokenHolders, [MEME, RARE].map((token_address) => ({ token_address, limit: 5, offset: 1 }))],
  [ohlcvToken, INTERVALS.map((interval) => ({ token_address: MINTS[1], interval, ...range(interval) }))],
  [
    tokenMintBurnTransactions,
    [
      {},
      { order_asc: "authority,amount" },
      { order_desc: "amountUI" },
      { order_desc: ",accountCount", order_asc: "operationType" },
    ].map((more) => ({ token_address: MEME, ...WITHIN, ...more })),
  ],
  [tokenSecurity, [MEME, RARE].map((token_address) => ({ token_address }))],
];

/** Not more candles than one answer may have. */
function range(interval: (typeof INTERVALS)[number]) {
  return interval === "1m" ? { after_time: FIRST_TIME - 7_200, before_time: FIRST_TIME + 7_200 } : WITHIN;
}

/** Segments are of final slots, and the service keeps them in memory. */
describeWithProcesses("solana's answers from snapshots", () => {
  const handlers: HandlerTable[] = [];
  let store: Store;
  before(async () => {
    store = await openTestStore();
    await fillStore(store, SAMPLE);
    for (const each of [store, viewOnly(store, [segments])]) handlers.push(createHandlers(createDeps(each)));
  });
  after(() => store.close());

  for (const [endpoint, queries] of QUESTIONS) {
    it(`${endpoint.path}: reads nothing past its snapshot`, async () => {
      for (const query of queries) {
        const [plain, fromView] = [handlers[0] as HandlerTable, handlers[1] as HandlerTable];
        const found = await queryEndpoint(fromView, { endpoint, query });
        expect(found).to.deep.equal(await queryEndpoint(plain, { endpoint, query }));
      }
    });
  }
});

const url = process.env.MONGODB_URL;

describeWithProcesses("solana's answers over MongoDB", () => {
  if (url === undefined) {
    it("pending: MONGODB_URL is not set, so there is no server to run against", function () {
      this.skip();
    });
    return;
  }
  const database = `chaintables_test_${randomUUID().replaceAll("-", "")}`;
  const stores: Store[] = [];
  const handlers: HandlerTable[] = [];
  before(async () => {
    stores.push(await openTestStore(), await openMongoStore({ url, database }));
    for (const store of stores) {
      await fillStore(store, SAMPLE);
      handlers.push(createHandlers(createDeps(store)));
    }
  });
  after(async () => {
    for (const store of stores) await store.close();
    const client = new MongoClient(url);
    await client.db(database).dropDatabase();
    await client.close();
  });

  for (const [endpoint, queries] of QUESTIONS) {
    it(`${endpoint.path}: those over SQLite`, async () => {
      let rows = 0;
      for (const query of queries) {
        const [one, other] = await Promise.all(
          handlers.map((each) => queryEndpoint(each, { endpoint, query })),
        );
        expect(other, JSON.stringify(query)).to.deep.equal(one);
        rows += one?.rows.length ?? 0;
      }
      expect(rows).to.be.above(0);
    });
  }
});
