import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Store } from "../../../../../shared/storage/port.ts";
import { depsOf, rowsOf } from "../../../../test/kit/answers.ts";
import { address, openTestStore } from "../../../../test/kit/rows.ts";
import { expectedRewardApr, expectedSum, expectedTvl } from "../../../../test/v2/v2-expectation.ts";
import { HEAD, LAST_HOUR, LP, MIDNIGHT, type Sample, sampleWorld } from "../../../../test/v2/v2-sample.ts";
import { DAY, HOUR, type WorldPool } from "../../../../test/v2/v2-world.ts";
import { endpoint } from "./pools.endpoint.ts";
import { dexaPoolsHandler } from "./pools.handler.ts";

describe("/evm/dexa/v2/pools", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  function listOf({ world }: Sample) {
    const handler = dexaPoolsHandler(depsOf(store, [world.chain]));
    return (limit = 100, offset = 0) => rowsOf(endpoint, handler, { chain_id: 8453, limit, offset });
  }

  /** What the swaps of one pool add up to, as the list returns it. */
  function expectedMetrics({ world }: Sample, pool: WorldPool) {
    const swaps = world.swaps.filter((swap) => swap.pool === pool);
    const week = expectedSum(swaps, MIDNIGHT - 7 * DAY, MIDNIGHT);
    const tvlUsd = expectedTvl(pool);
    return {
      poolTvlUsd: tvlUsd,
      volume24hUsd: expectedSum(swaps, LAST_HOUR - 23 * HOUR, HEAD + 1).volumeUsd,
      volume7dUsd: week.volumeUsd,
      fees7dUsd: week.feesUsd,
      swapFeeApr7d: week.feesUsd === null || tvlUsd === null ? null : ((week.feesUsd / 7) * 365) / tvlUsd,
    };
  }

  function expectMetrics(row: Record<string, unknown> | undefined, expected: Record<string, number | null>) {
    for (const [name, value] of Object.entries(expected)) {
      if (value === null) expect(row?.[name], name).to.equal(null);
      else expect(row?.[name], name).to.be.closeTo(value, value * 1e-12);
    }
  }

  it("has the sums of every pool's swaps, the youngest pool first", async () => {
    const sample = sampleWorld();
    const { world, weth, usdt, dust, aero } = sample;
    await world.write(store);
    const rows = await listOf(sample)();
    const pools = [usdt, dust, aero, weth];
    expect(rows.map((row) => row.poolId)).to.deep.equal(pools.map(({ row }) => row.poolAddress));
    for (const [i, pool] of pools.entries()) {
      expect(rows[i]).to.include({
        ...{ token0: pool.token0.address, token0Symbol: pool.token0.symbol },
        ...{ token1: pool.token1.address, token1Symbol: pool.token1.symbol },
        ...{ token0Decimals: pool.token0.decimals, token1Decimals: pool.token1.decimals },
      });
      expectMetrics(rows[i], expectedMetrics(sample, pool));
    }
    const rewardApr7d = expectedRewardApr({
      ...{ rewardRate: 3n * 10n ** 16n, rewardUsd: 0.5, tvlUsd: expectedTvl(weth) as number },
      ...{ staked: 150n * LP, totalSupply: 1_000n * LP + 1_000n },
    });
    const { swapFeeApr7d } = expectedMetrics(sample, weth);
    expectMetrics(rows[3], { rewardApr7d, totalApr7d: rewardApr7d + (swapFeeApr7d as number) });
    expect(rows[2], "its gauge has paid all it had").to.include({ rewardApr7d: 0 });
    expect(rows[1], "one token has no price").to.include({ rewardApr7d: null, totalApr7d: null });
    expect(rows[0], "no gauge").to.include({ rewardApr7d: 0, totalApr7d: rows[0]?.swapFeeApr7d });
  });

  it("has pages, with pools of one second by address", async () => {
    const sample = sampleWorld();
    const { world, weth } = sample;
    const twin = (n: number) =>
      world.addPool({
        ...{ token0: weth.token0, token1: weth.token1, fee: 30, reserve0: 1n, reserve1: 1n },
        row: { poolAddress: address(n), createdAt: HEAD - 100, createdBlock: 500 },
      });
    for (const n of [0x9a, 0x12, 0xff, 0x35]) twin(n);
    const others = { protocol: "uniswap-v3", poolAddress: address(1), createdAt: HEAD };
    world.addPool({ ...weth, row: others });
    await world.write(store);
    const ids = [0x12, 0x35, 0x9a, 0xff]
      .map(address)
      .concat(
        [sample.usdt, sample.dust, sample.aero, weth].map(({ row }) => row.poolAddress as `0x${string}`),
      );
    const list = listOf(sample);
    expect((await list()).map((row) => row.poolId)).to.deep.equal(ids);
    expect((await list(3, 2)).map((row) => row.poolId)).to.deep.equal(ids.slice(2, 5));
    expect(await list(5, 8)).to.deep.equal([]);
  });

  it("has no sums of windows that begin before the index does, and no TVL of unread inactive pools", async () => {
    const sample = sampleWorld({ indexedFrom: LAST_HOUR - 20 * HOUR });
    const { world, weth, usdt } = sample;
    const silent = world.addPool({ ...weth, row: { createdAt: world.indexedFrom - 9 * DAY } });
    await world.write(store);
    const rows = new Map((await listOf(sample)()).map((row) => [row.poolId, row]));
    expect(rows.get(weth.row.poolAddress)).to.include({
      ...{ volume24hUsd: null, volume7dUsd: null, fees7dUsd: null, swapFeeApr7d: null, totalApr7d: null },
      poolTvlUsd: expectedTvl(weth),
    });
    expectMetrics(rows.get(usdt.row.poolAddress), expectedMetrics(sample, usdt));
    const nulls = Object.entries(rows.get(silent.row.poolAddress) ?? {}).filter(([, cell]) => cell === null);
    expect(nulls.map(([name]) => name)).to.deep.equal([
      ...["poolTvlUsd", "volume24hUsd", "volume7dUsd", "fees7dUsd"],
      ...["swapFeeApr7d", "rewardApr7d", "totalApr7d"],
    ]);
  });

  it("is empty before the first indexed block", async () => {
    const sample = sampleWorld();
    expect(await listOf(sample)()).to.deep.equal([]);
  });
});
