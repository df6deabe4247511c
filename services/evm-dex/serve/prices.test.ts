import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { ServiceError } from "../../shared/errors.ts";
import type { PriceSource } from "../../shared/grpc/types.ts";
import { headers } from "../../shared/index/evm/headers.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { loadDeployments } from "../deployments.ts";
import { checkpoints, poolEvents, priceLinks } from "../store/collections.ts";
import { retentions } from "../store/retention.ts";
import { address, CHAIN_ID, checkpointRow, eventRow, hash, openTestStore } from "../test/kit/rows.ts";
import { writeLinks } from "../test/prices/write-links.ts";
import { createPriceSource } from "./prices.ts";

const USDC = address(1);
const WETH = address(2);
const NONE = address(3);
const MEME = address(4);

describe("createPriceSource", () => {
  let store: Store;
  let prices: PriceSource;
  beforeEach(async () => {
    store = await openTestStore();
    prices = createPriceSource({ store, chains: loadDeployments(undefined) });
  });
  afterEach(() => store.close());

  /** WETH at 3,000 and then 3,100, MEME at a thousandth of it until block 150. */
  const fill = async () => {
    await writeLinks(store, {
      anchors: [USDC],
      links: [
        { blockNumber: 110, token: WETH, parent: USDC, price: 3_000, depth: 5e6 },
        { blockNumber: 110, token: MEME, parent: WETH, price: 0.001, depth: 62_000 },
        { blockNumber: 140, token: WETH, parent: USDC, price: 3_100, depth: 5e6 },
        { blockNumber: 150, token: MEME },
      ],
    });
    await writeLinks(store, {
      chainId: 1,
      anchors: [],
      links: [{ blockNumber: 100, token: NONE, parent: USDC, price: 9, depth: 1e6 }],
    });
    await store.write([put(checkpoints, [checkpointRow({ blockNumber: 200, blockTime: 1_700_000_400 })])]);
  };
  const refusal = async (request: Parameters<PriceSource["getPrices"]>[0]): Promise<ServiceError> => {
    const error = await prices.getPrices(request).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(ServiceError);
    return error as ServiceError;
  };

  it("returns every token in the order of the request, null where there is no price on this chain", async () => {
    await fill();
    const origin = { pool: address(0x900), parent: USDC, restUsd: 5e6, changedAt: 140, departed: false };
    expect(
      await prices.getPrices({ chainId: CHAIN_ID, tokens: [WETH, NONE, USDC, WETH, MEME] }),
    ).to.deep.equal({
      block: 200,
      blockTime: 1_700_000_400,
      prices: [
        { token: WETH, usd: 3_100, hops: 1, depthUsd: 5e6, origin },
        { token: NONE, usd: null, hops: 0, depthUsd: null },
        { token: USDC, usd: 1, hops: 0, depthUsd: null },
        { token: WETH, usd: 3_100, hops: 1, depthUsd: 5e6, origin },
        { token: MEME, usd: null, hops: 0, depthUsd: null },
      ],
    });
    expect((await prices.getPrices({ chainId: CHAIN_ID, tokens: [] })).prices).to.deep.equal([]);
  });

  it("returns prices of any indexed block as they were then", async () => {
    await fill();
    const usdAt = async (block: number) =>
      (await prices.getPrices({ chainId: CHAIN_ID, tokens: [USDC, WETH, MEME], block })).prices.map(
        ({ usd }) => usd,
      );
    expect(await usdAt(100)).to.deep.equal([1, null, null]);
    expect(await usdAt(109)).to.deep.equal([1, null, null]);
    expect(await usdAt(110)).to.deep.equal([1, 3_000, 3]);
    expect(await usdAt(139)).to.deep.equal([1, 3_000, 3]);
    expect(await usdAt(140)).to.deep.equal([1, 3_100, 3.1]);
    expect(await usdAt(150)).to.deep.equal([1, 3_100, null]);
    expect(await usdAt(200)).to.deep.equal([1, 3_100, null]);
    const at = await prices.getPrices({ chainId: CHAIN_ID, tokens: [MEME], block: 145 });
    const from = { pool: address(0x900), parent: WETH, restUsd: 62_000, changedAt: 140, departed: false };
    expect(at.prices).to.deep.equal([{ token: MEME, usd: 3.1, hops: 2, depthUsd: 62_000, origin: from }]);
  });

  it("returns a block's own time where its header is kept, else the time of the last block with events or another price", async () => {
    await fill();
    const timeOf = async (block: number) =>
      (await prices.getPrices({ chainId: CHAIN_ID, tokens: [], block })).blockTime;
    expect(await timeOf(109), "no event yet: where the index begins").to.equal(1_700_000_000);
    expect(await timeOf(120), "of a price that changed in block 110").to.equal(110);
    await store.write([
      put(poolEvents, [eventRow({ blockNumber: 130, time: 1_700_000_060 })]),
      put(headers, [
        { chainId: CHAIN_ID, number: 190, hash: hash(190), parentHash: hash(189), time: 1_700_000_377 },
      ]),
    ]);
    expect(await timeOf(129)).to.equal(110);
    expect(await timeOf(130)).to.equal(1_700_000_060);
    expect(await timeOf(131)).to.equal(1_700_000_060);
    expect(await timeOf(190)).to.equal(1_700_000_377);
    expect(await timeOf(200)).to.equal(1_700_000_400);
  });

  it("refuses blocks before the index and beyond its head", async () => {
    await fill();
    for (const block of [0, 99, 201, 5_000]) {
      const error = await refusal({ chainId: CHAIN_ID, tokens: [WETH], block });
      expect(error.code).to.equal("not_found");
      expect(error.message).to.equal(`Block ${block} of chain 8453 is not indexed: blocks 100 to 200 are.`);
    }
  });

  it("refuses blocks whose price changes are no longer kept", async () => {
    await fill();
    const times = { time: 1_700_000_100, goneTime: 0, goneBlock: 0 };
    const kept = { chainId: CHAIN_ID, rows: priceLinks.name, blockNumber: 140, fromBlock: 100, ...times };
    await store.write([put(retentions, [kept])]);
    const error = await refusal({ chainId: CHAIN_ID, tokens: [WETH], block: 139 });
    expect(error.code).to.equal("not_found");
    expect(error.message).to.equal(
      "Prices of block 139 of chain 8453 are no longer kept: those from block 140 on are.",
    );
    const { prices: known } = await prices.getPrices({ chainId: CHAIN_ID, tokens: [WETH], block: 140 });
    expect(known[0]?.usd).to.equal(3_100);
  });

  it("ignores rows beyond the checkpoint, which a write may be about to commit", async () => {
    await fill();
    await writeLinks(store, {
      anchors: [],
      links: [{ blockNumber: 201, token: WETH, parent: USDC, price: 9_999, depth: 5e6 }],
    });
    const { prices: answered } = await prices.getPrices({ chainId: CHAIN_ID, tokens: [WETH] });
    expect(answered[0]?.usd).to.equal(3_100);
  });

  it("knows no chain beside the deployments", async () => {
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
    expect(await refusal({ chainId: 1, tokens: [WETH], block: 100 })).to.include({ code: "unavailable" });
  });
});
