import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { trustedPrice } from "../../shared/pricing/median.ts";
import { put } from "../../shared/storage/port.ts";
import { EMPTY_V2_STATE, writeV2State } from "../protocols/aerodrome-v2/state.ts";
import { writeIntegers } from "../protocols/integers.ts";
import { EMPTY_STATE, writeState } from "../protocols/v3/state.ts";
import { COLLECTIONS, poolEvents, type RollupRow, rollups } from "../store/collections.ts";
import { address, CHAIN_ID, checkpointRow, eventRow, openTestStore, poolRow } from "../test/kit/rows.ts";
import { earnedSince } from "./check-positions.ts";
import { longerOf, minutesOf } from "./check-rollups.ts";
import { nextV3State, tickTravelOf } from "./check-states.ts";
import { comparePreviousMinutes, comparePreviousUsers, lastSeenIn } from "./check-users.ts";
import { largeSwapsOf, v2DaysOf, v2HoursOf } from "./check-v2-rollups.ts";
import { usdOf } from "./check-values.ts";
import { compareRows } from "./compare-rows.ts";
import { isDifference } from "./finding.ts";
import { createPick } from "./sample.ts";
import { type ChainScope, SOME, sampleRows } from "./scope.ts";
import { trustedPriceAt } from "./trusted-price.ts";
import { wrongValue } from "./wrong-value.ts";

const E18 = 10n ** 18n;
/** A whole hour, not the last one of its day. */
const HOUR_START = 1_699_999_200;
const POOL = poolRow();
const V2_POOL = poolRow({ protocol: "aerodrome-v2", fee: 3_000, tickSpacing: 0 });

const swap = (row: Parameters<typeof eventRow>[0] = {}) =>
  eventRow({
    kind: "swap",
    poolAddress: POOL.poolAddress,
    amounts: writeIntegers([E18, -3_000n * 10n ** 6n]),
    state: writeState({ ...EMPTY_STATE, sqrtPriceX96: 2n ** 96n, tick: 7 }),
    price0Usd: 3_000,
    price1Usd: 1,
    ...row,
  });
const v2Swap = (row: Parameters<typeof eventRow>[0] = {}) =>
  swap({
    state: writeV2State({ ...EMPTY_V2_STATE, swapFee0: 3n * 10n ** 15n, totalSupply: 2n * E18 }),
    ...row,
  });

describe("audit of USD", () => {
  it("has the mean of both sides, or the one that is priced, and the fee of what came in", () => {
    expect(usdOf(POOL, swap())).to.deep.equal({ valueUsd: 3_000, feeUsd: 9 });
    expect(usdOf(POOL, swap({ price1Usd: 0.5 }))).to.deep.equal({ valueUsd: 2_250, feeUsd: 9 });
    expect(usdOf(POOL, swap({ price0Usd: null }))).to.deep.equal({ valueUsd: 3_000, feeUsd: 9 });
    const unpriced = swap({ price0Usd: null, price1Usd: null });
    expect(usdOf(POOL, unpriced)).to.deep.equal({ valueUsd: null, feeUsd: null });
    expect(usdOf(POOL, swap({ kind: "mint" }))).to.deep.equal({ valueUsd: null, feeUsd: null });
  });

  it("leaves the protocol its share: a quarter of token0's fees, none of token1's", () => {
    const state = writeState({ ...EMPTY_STATE, sqrtPriceX96: 2n ** 96n, feeProtocol: 4 });
    expect(usdOf(POOL, swap({ state })).feeUsd).to.equal(6.75);
    const other = writeIntegers([-E18, 3_000n * 10n ** 6n]);
    expect(usdOf(POOL, swap({ state, amounts: other })).feeUsd).to.equal(9);
  });

  it("has no fees of Slipstream, leaves PancakeSwap's to its logs, and needs both prices for v2", () => {
    expect(usdOf(poolRow({ protocol: "slipstream" }), swap()).feeUsd).to.equal(null);
    expect(usdOf(poolRow({ protocol: "pancake-v3" }), swap())).to.deep.equal({
      valueUsd: 3_000,
      feeUsd: undefined,
    });
    expect(usdOf(V2_POOL, v2Swap())).to.deep.equal({ valueUsd: 3_000, feeUsd: 9 });
    expect(usdOf(V2_POOL, v2Swap({ price1Usd: null }))).to.deep.equal({ valueUsd: null, feeUsd: null });
  });
});

describe("audit of windows", () => {
  const rows = [
    swap({ time: HOUR_START, valueUsd: 10, feeUsd: 1, tickTravel: 2 }),
    swap({ time: HOUR_START + 59, valueUsd: null, feeUsd: null, tickTravel: 3 }),
    eventRow({ kind: "mint", time: HOUR_START + 59 }),
    swap({ time: HOUR_START + 60, valueUsd: 5, feeUsd: 0.5, tickTravel: 4 }),
    swap({ time: HOUR_START + 3_600, valueUsd: 1, feeUsd: 0, tickTravel: 0 }),
  ];
  const toRow = (sums: ReturnType<typeof minutesOf>[number]): RollupRow => ({ ...sums, lastSeenUsers: 1 });

  it("sums swaps to minutes, minutes to hours, hours to days", () => {
    const minutes = minutesOf(POOL, rows);
    expect(minutes.map(({ start, swapCount }) => [start - HOUR_START, swapCount])).to.deep.equal([
      [0, 2],
      [60, 1],
      [3_600, 1],
    ]);
    expect(minutes[0]).to.include({
      volumeUsd: 10,
      feesUsd: 1,
      unpricedCount: 1,
      unpricedFeeCount: 1,
      tickTravel: 5,
    });
    // sqrtPriceX96 of 2^96 is 1 raw unit for 1: 10^(18 − 6) whole tokens.
    expect(minutes[0]?.closePrice).to.equal(1e12);
    const hours = longerOf(POOL, minutes.map(toRow), 3_600).map((sums) => sums as RollupRow);
    expect(
      hours.map(({ lastSeenUsers, start, volumeUsd }) => [start - HOUR_START, volumeUsd, lastSeenUsers]),
    ).to.deep.equal([
      [0, 15, 2],
      [3_600, 1, 1],
    ]);
    expect(longerOf(POOL, hours, 86_400)).to.have.length(1);
    expect(longerOf(POOL, hours, 86_400)[0]).to.include({
      swapCount: 4,
      volumeUsd: 16,
      lastSeenUsers: 3,
      tickTravel: 9,
    });
  });

  it("sums v2 swaps by direction, with the growth of the fee index", () => {
    const back = v2Swap({
      time: HOUR_START + 1,
      amounts: writeIntegers([-5n, 7n]),
      valueUsd: 2,
      feeUsd: null,
    });
    const hours = v2HoursOf(V2_POOL, [v2Swap({ time: HOUR_START, valueUsd: 10, feeUsd: 1 }), back]);
    expect(hours).to.have.length(1);
    expect(hours[0]).to.include({
      swapCount: 2,
      unpricedCount: 1,
      zeroForOneUsd: 10,
      oneForZeroUsd: 2,
      feesUsd: 1,
    });
    const growth = 2n * ((3n * 10n ** 15n) / 2n);
    const volumes = [E18 + 5n, 3_000n * 10n ** 6n + 7n];
    expect(hours[0]?.amounts).to.equal(writeIntegers([...volumes, 6n * 10n ** 15n, 0n, growth, 0n]));
    expect(v2DaysOf(V2_POOL, hours)[0]).to.include({
      span: 86_400,
      swapCount: 2,
      amounts: hours[0]?.amounts,
    });
  });

  it("has the ten largest v2 swaps of an hour, unpriced ones last, the earlier of two that are equal first", () => {
    const values = [1, null, 5, 5, 2, 3, 4, 6, 7, 8, 9];
    const list = values.map((valueUsd, i) => v2Swap({ time: HOUR_START, blockNumber: i, valueUsd }));
    const [hour] = largeSwapsOf(V2_POOL, list);
    const swaps = hour?.swaps as { valueUsd: number; blockNumber: number }[];
    expect(swaps.map(({ valueUsd }) => valueUsd)).to.deep.equal([9, 8, 7, 6, 5, 5, 4, 3, 2, 1]);
    expect(swaps.slice(4, 6).map(({ blockNumber }) => blockNumber)).to.deep.equal([2, 3]);
  });

  it("counts a user in the minute of the last swap", () => {
    const last = new Map<string, number>();
    const own = ["ann", "bob", "ann"].map((sender, i) =>
      swap({ sender, time: HOUR_START + 60 * i, previousMinute: i === 2 ? HOUR_START : null }),
    );
    expect(comparePreviousMinutes(POOL, own, last).filter(isDifference)).to.deep.equal([]);
    expect([...lastSeenIn(last)]).to.deep.equal([
      [HOUR_START + 120, 1],
      [HOUR_START + 60, 1],
    ]);
    const wrong = own.map((row) => ({ ...row, previousMinute: 1 }));
    expect(comparePreviousMinutes(POOL, wrong, new Map()).filter(isDifference)).to.have.length(3);
  });

  it("counts who was seen where a swap takes its sender away from", () => {
    const at = (sender: string, time: number, previousUsers: string | null) =>
      swap({ sender, time: HOUR_START + time, previousUsers });
    const own = [
      at("ann", 0, null),
      at("bob", 1, null),
      at("ann", 2, null),
      at("ann", 60, "2"),
      at("bob", 3_600, "1 2"),
      at("ann", 3_700, "1 1"),
    ];
    const differences = (rows: typeof own, from?: number) =>
      comparePreviousUsers(
        POOL,
        rows,
        { last: new Map(), counts: new Map() },
        from === undefined ? undefined : () => from,
      )
        .filter(isDifference)
        .map(({ expected }) => expected);
    expect(differences(own)).to.deep.equal([]);
    expect(
      differences(own.map((row) => ({ ...row, previousUsers: row.previousUsers && "7" }))),
    ).to.deep.equal(["2", "1 2", "1 1"]);
    expect(differences(own.map((row) => ({ ...row, previousUsers: "0" })))).to.have.length(6);
    // Of a version that did not tell, and of buckets that are not whole.
    expect(differences(own.map((row) => ({ ...row, previousUsers: null })))).to.deep.equal([]);
    const other = own.map((row) => ({
      ...row,
      previousUsers: row.previousUsers?.replaceAll("2", "5") ?? null,
    }));
    expect(differences(other, HOUR_START + 3_600)).to.deep.equal([]);
    expect(differences(other, 0)).to.deep.equal(["2", "1 2"]);
  });
});

describe("audit of states and prices", () => {
  it("follows reserves, and lets an event change no more than its kind may", () => {
    const before = { ...EMPTY_STATE, sqrtPriceX96: 5n, liquidity: 9n, tick: 3, reserve0: 10n, reserve1: 20n };
    const state = writeState({ ...before, sqrtPriceX96: 6n, liquidity: 8n, reserve0: 1n });
    const amounts = writeIntegers([2n, -3n]);
    const moved = { ...before, reserve0: 12n, reserve1: 17n };
    expect(nextV3State(before, { kind: "collect", amounts, state })).to.equal(writeState(moved));
    expect(nextV3State(before, { kind: "mint", amounts, state })).to.equal(
      writeState({ ...moved, liquidity: 8n }),
    );
    expect(nextV3State(before, { kind: "swap", amounts, state })).to.equal(
      writeState({ ...moved, sqrtPriceX96: 6n, liquidity: 8n }),
    );
    expect(tickTravelOf(POOL, swap(), writeState(before))).to.equal(4);
    expect(tickTravelOf(POOL, swap(), writeState(EMPTY_STATE))).to.equal(0);
  });

  it("has the earnings of a balance by the rise of the indexes", () => {
    const held = { balance: 3n * E18, staked: 9n, index0: 1n, index1: 5n, earned0: 100n, earned1: 0n };
    expect(earnedSince(held, { index0: 11n, index1: 5n })).to.deep.equal([130n, 0n]);
  });

  it("trusts the same prices as the index, by counting seconds instead of weighing them", () => {
    const points = fc
      .array(fc.record({ age: fc.nat(600), price: fc.double({ min: 0.5, max: 2, noNaN: true }) }), {
        minLength: 1,
      })
      .map((list) => {
        const byTime = new Map(list.map(({ age, price }) => [1_000_000 - age, price]));
        return [...byTime].sort(([a], [b]) => a - b).map(([time, price]) => ({ time, price }));
      });
    fc.assert(
      fc.property(points, (list) => {
        expect(trustedPriceAt(list, 1_000_000)).to.equal(trustedPrice(list, 1_000_000));
      }),
    );
    expect(trustedPriceAt([], 1_000_000)).to.equal(undefined);
  });
});

describe("audit of rows", () => {
  const key = { chainId: CHAIN_ID, poolAddress: address(1), span: 60 };
  const compare = (stored: readonly Partial<RollupRow>[], expected: readonly Partial<RollupRow>[]) =>
    compareRows({ collection: rollups, pool: address(1), stored, expected })
      .filter(isDifference)
      .map(({ at, field }) => `${field} ${at}`);

  it("finds missing rows, rows too many, and values", () => {
    const [a, b] = [
      { ...key, start: 60, swapCount: 1 },
      { ...key, start: 120, swapCount: 1 },
    ];
    expect(compare([a, b], [b, a])).to.deep.equal([]);
    expect(compare([a], [a, b])).to.deep.equal(["rollups (row) span 60, start 120"]);
    expect(compare([a, b], [a])).to.deep.equal(["rollups (row) span 60, start 120"]);
    expect(compare([a], [{ ...a, swapCount: 2 }])).to.deep.equal(["rollups.swapCount span 60, start 60"]);
  });

  it("lets floats differ by rounding, and integers not at all", () => {
    const row = { ...key, start: 60, volumeUsd: 1e9, swapCount: 1 };
    expect(compare([row], [{ ...row, volumeUsd: 1e9 + 1e-3 }])).to.deep.equal([]);
    expect(compare([row], [{ ...row, volumeUsd: 1e9 + 10 }])).to.have.length(1);
    const stored = [eventRow({ time: 1_700_000_000 })];
    const expected = [{ ...eventRow({ time: 1_700_000_001 }) }];
    const findings = compareRows({ collection: poolEvents, pool: address(1), stored, expected, step: 1 });
    expect(findings.filter(isDifference).map(({ field }) => field)).to.deep.equal(["pool_events.time"]);
  });
});

describe("sampled rows", () => {
  it("are random ones from all over the index, or all where there are few", async () => {
    const store = await openTestStore();
    const rows = Array.from({ length: 500 }, (_, i) => eventRow({ blockNumber: 100 + i, logIndex: 0 }));
    await store.write([put(poolEvents, rows)]);
    const checkpoint = checkpointRow({ fromBlock: 100, blockNumber: 599 });
    const sampleOf = (size: number, seed: number) => {
      const sampling = { ...SOME, rows: size };
      const scope = { store, checkpoint, sampling, pick: createPick(seed) } as ChainScope;
      return sampleRows(scope, poolEvents, { filter: { chainId: CHAIN_ID }, by: "blockNumber" });
    };
    const blocks = (await sampleOf(50, 1)).map(({ blockNumber }) => blockNumber);
    expect(blocks).to.have.length(50);
    expect(Math.min(...blocks)).to.be.lessThan(200);
    expect(Math.max(...blocks)).to.be.greaterThan(500);
    expect((await sampleOf(50, 1)).map(({ blockNumber }) => blockNumber)).to.deep.equal(blocks);
    expect(await sampleOf(500, 1)).to.have.length(500);
    await store.close();
  });
});

describe("planted values", () => {
  it("are never the stored ones, and of the column's type", () => {
    const valueOfType = {
      text: fc.string(),
      hex: fc.uint8Array({ minLength: 1 }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`),
      int: fc.integer(),
      float: fc.double({ noNaN: true, min: -1e12, max: 1e12 }),
      bool: fc.boolean(),
      bigint: fc.bigInt({ min: 0n, max: 2n ** 255n }),
      json: fc.array(fc.nat(), { minLength: 1 }),
    };
    const pick = createPick(1);
    for (const collection of COLLECTIONS) {
      for (const [column, spec] of Object.entries(collection.fields)) {
        const type = spec.replace("?", "") as keyof typeof valueOfType;
        const isIntegers = ["state", "anchor", "position", "amounts", "previousUsers"].includes(column);
        const values = isIntegers
          ? fc.array(fc.bigInt(), { minLength: 1 }).map(writeIntegers)
          : valueOfType[type];
        const anyValue = spec.endsWith("?") ? fc.option(values as fc.Arbitrary<unknown>) : values;
        fc.assert(
          fc.property(anyValue as fc.Arbitrary<unknown>, (value) => {
            const bounds = { blockNumber: 2 ** 40, fromBlock: 2 ** 39 };
            const options = {
              collection,
              column,
              row: { [column]: value },
              checkpoint: checkpointRow(bounds),
              pick,
            };
            const wrong = wrongValue(options);
            expect(wrong).not.to.deep.equal(value);
            if (value !== null) expect(typeof wrong).to.equal(typeof value);
          }),
          { numRuns: 20 },
        );
      }
    }
  });
});
