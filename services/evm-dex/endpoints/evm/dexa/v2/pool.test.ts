import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { ServiceError } from "../../../../../shared/errors.ts";
import type { Hex } from "../../../../../shared/evm/port.ts";
import type { Store } from "../../../../../shared/storage/port.ts";
import { depsOf, rowsOf } from "../../../../test/kit/answers.ts";
import { address, openTestStore } from "../../../../test/kit/rows.ts";
import { expectedRewardApr, expectedSum, expectedTvl, whole } from "../../../../test/v2/v2-expectation.ts";
import { HEAD, LAST_HOUR, LP, MIDNIGHT, type Sample, sampleWorld } from "../../../../test/v2/v2-sample.ts";
import { DAY, HOUR, type WorldPool } from "../../../../test/v2/v2-world.ts";
import { endpoint } from "./pool.endpoint.ts";
import { dexaV2PoolHandler } from "./pool.handler.ts";

describe("/evm/dexa/v2/pool", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  async function rowOf({ world }: Sample, pool: { row: { poolAddress: string } }, days = 7) {
    const handler = dexaV2PoolHandler(depsOf(store, [world.chain]));
    const pool_address = pool.row.poolAddress as Hex;
    const params = { chain_id: 8453, pool_address, apr_days_annualized: days } as const;
    const rows = await rowsOf(endpoint, handler, params);
    expect(rows).to.have.length(1);
    return rows[0] as Record<string, unknown>;
  }

  const swapsOf = ({ world }: Sample, pool: WorldPool) => world.swaps.filter((swap) => swap.pool === pool);

  it("has the sums of the swaps of a volatile pool with a gauge", async () => {
    const sample = sampleWorld();
    await sample.world.write(store);
    const { weth } = sample;
    const tvlUsd = expectedTvl(weth) as number;
    const week = expectedSum(swapsOf(sample, weth), MIDNIGHT - 7 * DAY, MIDNIGHT);
    const rewardApr = expectedRewardApr({
      ...{ rewardRate: 3n * 10n ** 16n, rewardUsd: 0.5, tvlUsd },
      // Alice has 200 staked and took 50 back; with what the other provider and the pool keep.
      ...{ staked: 150n * LP, totalSupply: 1_000n * LP + 1_000n },
    });
    const swapFeeApr = ((week.feesUsd as number) / 7 / tvlUsd) * 365;
    const row = await rowOf(sample, weth);
    const { rewardApr: actual, totalApr, ...rest } = row;
    expect(actual).to.be.closeTo(rewardApr, rewardApr * 1e-12);
    expect(totalApr).to.be.closeTo(rewardApr + swapFeeApr, 1e-12 * (rewardApr + swapFeeApr));
    expect(rest.swapFeeApr).to.be.closeTo(swapFeeApr, swapFeeApr * 1e-12);
    expect({ ...rest, swapFeeApr: null }).to.deep.equal({
      poolId: weth.row.poolAddress,
      ...{ token0: weth.token0.address, token0Symbol: "WETH", token0Decimals: 18 },
      ...{ token1: weth.token1.address, token1Symbol: "USDC", token1Decimals: 6 },
      poolTvlUsd: tvlUsd,
      stable: false,
      fee: 0.003,
      ...{ reserve0: 200, reserve1: 601_000, token0PriceUsd: 3_000, token1PriceUsd: 1 },
      volume24hUsd: expectedSum(swapsOf(sample, weth), LAST_HOUR - 23 * HOUR, HEAD + 1).volumeUsd,
      volume7dUsd: week.volumeUsd,
      fees7dUsd: week.feesUsd,
      swapFeeApr: null,
      aprDaysAnnualized: 7,
      createdAt: `${new Date(weth.row.createdAt * 1_000).toISOString().slice(0, 19)}+00:00`,
      updatedAt: "2025-10-09T10:20:34+00:00",
    });
  });

  it("annualises any number of completed days", async () => {
    const sample = sampleWorld();
    await sample.world.write(store);
    const { usdt } = sample;
    const tvlUsd = expectedTvl(usdt) as number;
    for (const days of [1, 2, 13, 30]) {
      const { feesUsd } = expectedSum(swapsOf(sample, usdt), MIDNIGHT - days * DAY, MIDNIGHT);
      const apr = ((feesUsd as number) * 365) / days / tvlUsd;
      const row = await rowOf(sample, usdt, days);
      expect(row).to.include({ stable: true, fee: 0.0005, rewardApr: 0, aprDaysAnnualized: days });
      expect(row.swapFeeApr).to.be.closeTo(apr, apr * 1e-12);
      expect(row.totalApr, "no gauge").to.equal(row.swapFeeApr);
    }
  });

  it("has no USD of a pool with an unpriced token, nor APRs; all else stays", async () => {
    const sample = sampleWorld();
    await sample.world.write(store);
    const { dust } = sample;
    const row = await rowOf(sample, dust);
    const nulls = Object.keys(row).filter((name) => row[name] === null);
    expect(nulls).to.deep.equal([
      ...["poolTvlUsd", "token1PriceUsd", "volume24hUsd", "volume7dUsd", "fees7dUsd"],
      ...["swapFeeApr", "rewardApr", "totalApr"],
    ]);
    expect(row).to.include({ token0PriceUsd: 3_000, reserve0: 1, reserve1: whole(dust.reserve1, 9) });
  });

  it("pays no more when the period is over, whatever the reward token is worth", async () => {
    const sample = sampleWorld({ rewardUsd: null });
    await sample.world.write(store);
    expect(await rowOf(sample, sample.weth), "still paying").to.include({ rewardApr: null, totalApr: null });
    const { rewardApr, token0PriceUsd } = await rowOf(sample, sample.aero);
    expect([rewardApr, token0PriceUsd], "the pool of the reward token itself").to.deep.equal([0, null]);
  });

  it("has nulls for days before the first indexed block, unless the pool is younger", async () => {
    // The index begins one second into the seventh day back.
    const sample = sampleWorld({ indexedFrom: MIDNIGHT - 7 * DAY + 1 });
    await sample.world.write(store);
    const old = await rowOf(sample, sample.weth, 7);
    expect(old).to.include({ volume7dUsd: null, fees7dUsd: null, swapFeeApr: null, totalApr: null });
    expect(old.volume24hUsd).to.be.a("number");
    expect(old.rewardApr).to.be.a("number");
    expect((await rowOf(sample, sample.weth, 6)).swapFeeApr, "six days are covered").to.be.a("number");
    const young = await rowOf(sample, sample.usdt, 30);
    const all = expectedSum(swapsOf(sample, sample.usdt), 0, MIDNIGHT);
    expect(young.volume7dUsd).to.equal(all.volumeUsd);
    expect(young.swapFeeApr).to.be.closeTo(
      ((all.feesUsd as number) / 30 / (young.poolTvlUsd as number)) * 365,
      1e-9,
    );
  });

  it("starts at the exact second", async () => {
    const sample = sampleWorld({ indexedFrom: MIDNIGHT - 7 * DAY });
    await sample.world.write(store);
    const { volumeUsd } = expectedSum(swapsOf(sample, sample.weth), MIDNIGHT - 7 * DAY, MIDNIGHT);
    expect((await rowOf(sample, sample.weth)).volume7dUsd).to.equal(volumeUsd);
  });

  it("finds a new pool, but not an unread inactive one", async () => {
    const sample = sampleWorld();
    const { world, weth } = sample;
    const tokens = { token0: weth.token0, token1: weth.token1, fee: 0, reserve0: 0n, reserve1: 0n };
    const young = world.addPool({ ...tokens, row: { createdAt: HEAD - 10, createdBlock: 900, fee: 3_000 } });
    const silent = world.addPool(tokens);
    await world.write(store);
    expect(await rowOf(sample, young)).to.include({
      ...{ poolTvlUsd: 0, reserve0: 0, fee: 0.003, volume7dUsd: 0, volume24hUsd: 0, fees7dUsd: 0 },
      ...{ swapFeeApr: null, rewardApr: 0, totalApr: null },
    });
    const refusalOf = async (pool: { row: { poolAddress: string } }) => {
      const error = await rowOf(sample, pool).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(ServiceError);
      expect((error as ServiceError).code).to.equal("not_found");
      return (error as ServiceError).message;
    };
    expect(await refusalOf(silent)).to.contain("no event since block 100");
    expect(await refusalOf({ row: { poolAddress: address(0xdead) } })).to.contain(address(0xdead));
    const slipstream = world.addPool({ ...tokens, row: { protocol: "slipstream" } });
    await world.write(store);
    expect(await refusalOf(slipstream), "of the other generation").to.contain("No pool");
  });
});
