import { expect } from "chai";
import { describe, it } from "mocha";
import { OtherChain } from "../../shared/evm/finality/genesis.ts";
import type { BlockHeader } from "../../shared/evm/port.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { checkpoints, priceLinks } from "../store/collections.ts";
import { readPrices, toAnchorRows } from "../store/price-links.ts";
import { getCheckpoint } from "../store/queries.ts";
import { createFakeSource, headersUpTo } from "../test/kit/fake-source.ts";
import { address, CHAIN_ID, checkpointRow, hash, openTestStore } from "../test/kit/rows.ts";
import { openCheckpoint } from "./start-block.ts";

const ANCHORS = [address(1), address(2)];

async function inStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openTestStore();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const openOn = (headers: readonly BlockHeader[], startBlock?: number) =>
  inStore(async (store) => {
    const source = createFakeSource({ headers });
    const checkpoint = await openCheckpoint(store, { source, anchors: ANCHORS, startBlock });
    expect(await getCheckpoint(store, CHAIN_ID)).to.deep.equal(checkpoint);
    return { checkpoint, requested: source.headerRequests.length };
  });

describe("openCheckpoint", () => {
  it("is just before the configured first block", async () => {
    const { checkpoint } = await openOn(headersUpTo(50), 20);
    expect(checkpoint).to.deep.equal({
      chainId: CHAIN_ID,
      blockNumber: 19,
      blockHash: hash(19),
      blockTime: 1_700_000_038,
      fromBlock: 20,
      fromTime: 1_700_000_040,
      chainHead: 50,
      genesisHash: hash(0),
    });
  });

  it("gives prices their anchors from there on, and leaves nothing of a first run that was killed", () =>
    inStore(async (store) => {
      const source = createFakeSource({ headers: headersUpTo(50) });
      await store.write([
        put(
          priceLinks,
          toAnchorRows([address(7), address(8)], { chainId: CHAIN_ID, blockNumber: 3, time: 7 }),
        ),
        put(priceLinks, toAnchorRows([address(7)], { chainId: 1, blockNumber: 3, time: 7 })),
      ]);
      await openCheckpoint(store, { source, anchors: ANCHORS, startBlock: 20 });
      const rows = await store.find(priceLinks, {});
      expect(rows.map(({ chainId, token, blockNumber }) => [chainId, token, blockNumber])).to.deep.equal([
        [1, address(7), 3],
        [CHAIN_ID, address(1), 19],
        [CHAIN_ID, address(2), 19],
      ]);
      const prices = await readPrices(store, { chainId: CHAIN_ID, tokens: ANCHORS, block: 19 });
      const anchor = { usd: 1, hops: 0, link: undefined, changedAt: 1_700_000_038 };
      expect([...prices.values()]).to.deep.equal([anchor, anchor]);
    }));

  it("is before block 0 where that is the first", async () => {
    const { checkpoint } = await openOn(headersUpTo(3), 0);
    expect(checkpoint).to.include({
      blockNumber: -1,
      blockHash: `0x${"0".repeat(64)}`,
      blockTime: 0,
      fromBlock: 0,
      fromTime: 1_700_000_000,
    });
  });

  it("starts just below the head by default, where every node has the state before it", async () => {
    const { checkpoint, requested } = await openOn(headersUpTo(5_000, { intervalS: 600 }));
    expect(checkpoint).to.include({ fromBlock: 5_000 - 32, blockNumber: 5_000 - 33, chainHead: 5_000 });
    expect(requested).to.be.at.most(4);
    expect((await openOn(headersUpTo(20))).checkpoint).to.include({ fromBlock: 0, blockNumber: -1 });
  });

  it("continues from the stored checkpoint, whatever is configured now", () =>
    inStore(async (store) => {
      const stored = checkpointRow({ genesisHash: hash(0) });
      await store.write([put(checkpoints, [stored])]);
      const source = createFakeSource({ headers: headersUpTo(50) });
      expect(await openCheckpoint(store, { source, anchors: ANCHORS, startBlock: 5 })).to.deep.equal(stored);
    }));

  it("refuses a store of a chain with another genesis, and leaves it as it is", () =>
    inStore(async (store) => {
      const stored = checkpointRow({ genesisHash: hash(0, 7) });
      await store.write([put(checkpoints, [stored])]);
      const source = createFakeSource({ headers: headersUpTo(50) });
      const error = await openCheckpoint(store, { source, anchors: ANCHORS, startBlock: undefined }).catch(
        (caught: unknown) => caught,
      );
      expect(error).to.be.instanceOf(OtherChain);
      expect((error as Error).message)
        .to.contain(hash(0, 7))
        .and.contain(hash(0))
        .and.contain("8453");
      expect(await getCheckpoint(store, CHAIN_ID)).to.deep.equal(stored);
    }));

  it("names the block that the chain does not have yet", () =>
    inStore(async (store) => {
      const source = createFakeSource({ headers: headersUpTo(50) });
      const error = await openCheckpoint(store, { source, anchors: ANCHORS, startBlock: 60 }).catch(
        (caught: unknown) => caught,
      );
      expect((error as Error).message).to.match(/8453 has no block 59/);
      expect(await getCheckpoint(store, CHAIN_ID)).to.equal(undefined);
    }));
});
