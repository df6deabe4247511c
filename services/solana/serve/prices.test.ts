import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { ServiceError } from "../../shared/errors.ts";
import { createPricesClient } from "../../shared/grpc/client.ts";
import { startGrpcServer } from "../../shared/grpc/server.ts";
import type { PriceSource } from "../../shared/grpc/types.ts";
import { handle } from "../../shared/service/handlers.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { endpoint } from "../endpoints/api/v1/solana/prices.endpoint.ts";
import { pricesHandler } from "../endpoints/api/v1/solana/prices.handler.ts";
import { ANCHORS } from "../price/limits.ts";
import { PriceTracker } from "../price/price-tracker.ts";
import { type CheckpointRow, checkpoints, prices } from "../store/collections.ts";
import { toPriceRow } from "../store/price-row.ts";
import { type TokenRow, tokens } from "../store/token-collections.ts";
import { queryEndpoint } from "../test/ask.ts";
import { openTestStore } from "../test/store.ts";
import { createPriceSource } from "./prices.ts";

const USDC = ANCHORS[0] as string;
const mint = (letter: string) => letter.repeat(43);
const [A, B, NONE] = [mint("A"), mint("B"), mint("C")];
const LONE = mint("D");
const POOL = mint("P");
const TOKEN: Omit<TokenRow, "mint" | "symbol" | "number"> = {
  ...{ name: "", decimals: 6, supply: null, mintAuthority: null, freezeAuthority: null, isToken2022: false },
  ...{ extensions: null, mutableMetadata: null, holderCount: 0, held: 0n, balanceCounts: [] },
  ...{ readSlot: null, holdersSlot: null, wholeSlot: null, foundSlot: 1 },
};
const HEAD: CheckpointRow = {
  ...{ chainId: 0, slot: 8, blockhash: "hash", time: 1_010, headSlot: 9, finalizedSlot: 1 },
  ...{ fromSlot: 1, fromTime: 900, rowsFromSlot: 1, rowsFromTime: 900, fromBlockhash: "first" },
  ...{ trades: 0, otherSwaps: 0 },
};

describe("Solana's GetPrices", () => {
  let store: Store;
  let source: PriceSource;
  beforeEach(async () => {
    store = await openTestStore();
    source = createPriceSource(store);
  });
  afterEach(() => store.close());

  /** A is worth 3 USDC, B 2 A; the head is ten seconds after the trades. */
  async function fill() {
    const book = new PriceTracker();
    const trade = { amountOut: 1, isDust: false, slot: 7, time: 1_000 };
    const reserves = (amountIn: number) => ({ amountIn, reserveIn: 1e6 * amountIn, reserveOut: 1e6 });
    book.applyTrade({ ...trade, pool: POOL, tokenIn: USDC, tokenOut: A, ...reserves(3) });
    book.applyTrade({ ...trade, pool: mint("Q"), tokenIn: A, tokenOut: B, ...reserves(2) });
    const rows = [A, B].flatMap((each) => book.entry(each) ?? []).map(toPriceRow);
    await store.write([put(prices, rows), put(checkpoints, [HEAD])]);
  }

  it("returns prices at the head with the pool, parent, depth and age, over a connection, letter case kept", async () => {
    await fill();
    const server = await startGrpcServer({
      ...{ host: "127.0.0.1", port: 0 },
      services: {
        prices: source,
        status: { getStatus: () => Promise.reject(new Error("not requested")) },
        health: () => Promise.resolve(true),
      },
    });
    const client = createPricesClient(server.address);
    try {
      const answer = await client.getPrices({ chainId: 0, tokens: [B, NONE, USDC, A] });
      expect([answer.block, answer.blockTime]).to.deep.equal([8, 1_010]);
      const [b, none, usdc, a] = answer.prices;
      expect(b).to.include({ token: B, usd: 6, hops: 2 });
      expect(b?.origin).to.include({ pool: mint("Q"), parent: A, changedAt: 1_000, departed: false });
      expect(none).to.deep.equal({ token: NONE, usd: null, hops: 0, depthUsd: null });
      expect(usdc).to.deep.equal({ token: USDC, usd: 1, hops: 0, depthUsd: null });
      expect(a).to.include({ token: A, usd: 3, hops: 1 });
      expect(a?.origin).to.include({ pool: POOL, parent: USDC, restUsd: 0 });
      const wrong = await client.getPrices({ chainId: 0, tokens: ["O0"] }).catch((error: unknown) => error);
      expect(wrong).to.include({
        code: "bad_request",
        message: 'Cannot price "O0": it is not a Solana address.',
      });
    } finally {
      client.close();
      await server.stop({ timeoutMs: 100 });
    }
  });

  it("returns the same over HTTP, per multiplied token, and why there is none", async () => {
    await fill();
    const extensions = { scaledAmount: { older: 5, newer: 9, newerTime: 5_000 } };
    const named = [
      { ...TOKEN, mint: A, symbol: "AAA", number: 1, extensions },
      { ...TOKEN, mint: LONE, symbol: "", number: 2 },
    ];
    await store.write([put(tokens, named)]);
    const handlers = Object.fromEntries([handle(endpoint, pricesHandler({ store }))]);
    const query = { tokens: [B, LONE, USDC, A, NONE].join(",") };
    const { rows, version } = await queryEndpoint(handlers, { endpoint, query });
    expect(version?.block).to.equal(8);
    const names = endpoint.columns.map(({ name }) => name);
    const [b, lone, usdc, a, none] = rows.map((row) =>
      Object.fromEntries(names.map((name, i) => [name, row[i]])),
    );
    const at = { slot: 8, blockTime: 1_010, nullReason: null };
    expect(b).to.include({
      token: B,
      symbol: null,
      priceUsd: 6,
      source: "pools",
      sourcePool: mint("Q"),
      ...at,
    });
    expect(b).to.include({ parentToken: A, hops: 2, departed: false, ageSeconds: 10, otherDepthUsd: 0 });
    expect(b?.depthUsd, "a pool that has held nothing yet").to.equal(10_000);
    expect(a).to.include({
      token: A,
      symbol: "AAA",
      priceUsd: 3 / 5,
      sourcePool: POOL,
      parentToken: USDC,
      ...at,
    });
    expect(usdc).to.include({
      priceUsd: 1,
      source: "stablecoin",
      sourcePool: null,
      hops: 0,
      ageSeconds: null,
    });
    const no = { priceUsd: null, source: null, hops: null, depthUsd: null, ageSeconds: null };
    expect(lone).to.include({ ...no, symbol: "", nullReason: "no_path" });
    expect(none).to.include({ ...no, symbol: null, nullReason: "unknown_token" });
  });

  it("has the head's prices alone, and no other chain", async () => {
    const refusal = async (request: Parameters<PriceSource["getPrices"]>[0]): Promise<ServiceError> => {
      const error = await source.getPrices(request).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(ServiceError);
      return error as ServiceError;
    };
    expect((await refusal({ chainId: 0, tokens: [A] })).code, "nothing indexed").to.equal("unavailable");
    await fill();
    expect((await source.getPrices({ chainId: 0, tokens: [A], block: 8 })).prices[0]?.usd).to.equal(3);
    expect(await refusal({ chainId: 0, tokens: [A], block: 7 })).to.include({
      code: "not_found",
      message: "Prices of slot 7 are not kept: Solana has those of its head, slot 8.",
    });
    expect((await refusal({ chainId: 1, tokens: [] })).code).to.equal("not_found");
  });
});
