import { expect } from "chai";
import { it } from "mocha";
import type { Endpoint } from "../../shared/contract/endpoint.ts";
import { ServiceError } from "../../shared/errors.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { poolTransactions, tokenTransactions } from "../contract.ts";
import { createHandlers } from "../handlers.ts";
import { Indexer } from "../ingest/indexer.ts";
import { createDeps } from "../serve/deps.ts";
import { EXCHANGES } from "../store/collections.ts";
import { type KeptRows, keepsPoolRow, keepsTokenRow, readKeptRows } from "../store/kept-rows.ts";
import { type Query, queryEndpoint } from "./ask.ts";
import { fillStore, sampleBlocks } from "./fill.ts";
import { FIRST_TIME, MEME, POOLS, USDC } from "./random-chain.ts";
import { openTestStore } from "./store.ts";

const BLOCKS = sampleBlocks({ endTime: FIRST_TIME + 7_200, blocks: 60 });
const [first, second] = POOLS.map(({ address }) => address) as [string, string];

describeWithChain("rows of Solana that an installation keeps", () => {
  async function index(kept: KeptRows) {
    const store = await openTestStore();
    const indexer = new Indexer(store, undefined, kept);
    const batch = await indexer.apply(BLOCKS);
    await store.close();
    return batch;
  }

  it("are those of its tokens, pools and exchanges, while candles and prices know all", async () => {
    const all = await index({});
    const settings: Record<string, string>[] = [
      { SOLANA_TOKENS: MEME },
      { SOLANA_POOLS: first },
      { SOLANA_TOKENS: MEME, SOLANA_POOLS: first, SOLANA_EXCHANGES: "raydium,meteora" },
      { SOLANA_EXCHANGES: "orca" },
    ];
    for (const env of settings) {
      const kept = readKeptRows(env);
      const some = await index(kept);
      expect(some.tokenRows).to.deep.equal(all.tokenRows.filter((row) => keepsTokenRow(kept, row)));
      expect(some.poolRows).to.deep.equal(all.poolRows.filter((row) => keepsPoolRow(kept, row)));
      expect(some.poolRows.length).to.be.greaterThan(0).and.lessThan(all.poolRows.length);
      expect(some.changes.documents).to.deep.equal(all.changes.documents);
    }
    const ofToken = await index(readKeptRows({ SOLANA_TOKENS: MEME }));
    expect(new Set(ofToken.tokenRows.map(({ mint }) => mint))).to.deep.equal(new Set([MEME]));
    const ofOrca = await index(readKeptRows({ SOLANA_EXCHANGES: "orca" }));
    expect(new Set(ofOrca.poolRows.map(({ dex }) => EXCHANGES[dex]))).to.deep.equal(new Set(["orca"]));
  });

  it("are 404 where a list is not kept, never an empty table", async () => {
    const store = await openTestStore();
    await fillStore(store, { endTime: FIRST_TIME + 7_200, blocks: 30 });
    const statusOf = (env: Record<string, string>, request: { endpoint: Endpoint; query: Query }) =>
      queryEndpoint(createHandlers(createDeps(store, { kept: readKeptRows(env) })), request).then(
        () => 200,
        (error: unknown) => (error instanceof ServiceError ? error.status : error),
      );
    const ofToken = (token_address: string, more: Query = {}) => ({
      endpoint: tokenTransactions,
      query: { token_address, days: 1, ...more },
    });
    const ofPool = (pool_address: string) => ({
      endpoint: poolTransactions,
      query: { pool_address, days: 1 },
    });
    expect(await statusOf({ SOLANA_POOLS: first }, ofPool(first))).to.equal(200);
    expect(await statusOf({ SOLANA_POOLS: first }, ofPool(second))).to.equal(404);
    expect(await statusOf({ SOLANA_POOLS: first }, ofToken(USDC))).to.equal(404);
    expect(await statusOf({ SOLANA_POOLS: first }, ofToken(USDC, { pool_address: first }))).to.equal(200);
    const meme = { SOLANA_TOKENS: MEME, SOLANA_EXCHANGES: "orca" };
    expect(await statusOf(meme, ofToken(MEME))).to.equal(200);
    expect(await statusOf(meme, ofToken(USDC))).to.equal(404);
    expect(await statusOf(meme, ofToken(MEME, { dex: "raydium" }))).to.equal(404);
    expect(await statusOf(meme, ofPool(USDC))).to.equal(404);
    await store.close();
  });
});
