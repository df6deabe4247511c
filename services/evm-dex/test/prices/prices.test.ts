import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import { createPricesClient } from "../../../shared/grpc/client.ts";
import { type RunningGrpcServer, startGrpcServer } from "../../../shared/grpc/server.ts";
import type { PriceSource } from "../../../shared/grpc/types.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { describeLong, leastCases, randomRuns } from "../../../shared/testkit/describe.ts";
import { loadDeployments } from "../../deployments.ts";
import { rollbackTo } from "../../ingest/undo/rollback.ts";
import { createPriceSource } from "../../serve/prices.ts";
import { checkpoints, poolEvents, pools } from "../../store/collections.ts";
import { getCheckpoint } from "../../store/queries.ts";
import { address, CHAIN_ID, checkpointRow, openTestStore } from "../kit/rows.ts";
import { blockPlans, growChain, indexBlocks, type SmallBlock, startCheckpoint } from "../kit/small-chain.ts";
import { writeLinks } from "./write-links.ts";

/** A client of the service's own Prices, over a connection. */
async function withClient<T>(store: Store, work: (client: PriceSource) => Promise<T>): Promise<T> {
  const server: RunningGrpcServer = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: {
      prices: createPriceSource({ store, chains: loadDeployments(undefined) }),
      status: { getStatus: () => Promise.reject(new Error("not requested")) },
      health: () => Promise.resolve(true),
    },
  });
  const client = createPricesClient(server.address);
  try {
    return await work(client);
  } finally {
    client.close();
    await server.stop({ timeoutMs: 100 });
  }
}

/** Both tokens' prices of every stored event, by block, as the ingest wrote them. */
async function pricesInRows(store: Store): Promise<Map<number, Map<string, number | null>>> {
  const tokensOf = new Map(
    (await store.find(pools, {})).map((row) => [
      row.poolAddress,
      [row.token0Address, row.token1Address] as const,
    ]),
  );
  const blocks = new Map<number, Map<string, number | null>>();
  for (const row of await store.find(poolEvents, {})) {
    const prices = blocks.get(row.blockNumber) ?? new Map<string, number | null>();
    const [token0, token1] = tokensOf.get(row.poolAddress) ?? ["", ""];
    blocks.set(row.blockNumber, prices.set(token0, row.price0Usd).set(token1, row.price1Usd));
  }
  return blocks;
}

describeLong("prices over gRPC", () => {
  it("are, at every block, those of the block's rows to the last bit, after restarts and a reorg too", async () => {
    const story = fc.record({
      plan: blockPlans(12),
      keep: fc.nat(11),
      other: blockPlans(8),
      batch: fc.integer({ min: 1, max: 4 }),
    });
    let priced = 0;
    await fc.assert(
      fc.asyncProperty(story, async ({ plan, keep, other, batch }) => {
        const store = await openTestStore();
        const first = growChain(plan);
        const kept = first.slice(0, Math.max(1, Math.min(keep, first.length - 1)));
        const checkpoint = await indexBlocks(store, { chain: first, checkpoint: startCheckpoint(), batch });
        const { block } = kept.at(-1) as SmallBlock;
        await rollbackTo(store, { checkpoint, target: block, guard: () => [] });
        const chain = growChain(other, { after: kept, branch: 1 });
        const back = await getCheckpoint(store, CHAIN_ID);
        await indexBlocks(store, { chain, checkpoint: back ?? startCheckpoint(), batch });
        await withClient(store, async (client) => {
          for (const [number, prices] of await pricesInRows(store)) {
            const answer = await client.getPrices({
              chainId: CHAIN_ID,
              tokens: [...prices.keys()],
              block: number,
            });
            expect(answer.blockTime).to.equal(chain[number - 1]?.block.time);
            expect(new Map(answer.prices.map(({ token, usd }) => [token, usd]))).to.deep.equal(prices);
            priced += answer.prices.filter(({ usd, hops }) => usd !== null && hops > 0).length;
          }
        });
        await store.close();
      }),
      { numRuns: randomRuns(25) },
    );
    expect(priced).to.be.at.least(leastCases(80));
  });

  it("return 500 tokens in one call, at the head and at a block", async () => {
    const store = await openTestStore();
    const [usd, weth] = [address(1), address(2)];
    const tokens = Array.from({ length: 500 }, (_, i) => address(1 + i));
    await writeLinks(store, {
      anchors: [usd],
      links: [
        { blockNumber: 110, token: weth, parent: usd, price: 3_000 },
        ...tokens.slice(2).map((token, i) => ({ blockNumber: 110 + i, token, parent: weth, price: i + 0.1 })),
        { blockNumber: 199, token: weth, parent: usd, price: 2_000 },
      ],
    });
    await store.write([put(checkpoints, [checkpointRow({ blockNumber: 5_000 })])]);
    await withClient(store, async (client) => {
      const usdOf = async (block?: number) =>
        (
          await client.getPrices({ chainId: CHAIN_ID, tokens, ...(block !== undefined && { block }) })
        ).prices.map((price) => price.usd);
      expect(await usdOf()).to.deep.equal([1, 2_000, ...tokens.slice(2).map((_, i) => 2_000 * (i + 0.1))]);
      expect(await usdOf(150)).to.deep.equal([
        ...[1, 3_000],
        ...tokens.slice(2).map((_, i) => (i <= 40 ? 3_000 * (i + 0.1) : null)),
      ]);
      const failure = await client
        .getPrices({ chainId: CHAIN_ID, tokens, block: 99 })
        .catch((error: unknown) => error);
      expect(failure).to.include({
        code: "not_found",
        message: "Block 99 of chain 8453 is not indexed: blocks 100 to 5000 are.",
      });
    });
    await store.close();
  });
});
