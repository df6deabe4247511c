import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Hex } from "../../../../../shared/evm/port.ts";
import type { Store } from "../../../../../shared/storage/port.ts";
import { depsOf, rowsOf } from "../../../../test/kit/answers.ts";
import { openTestStore } from "../../../../test/kit/rows.ts";
import { expectedSum, expectedTvl, whole } from "../../../../test/v2/v2-expectation.ts";
import { HEAD, MIDNIGHT, type Sample, sampleWorld } from "../../../../test/v2/v2-sample.ts";
import { DAY, type WorldPool } from "../../../../test/v2/v2-world.ts";
import { endpoint } from "./fee-metrics.endpoint.ts";
import { dexaFeeMetricsHandler } from "./fee-metrics.handler.ts";

describe("/evm/dexa/v2/fee-metrics", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  async function rowOf(sample: Sample, pool: WorldPool) {
    await sample.world.write(store);
    const handler = dexaFeeMetricsHandler(depsOf(store, [sample.world.chain]));
    const pool_address = pool.row.poolAddress as Hex;
    const rows = await rowsOf(endpoint, handler, { chain_id: 8453, pool_address });
    expect(rows).to.have.length(1);
    return rows[0] as Record<string, unknown>;
  }

  /** One row a day, each from the swaps of that day alone. */
  function expectedDays({ world }: Sample, pool: WorldPool) {
    const swaps = world.swaps.filter((swap) => swap.pool === pool);
    return [7, 6, 5, 4, 3, 2, 1].map((ago) => {
      const start = MIDNIGHT - ago * DAY;
      const sum = expectedSum(swaps, start, start + DAY);
      const fees = [whole(sum.fees0, pool.token0.decimals), whole(sum.fees1, pool.token1.decimals)];
      return [start, sum.volumeUsd, sum.feesUsd, ...fees];
    });
  }

  it("has seven completed days and their sum", async () => {
    const sample = sampleWorld();
    for (const pool of [sample.weth, sample.usdt]) {
      const row = await rowOf(sample, pool);
      const tvlUsd = expectedTvl(pool) as number;
      const week = expectedSum(
        sample.world.swaps.filter((swap) => swap.pool === pool),
        MIDNIGHT - 7 * DAY,
        MIDNIGHT,
      );
      expect(week.count).to.be.greaterThan(20);
      const { feeApr, volumeTvlRatio, ...rest } = row;
      expect(feeApr).to.be.closeTo(((week.feesUsd as number) / 7 / tvlUsd) * 365, 1e-12);
      expect(volumeTvlRatio).to.be.closeTo((week.volumeUsd as number) / tvlUsd, 1e-12);
      expect(rest).to.deep.equal({
        poolId: pool.row.poolAddress,
        feeTier: pool === sample.weth ? 3_000 : 500,
        timeframeAt: "7d",
        feesUsd: week.feesUsd,
        feesToken0: whole(week.fees0, pool.token0.decimals),
        feesToken1: whole(week.fees1, pool.token1.decimals),
        historicalFees: expectedDays(sample, pool),
        updatedAt: HEAD,
      });
    }
  });

  it("has no USD where a pool token has no price, but its fees in tokens", async () => {
    const sample = sampleWorld();
    const row = await rowOf(sample, sample.dust);
    const nulls = Object.keys(row).filter((name) => row[name] === null);
    expect(nulls).to.deep.equal(["feeApr", "volumeTvlRatio", "feesUsd"]);
    const days = expectedDays(sample, sample.dust);
    expect(days.filter(([, volumeUsd]) => volumeUsd === null)).to.have.length.greaterThan(4);
    expect(row.historicalFees).to.deep.equal(days);
    expect(row.feesToken1).to.be.greaterThan(0);
  });

  it("has no numbers for days before the first indexed block, nor for weeks that hold one", async () => {
    const sample = sampleWorld({ indexedFrom: MIDNIGHT - 5 * DAY + 1 });
    const row = await rowOf(sample, sample.weth);
    expect(row).to.include({
      feeApr: null,
      volumeTvlRatio: null,
      feesUsd: null,
      feesToken0: null,
      feesToken1: null,
    });
    const unknown = [7, 6, 5].map((ago) => [MIDNIGHT - ago * DAY, null, null, null, null]);
    expect(row.historicalFees).to.deep.equal([...unknown, ...expectedDays(sample, sample.weth).slice(3)]);
    const young = await rowOf(sample, sample.usdt);
    expect(young.historicalFees, "a pool that came with the index").to.deep.equal(
      expectedDays(sample, sample.usdt),
    );
    expect(young.feesUsd).to.be.a("number");
  });
});
