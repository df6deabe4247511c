import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { ServiceError } from "../../shared/errors.ts";
import type { PriceSource } from "../../shared/rpc/types.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { loadDeployments } from "../deployments.ts";
import { checkpoints, tokenPrices } from "../store/collections.ts";
import { address, CHAIN_ID, checkpointRow, openTestStore } from "../test/rows.ts";
import { createPriceSource } from "./prices.ts";

const USDC = address(1);
const WETH = address(2);
const NONE = address(3);

describe("createPriceSource", () => {
  let store: Store;
  let prices: PriceSource;
  beforeEach(async () => {
    store = await openTestStore();
    prices = createPriceSource({ store, chains: loadDeployments(undefined) });
  });
  afterEach(() => store.close());

  const fill = () =>
    store.write([
      put(tokenPrices, [
        { chainId: CHAIN_ID, token: USDC, usd: 1, hops: 0, depthUsd: Number.MAX_VALUE, viaPool: "" },
        { chainId: CHAIN_ID, token: WETH, usd: 3_000.5, hops: 2, depthUsd: 123_456, viaPool: address(0x900) },
        { chainId: 1, token: NONE, usd: 9, hops: 1, depthUsd: 10_000, viaPool: address(0x901) },
      ]),
      put(checkpoints, [checkpointRow({ blockNumber: 200, blockTime: 1_700_000_400 })]),
    ]);
  const refusal = async (request: Parameters<PriceSource["getPrices"]>[0]): Promise<ServiceError> => {
    const error = await prices.getPrices(request).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(ServiceError);
    return error as ServiceError;
  };

  it("answers every token in the order asked, null where there is no price on this chain", async () => {
    await fill();
    expect(await prices.getPrices({ chainId: CHAIN_ID, tokens: [WETH, NONE, USDC, WETH] })).to.deep.equal({
      block: 200,
      blockTime: 1_700_000_400,
      prices: [
        { token: WETH, usd: 3_000.5, hops: 2, depthUsd: 123_456 },
        { token: NONE, usd: null, hops: 0, depthUsd: null },
        { token: USDC, usd: 1, hops: 0, depthUsd: null },
        { token: WETH, usd: 3_000.5, hops: 2, depthUsd: 123_456 },
      ],
    });
    expect((await prices.getPrices({ chainId: CHAIN_ID, tokens: [] })).prices).to.deep.equal([]);
  });

  it("answers the indexed block by its number, and has none of another", async () => {
    await fill();
    expect((await prices.getPrices({ chainId: CHAIN_ID, tokens: [WETH], block: 200 })).block).to.equal(200);
    for (const block of [199, 201, 0]) {
      const error = await refusal({ chainId: CHAIN_ID, tokens: [WETH], block });
      expect(error.code).to.equal("not_found");
      expect(error.message).to.contain("200").and.contain(`${block}`);
    }
  });

  it("has no chain that is not deployed on", async () => {
    await fill();
    const error = await refusal({ chainId: 10, tokens: [WETH] });
    expect(error.code).to.equal("not_found");
    expect(error.message).to.contain("10");
  });

  it("is unavailable while the chain has no indexed block", async () => {
    await fill();
    expect(await refusal({ chainId: 1, tokens: [WETH] })).to.include({
      code: "unavailable",
      retryAfterSeconds: 5,
    });
    await store.write([put(checkpoints, [checkpointRow({ chainId: 1, blockNumber: 99, fromBlock: 100 })])]);
    expect(await refusal({ chainId: 1, tokens: [WETH] })).to.include({ code: "unavailable" });
  });
});
