import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Hex } from "../../../../../shared/evm/port.ts";
import type { Store } from "../../../../../shared/storage/port.ts";
import { depsOf, rowsOf } from "../../../../test/kit/answers.ts";
import { openTestStore } from "../../../../test/kit/rows.ts";
import { expectedSum, whole } from "../../../../test/v2/v2-expectation.ts";
import { HEAD, LAST_HOUR, type Sample, sampleWorld } from "../../../../test/v2/v2-sample.ts";
import { HOUR, type WorldPool } from "../../../../test/v2/v2-world.ts";
import { endpoint } from "./pool-volume.endpoint.ts";
import { dexaPoolVolumeHandler } from "./pool-volume.handler.ts";

const START = LAST_HOUR - 23 * HOUR;
const END = LAST_HOUR + HOUR;

describe("/evm/dexa/v2/pool-volume", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  async function rowOf(sample: Sample, pool: WorldPool) {
    await sample.world.write(store);
    const handler = dexaPoolVolumeHandler(depsOf(store, [sample.world.chain]));
    const pool_address = pool.row.poolAddress as Hex;
    const rows = await rowsOf(endpoint, handler, { chain_id: 8453, pool_address });
    expect(rows).to.have.length(1);
    return rows[0] as Record<string, unknown>;
  }
  const swapsOf = ({ world }: Sample, pool: WorldPool) => world.swaps.filter((swap) => swap.pool === pool);

  /** A busy day: more swaps than are listed, some of equal value. */
  function busySample(indexedFrom?: number): Sample {
    const sample = sampleWorld(indexedFrom === undefined ? {} : { indexedFrom });
    const swaps = swapsOf(sample, sample.weth);
    for (let i = 0; i < 40; i++) {
      const like = swaps[i % 7] as (typeof swaps)[number];
      sample.world.swaps.push({ ...like, time: START + i * 2_000, valueUsd: 500 + (i % 9) / 4 });
    }
    return sample;
  }

  it("adds up 24 hours, the head's own the last of them", async () => {
    const sample = busySample();
    for (const pool of [sample.weth, sample.usdt]) {
      const swaps = swapsOf(sample, pool);
      const day = expectedSum(swaps, START, END);
      const before = expectedSum(swaps, START - 24 * HOUR, START);
      const forward = day.swaps.filter(({ amount0 }) => amount0 > 0n);
      const usdOf = (some: typeof day.swaps) => some.reduce((sum, { valueUsd }) => sum + (valueUsd ?? 0), 0);
      const { volumeChange, averageSwapSizeUsd, volumeToken0, volumeToken1, largestSwaps, ...rest } =
        await rowOf(sample, pool);
      expect(rest).to.deep.equal({
        poolId: pool.row.poolAddress,
        timeframeAt: "24h",
        volumeUsd: day.volumeUsd,
        swapCount: day.count,
        volumeByHour: Array.from({ length: 24 }, (_, i) => {
          const start = START + i * HOUR;
          const hour = expectedSum(swaps, start, start + HOUR);
          return [start, hour.volumeUsd, hour.count];
        }),
        volumeByToken: [
          ["token0_to_token1", usdOf(forward)],
          ["token1_to_token0", usdOf(day.swaps) - usdOf(forward)],
        ],
        updatedAt: HEAD,
      });
      expect(volumeChange).to.be.closeTo((day.volumeUsd as number) / (before.volumeUsd as number) - 1, 1e-12);
      expect(averageSwapSizeUsd).to.be.closeTo((day.volumeUsd as number) / day.count, 1e-9);
      for (const [cell, raw, { decimals }] of [
        [volumeToken0, day.volume0, pool.token0],
        [volumeToken1, day.volume1, pool.token1],
      ] as const) {
        expect(cell).to.match(/^\d+(\.\d*[1-9])?$/);
        const [digits = "", fraction = ""] = (cell as string).split(".");
        expect(BigInt(digits + fraction.padEnd(decimals, "0")), "exact").to.equal(raw);
        expect(Number(cell)).to.be.closeTo(whole(raw, decimals), 1e-6);
      }
      const byValue = [...day.swaps].sort(
        (a, b) => (b.valueUsd as number) - (a.valueUsd as number) || a.time - b.time,
      );
      expect((largestSwaps as unknown[][]).map(([, ...cells]) => cells)).to.deep.equal(
        byValue
          .slice(0, 10)
          .map(({ time, valueUsd, amount0 }) => [
            time,
            valueUsd,
            amount0 > 0n ? "token0_to_token1" : "token1_to_token0",
          ]),
      );
      const hashes = (largestSwaps as unknown[][]).map(([txHash]) => txHash);
      expect(new Set(hashes).size).to.equal(hashes.length);
      for (const txHash of hashes) expect(txHash).to.match(/^0x[0-9a-f]{64}$/);
    }
  });

  it("has no USD where a token has no price, but amounts and counts", async () => {
    const sample = sampleWorld();
    const row = await rowOf(sample, sample.dust);
    const nulls = Object.keys(row).filter((name) => row[name] === null);
    expect(nulls).to.deep.equal(["volumeUsd", "volumeChange", "averageSwapSizeUsd"]);
    const day = expectedSum(swapsOf(sample, sample.dust), START, END);
    expect(row.swapCount).to.equal(day.count);
    for (const [start, volumeUsd, count] of row.volumeByHour as [number, number | null, number][]) {
      const hour = expectedSum(day.swaps, start, start + HOUR);
      expect([volumeUsd, count]).to.deep.equal([hour.count === 0 ? 0 : null, hour.count]);
    }
    expect(row.volumeByToken).to.deep.equal([
      ["token0_to_token1", null],
      ["token1_to_token0", null],
    ]);
    const listed = row.largestSwaps as unknown[][];
    expect(listed.map(([, time, valueUsd]) => [time, valueUsd])).to.deep.equal(
      [...day.swaps]
        .sort((a, b) => a.time - b.time)
        .slice(0, 10)
        .map(({ time }) => [time, null]),
    );
  });

  it("has no sums that would reach back before the first indexed block", async () => {
    const sample = busySample(START + 3 * HOUR + 1);
    const row = await rowOf(sample, sample.weth);
    expect(row).to.include({
      ...{ volumeUsd: null, volumeToken0: null, volumeToken1: null, volumeChange: null },
      ...{ swapCount: null, averageSwapSizeUsd: null },
    });
    const hours = row.volumeByHour as unknown[][];
    expect(hours.slice(0, 4).map(([, ...cells]) => cells)).to.deep.equal(Array(4).fill([null, null]));
    const swaps = swapsOf(sample, sample.weth);
    const fifth = expectedSum(swaps, START + 4 * HOUR, START + 5 * HOUR);
    expect(hours[4]).to.deep.equal([START + 4 * HOUR, fifth.volumeUsd, fifth.count]);
    expect(row.largestSwaps).to.deep.equal([]);
    expect((row.volumeByToken as unknown[][]).map(([, usd]) => usd)).to.deep.equal([null, null]);
    const young = await rowOf(sample, sample.usdt);
    expect(young.swapCount).to.equal(swapsOf(sample, sample.usdt).length);
    expect(young.volumeChange, "nothing before to compare with").to.equal(null);
  });

  it("has the change only where both days are covered", async () => {
    const covered = busySample(START);
    expect((await rowOf(covered, covered.weth)).volumeUsd).to.be.a("number");
    expect((await rowOf(covered, covered.weth)).volumeChange).to.equal(null);
  });
});
