import { expect } from "chai";
import { after, before, it } from "mocha";
import type { AerodromePool } from "../../../../deploy/devnet/aerodrome/deploy.ts";
import type { Address } from "../../../../deploy/devnet/node/transactions.ts";
import { createTestChain, type TestChain } from "../../../../deploy/devnet/testkit.ts";
import type { Cell } from "../../../shared/contract/column.ts";
import { describeWithChain, itThorough } from "../../../shared/testkit/describe.ts";
import { dexaFeeMetrics, dexaPool, dexaPools, dexaPoolVolume, dexaProviderSummary } from "../../contract.ts";
import { loadDeployments } from "../../deployments.ts";
import { dexaFeeMetricsHandler } from "../../endpoints/evm/dexa/v2/fee-metrics.handler.ts";
import { dexaV2PoolHandler } from "../../endpoints/evm/dexa/v2/pool.handler.ts";
import { dexaPoolVolumeHandler } from "../../endpoints/evm/dexa/v2/pool-volume.handler.ts";
import { dexaPoolsHandler } from "../../endpoints/evm/dexa/v2/pools.handler.ts";
import { dexaProviderSummaryHandler } from "../../endpoints/evm/dexa/v2/provider-summary.handler.ts";
import type { ServeDeps } from "../../serve/deps.ts";
import { depsOf, rowsOf } from "../kit/answers.ts";
import { decidedPrices } from "../kit/decided-prices.ts";
import { startTestIngest, type TestIngest } from "../kit/harness.ts";
import type { PriceAt } from "../kit/pool-expectation.ts";
import { mineAerodromeBlocks } from "./aerodrome-busy.ts";
import {
  aerodromePrices,
  blockBefore,
  type ChainSwap,
  chainEarned,
  chainRewardApr,
  chainSum,
  chainSwaps,
  chainTvl,
  whole,
} from "./aerodrome-expectation.ts";
import { liveOnPools } from "./v2-life.ts";

const GENESIS_S = 1_760_000_000;
const HOUR = 3_600;
const DAY = 86_400;
const NEAR = 1e-6;

type Row = Record<string, Cell>;

describeWithChain("dexa v2 over an indexed chain", () => {
  let chain: TestChain;
  let ingest: TestIngest;
  let deps: ServeDeps;
  let priceAt: PriceAt;
  let head: number;
  let headTime: number;
  let midnight: number;
  const swaps = new Map<AerodromePool, ChainSwap[]>();

  before(async () => {
    const families = ["aerodrome-v2"] as const;
    chain = await createTestChain({ timestamp: GENESIS_S, poolCount: 2, families, keptStates: 1_000 });
    await liveOnPools(chain);
    head = await chain.headNumber();
    headTime = (await chain.header(head)).timestamp;
    midnight = headTime - (headTime % DAY);
    ingest = await startTestIngest(chain);
    await ingest.catchUp();
    deps = depsOf(ingest.store, loadDeployments(chain.deploymentsFile));
    priceAt = decidedPrices(ingest.store, aerodromePrices(chain));
    for (const pool of chain.aerodrome.pools) swaps.set(pool, await chainSwaps(chain, { pool, priceAt }));
  });
  after(async () => {
    await ingest?.close();
    await chain?.stop();
  });

  const sumOf = (pool: AerodromePool, start: number, end: number) =>
    chainSum(swaps.get(pool) as ChainSwap[], start, end);
  const lastHour = () => headTime - (headTime % HOUR);
  const feeAprOf = (feesUsd: number | null, { tvlUsd, days }: { days: number; tvlUsd: number | null }) =>
    feesUsd === null || tvlUsd === null ? null : ((feesUsd / days) * 365) / tvlUsd;
  const total = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b);

  /** What every endpoint returns of a pool's week, by the names of the list. */
  async function weekOf(pool: AerodromePool) {
    const [tvlUsd, rewardApr7d] = await Promise.all([
      chainTvl(chain, { pool, priceAt, head }),
      chainRewardApr(chain, { pool, priceAt, head }),
    ]);
    const week = sumOf(pool, midnight - 7 * DAY, midnight);
    const swapFeeApr7d = feeAprOf(week.feesUsd, { days: 7, tvlUsd });
    return {
      poolTvlUsd: tvlUsd,
      volume24hUsd: sumOf(pool, lastHour() - 23 * HOUR, headTime + 1).volumeUsd,
      volume7dUsd: week.volumeUsd,
      fees7dUsd: week.feesUsd,
      swapFeeApr7d,
      rewardApr7d,
      totalApr7d: total(swapFeeApr7d, rewardApr7d),
    };
  }
  const identityOf = ({ address, token0, token1 }: AerodromePool) => ({
    ...{
      poolId: address,
      token0: token0.address,
      token0Symbol: token0.symbol,
      token0Decimals: token0.decimals,
    },
    ...{ token1: token1.address, token1Symbol: token1.symbol, token1Decimals: token1.decimals },
  });
  const ofPool = (pool: AerodromePool) => ({ chain_id: 8453, pool_address: pool.address }) as const;

  it("has data in every column", async () => {
    for (const pool of chain.aerodrome.pools) {
      expect(sumOf(pool, midnight - 7 * DAY, midnight).count, pool.spec.base).to.be.greaterThan(5);
      expect(sumOf(pool, lastHour() - 23 * HOUR, headTime + 1).count, pool.spec.base).to.be.greaterThan(5);
    }
    const aprs = await Promise.all(
      chain.aerodrome.pools.map((pool) => chainRewardApr(chain, { pool, priceAt, head })),
    );
    expect([aprs.some((apr) => apr === 0), aprs.some((apr) => (apr ?? 0) > 0)]).to.deep.equal([true, true]);
  });

  it("/pools lists what the factory created with what its swaps add up to", async () => {
    const rows = await rowsOf(dexaPools, dexaPoolsHandler(deps), { chain_id: 8453, limit: 100, offset: 0 });
    const byAddress = [...chain.aerodrome.pools].sort((a, b) => (a.address < b.address ? -1 : 1));
    // All were created in one block.
    expect(rows.map((row) => row.poolId)).to.deep.equal(byAddress.map(({ address }) => address));
    for (const [i, pool] of byAddress.entries()) {
      expect(rows[i]).to.include(identityOf(pool));
      expectNear(rows[i] as Row, await weekOf(pool));
    }
    const handler = dexaPoolsHandler(deps);
    const page = await rowsOf(dexaPools, handler, { chain_id: 8453, limit: 2, offset: 1 });
    expect(page).to.deep.equal(rows.slice(1, 3));
  });

  it("/pool equals the chain for each pool", async () => {
    const created = (await chain.aerodrome.events()).filter(({ eventName }) => eventName === "PoolCreated");
    const { timestamp } = await chain.header(Number(created[0]?.blockNumber));
    for (const [i, pool] of chain.aerodrome.pools.entries()) {
      const days = [1, 7, 30, 2, 14][i] as number;
      const params = { ...ofPool(pool), apr_days_annualized: days };
      const [row] = (await rowsOf(dexaPool, dexaV2PoolHandler(deps), params)) as [Row];
      const [reserve0, reserve1] = await chain.aerodrome.reserves(pool.address, head);
      expect(row).to.include({
        ...identityOf(pool),
        stable: pool.stable,
        fee: (await chain.aerodrome.fee(pool, head)) / 10_000,
        reserve0: whole(reserve0, pool.token0.decimals),
        reserve1: whole(reserve1, pool.token1.decimals),
        aprDaysAnnualized: days,
        createdAt: isoOf(timestamp),
        updatedAt: isoOf(headTime),
      });
      const { poolTvlUsd, volume24hUsd, volume7dUsd, fees7dUsd, rewardApr7d } = await weekOf(pool);
      const { feesUsd } = sumOf(pool, midnight - days * DAY, midnight);
      const swapFeeApr = feeAprOf(feesUsd, { days, tvlUsd: poolTvlUsd });
      expectNear(row, {
        ...{ poolTvlUsd, volume24hUsd, volume7dUsd, fees7dUsd, swapFeeApr },
        token0PriceUsd: await priceAt(pool.token0.address, head),
        token1PriceUsd: await priceAt(pool.token1.address, head),
        rewardApr: rewardApr7d,
        totalApr: total(swapFeeApr, rewardApr7d),
      });
    }
  });

  it("/fee-metrics equals the sums of the Fees events of seven days", async () => {
    for (const pool of chain.aerodrome.pools) {
      const [row] = (await rowsOf(dexaFeeMetrics, dexaFeeMetricsHandler(deps), ofPool(pool))) as [Row];
      const week = sumOf(pool, midnight - 7 * DAY, midnight);
      const { poolTvlUsd, swapFeeApr7d } = await weekOf(pool);
      expect(row).to.include({
        poolId: pool.address,
        feeTier: (await chain.aerodrome.fee(pool, head)) * 100,
        timeframeAt: "7d",
        feesToken0: whole(week.fees0, pool.token0.decimals),
        feesToken1: whole(week.fees1, pool.token1.decimals),
        updatedAt: headTime,
      });
      const volumeTvlRatio =
        week.volumeUsd === null || poolTvlUsd === null ? null : week.volumeUsd / poolTvlUsd;
      expectNear(row, { feeApr: swapFeeApr7d, volumeTvlRatio, feesUsd: week.feesUsd });
      const days = row.historicalFees as Cell[][];
      expect(days.map(([start]) => start)).to.deep.equal(
        [7, 6, 5, 4, 3, 2, 1].map((ago) => midnight - ago * DAY),
      );
      for (const [start, volumeUsd, feesUsd, fees0, fees1] of days as number[][]) {
        const day = sumOf(pool, start as number, (start as number) + DAY);
        expect([fees0, fees1]).to.deep.equal([
          whole(day.fees0, pool.token0.decimals),
          whole(day.fees1, pool.token1.decimals),
        ]);
        expectNear({ volumeUsd, feesUsd } as Row, { volumeUsd: day.volumeUsd, feesUsd: day.feesUsd });
      }
    }
  });

  it("/pool-volume equals the sums of the swaps of 24 hours", async () => {
    const start = lastHour() - 23 * HOUR;
    for (const pool of chain.aerodrome.pools) {
      const [row] = (await rowsOf(dexaPoolVolume, dexaPoolVolumeHandler(deps), ofPool(pool))) as [Row];
      const day = sumOf(pool, start, headTime + 1);
      const before = sumOf(pool, start - DAY, start);
      expect(row).to.include({
        poolId: pool.address,
        timeframeAt: "24h",
        swapCount: day.count,
        updatedAt: headTime,
      });
      expectNear(row, {
        volumeUsd: day.volumeUsd,
        volumeChange:
          day.volumeUsd === null || before.volumeUsd === null ? null : day.volumeUsd / before.volumeUsd - 1,
        averageSwapSizeUsd: day.volumeUsd === null ? null : day.volumeUsd / day.count,
      });
      expect(Number(row.volumeToken0)).to.be.closeTo(whole(day.volume0, pool.token0.decimals), 1e-6);
      expect(rawOf(row.volumeToken1, pool.token1.decimals), "exact").to.equal(day.volume1);
      const hours = row.volumeByHour as number[][];
      expect(hours).to.have.length(24);
      for (const [i, [hour, volumeUsd, count]] of hours.entries()) {
        const expected = sumOf(pool, start + i * HOUR, start + (i + 1) * HOUR);
        expect([hour, count]).to.deep.equal([start + i * HOUR, expected.count]);
        expectNear({ volumeUsd } as Row, { volumeUsd: expected.volumeUsd });
      }
      const own = (swaps.get(pool) as ChainSwap[]).filter(({ time }) => time >= start);
      const largest = [...own].sort((a, b) => (b.valueUsd ?? 0) - (a.valueUsd ?? 0)).slice(0, 10);
      const listed = row.largestSwaps as Cell[][];
      expect(listed.map(([txHash, time, , direction]) => [txHash, time, direction])).to.deep.equal(
        largest.map(({ txHash, time, zeroForOne }) => [
          txHash,
          time,
          zeroForOne ? "token0_to_token1" : "token1_to_token0",
        ]),
      );
      for (const [i, [, , valueUsd]] of listed.entries()) {
        expectNear({ valueUsd } as Row, { valueUsd: largest[i]?.valueUsd ?? null });
      }
      for (const [direction, volumeUsd] of row.volumeByToken as [string, number | null][]) {
        const isForward = direction === "token0_to_token1";
        const some = own.filter(({ zeroForOne }) => zeroForOne === isForward);
        expectNear({ volumeUsd } as Row, { volumeUsd: chainSum(some, 0, headTime + 1).volumeUsd });
      }
    }
  });

  it("/provider-summary equals the pools and gauges for each provider", async () => {
    const { providers } = chain.aerodrome;
    for (const wallet of providers.slice(0, 4)) {
      const params = { chain_id: 8453, wallet_address: wallet } as const;
      const [row] = (await rowsOf(dexaProviderSummary, dexaProviderSummaryHandler(deps), params)) as [Row];
      const held = await holdingsOf(wallet);
      const active = held.filter(({ balance, staked }) => balance + staked > 0n);
      expect(row).to.include({
        providerId: wallet,
        poolCount: active.length,
        activePositionCount: active.reduce(
          (sum, { balance, staked }) => sum + Number(balance > 0n) + Number(staked > 0n),
          0,
        ),
      });
      // Everyone is in the pool of two tokens without a price.
      expect(active.some(({ tvlUsd }) => tvlUsd === null)).to.equal(true);
      for (const name of [
        "totalValueLockedUsd",
        "totalFeesEarned7d",
        "averageApr30dWeighted",
        "concentrationIndex",
      ]) {
        expect(row[name], name).to.equal(null);
      }
      const pools = row.topPoolsData as Cell[][];
      expect(pools).to.have.length(active.length);
      for (const [address, , , valueUsd, share] of pools) {
        const { tvlUsd, balance, staked, totalSupply } = active.find(
          ({ pool }) => pool.address === address,
        ) as Held;
        const part = Number(balance + staked) / Number(totalSupply);
        expectNear({ valueUsd } as Row, { valueUsd: tvlUsd === null ? null : tvlUsd * part });
        expect(share).to.equal(null);
      }
    }
  });

  itThorough("/provider-summary adds up a wallet whose every position has a price", async () => {
    // The last account has nothing but what the first provider gave it, of the two pools of stable and of AERO.
    const wallet = chain.accounts.at(-1) as Address;
    const params = { chain_id: 8453, wallet_address: wallet } as const;
    const [row] = (await rowsOf(dexaProviderSummary, dexaProviderSummaryHandler(deps), params)) as [Row];
    const active = (await holdingsOf(wallet)).filter(({ balance, staked }) => balance + staked > 0n);
    expect(active).to.have.length(2);
    const values = active.map(({ tvlUsd, balance, staked, totalSupply }) => ({
      heldUsd: ((tvlUsd as number) * Number(balance)) / Number(totalSupply),
      stakedUsd: ((tvlUsd as number) * Number(staked)) / Number(totalSupply),
    }));
    const usd = values.map(({ heldUsd, stakedUsd }) => heldUsd + stakedUsd);
    const totalUsd = usd.reduce((sum, value) => sum + value, 0);
    const expected: Record<string, number | null> = {
      totalValueLockedUsd: totalUsd,
      concentrationIndex: usd.reduce((sum, value) => sum + (value / totalUsd) ** 2, 0),
    };
    for (const days of [7, 30]) {
      const [from, to] = [
        await blockBefore(chain, midnight - days * DAY),
        await blockBefore(chain, midnight),
      ];
      let fees = 0;
      let income = 0;
      for (const [i, { pool, tvlUsd }] of active.entries()) {
        const [first, last] = await Promise.all([
          chainEarned(chain, { pool, owner: wallet, block: from }),
          chainEarned(chain, { pool, owner: wallet, block: to }),
        ]);
        const [price0, price1] = [
          await priceAt(pool.token0.address, head),
          await priceAt(pool.token1.address, head),
        ] as [number, number];
        fees += whole(last[0] - first[0], pool.token0.decimals) * price0;
        fees += whole(last[1] - first[1], pool.token1.decimals) * price1;
        const { feesUsd } = sumOf(pool, midnight - days * DAY, midnight);
        const rewardApr = (await chainRewardApr(chain, { pool, priceAt, head })) as number;
        const { heldUsd, stakedUsd } = values[i] as (typeof values)[number];
        income += heldUsd * (feeAprOf(feesUsd, { days, tvlUsd }) as number) + stakedUsd * rewardApr;
      }
      expect(fees).to.be.greaterThan(0.001);
      expected[`totalFeesEarned${days}d`] = fees;
      expected[`averageApr${days}dWeighted`] = income / totalUsd;
    }
    expectNear(row, expected);
    expect(row.activePositionCount).to.equal(3);
    const moved = (await chain.aerodrome.events()).filter(
      (event) => event.eventName === "Transfer" && event.args.to.toLowerCase() === wallet,
    );
    const { timestamp } = await chain.header(Number(moved[0]?.blockNumber));
    expect(row.firstPositionTimestamp).to.equal(isoOf(timestamp));
    const exposure = row.tokenExposure as [string, string, number, number, number][];
    expect(exposure.reduce((sum, [, , , , share]) => sum + share, 0)).to.be.closeTo(1, 1e-9);
    expect(exposure.reduce((sum, [, , , value]) => sum + value, 0)).to.be.closeTo(totalUsd, totalUsd * 1e-9);
  });

  // Last: it moves the head.
  it("/pools after reorgs equals one that never saw the removed blocks", async () => {
    const all = { chain_id: 8453, limit: 100, offset: 0 } as const;
    const handler = dexaPoolsHandler(deps);
    const list = (options = handler) => rowsOf(dexaPools, options, all);
    let before = await list();
    for (const depth of [1, 4, 7]) {
      await mineAerodromeBlocks(chain, { blocks: 4, seed: depth });
      await ingest.catchUp();
      await list();
      await chain.reorg(depth, { transactions: aerodromeTransactions(chain, depth) });
      await ingest.catchUp();
      const now = await list();
      expect(now).to.deep.equal(await list(dexaPoolsHandler(deps)));
      expect(now).not.to.deep.equal(before);
      before = now;
    }
  });

  type Held = Awaited<ReturnType<typeof holdingsOf>>[number];

  /** By the pools' and gauges' own getters. */
  async function holdingsOf(wallet: Address) {
    const { aerodrome } = chain;
    return Promise.all(
      aerodrome.pools.map(async (pool) => ({
        pool,
        balance: await aerodrome.lpBalance(pool.address, wallet, head),
        staked: pool.gauge === undefined ? 0n : await aerodrome.staked(pool.gauge, wallet, head),
        totalSupply: await aerodrome.totalSupply(pool.address, head),
        tvlUsd: await chainTvl(chain, { pool, priceAt, head }),
      })),
    );
  }
});

function expectNear(row: Row, expected: Record<string, number | null>): void {
  for (const [name, value] of Object.entries(expected)) {
    if (value === null || value === 0) expect(row[name], name).to.equal(value);
    else expect(row[name], name).to.be.closeTo(value, Math.max(Math.abs(value) * NEAR, 1e-6));
  }
}

function isoOf(time: number): string {
  return `${new Date(time * 1_000).toISOString().slice(0, 19)}+00:00`;
}

function rawOf(cell: Cell | undefined, decimals: number): bigint {
  const [digits = "", fraction = ""] = `${cell}`.split(".");
  return BigInt(digits + fraction.padEnd(decimals, "0"));
}

/** Other ones for the blocks that are replaced, two a block. */
function aerodromeTransactions(chain: TestChain, depth: number) {
  return chain.aerodrome
    .randomTransactions(100 + depth, 2 * depth)
    .map((transaction, i) => [transaction, i >> 1] as const);
}
