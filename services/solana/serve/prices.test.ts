import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { ServiceError } from "../../shared/errors.ts";
import { createPricesClient } from "../../shared/grpc/client.ts";
import { startGrpcServer } from "../../shared/grpc/server.ts";
import type { PriceSource } from "../../shared/grpc/types.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { ANCHORS } from "../price/limits.ts";
import { PriceTracker } from "../price/price-tracker.ts";
import { type CheckpointRow, checkpoints, prices } from "../store/collections.ts";
import { toPriceRow } from "../store/price-row.ts";
import { openTestStore } from "../test/store.ts";
import { createPriceSource } from "./prices.ts";

const USDC = ANCHORS[0] as string;
const mint = (letter: string) => letter.repeat(43);
const [A, B, NONE] = [mint("A"), mint("B"), mint("C")];
const POOL = mint("P");
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
