import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import { INTERVAL_SECONDS, INTERVALS, type Interval } from "../../shared/contract/candle-params.ts";
import type { Cell } from "../../shared/contract/column.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { ohlcvToken } from "../contract.ts";
import { queryEndpoint } from "./ask.ts";
import { type Candle, foldTrades, startOf } from "./fold-trades.ts";
import { MINTS } from "./random-chain.ts";
import { world as anyWorld, DAY, percent, RUNS, withIndexedWorld } from "./random-world.ts";

function expectCandles(rows: readonly (readonly Cell[])[], expected: readonly [number, Candle][]): void {
  const cells = expected.map(([start, { open, high, low, close, volumeUsd, volumeToken, trades }]) => [
    ...[open, high, low, close, volumeUsd, volumeToken, start, trades],
  ]);
  const found = rows.map((row) => row.filter((_, column) => column !== 7));
  const exact = (row: readonly Cell[]) => row.filter((_, column) => column !== 4 && column !== 5);
  expect(found.map(exact)).to.deep.equal(cells.map(exact));
  found.forEach((row, i) => {
    const [usd, token] = [cells[i]?.[4] as number, cells[i]?.[5] as number];
    // Multiples of 2^-20 are added exactly below 2^33; other sums of floats depend on their order.
    if (usd < 2 ** 33) expect(row[4]).to.equal(usd);
    expect(row[4]).to.be.closeTo(usd, usd * 1e-12);
    expect(row[5]).to.be.closeTo(token, token * 1e-12);
  });
}

/** Candles of tokens with a multiplier: ui-amounts.test.ts. */
const world = anyWorld.map((each) => ({
  ...each,
  described: each.described === null ? null : { ...each.described, extensions: {} },
}));

/** Of one world, compared with their parts. */
const MOST_CANDLES = 40;

describeWithChain("candles over random chains", () => {
  const question = fc.record({
    token_address: fc.constantFrom(...MINTS),
    interval: fc.constantFrom(...INTERVALS),
    from: percent,
    candles: fc.integer({ min: 1, max: 1_000 }),
  });

  it("are those of the trades, in each of the 13 intervals", async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.array(question, { minLength: 8 }), async (sample, questions) => {
        await withIndexedWorld(sample, async ({ handlers, index, reference }) => {
          const { fromTime, fromSlot } = index.checkpoint;
          for (const { token_address, interval, from, candles } of questions) {
            const after = fromTime - DAY + Math.floor(from * (reference.headTime - fromTime + 2 * DAY));
            const before = after + candles * INTERVAL_SECONDS[interval];
            const query = { token_address, interval, after_time: after, before_time: before };
            const { rows, version } = await queryEndpoint(handlers, { endpoint: ohlcvToken, query });
            const all = foldTrades(reference, token_address, interval);
            const isAsked = ([start]: [number, unknown]) =>
              start >= after && start < before && (sample.isWhole || start > fromTime);
            const expected = [...all].filter(isAsked).flatMap(([start, candle]): [number, Candle][] => {
              return candle === "several contests" ? [] : [[start, candle]];
            });
            expect(rows.every((row) => row[7] === interval)).to.equal(true);
            const told = rows.filter((row) => all.get(row[6] as number) !== "several contests");
            expectCandles(told, expected);
            expect(version?.fromBlock).to.equal(fromSlot);
          }
        });
      }),
      RUNS,
    );
  });

  it("agree: a coarse one is its fine ones", async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.constantFrom(...INTERVALS), async (sample, interval) => {
        await withIndexedWorld(sample, async ({ handlers, reference, index }) => {
          const { fromTime } = index.checkpoint;
          const read = async (each: Interval, [after_time, before_time]: readonly [number, number]) => {
            const query = { token_address: MINTS[1], interval: each, after_time, before_time };
            return (await queryEndpoint(handlers, { endpoint: ohlcvToken, query })).rows;
          };
          const seconds = INTERVAL_SECONDS[interval];
          const first = startOf(fromTime, interval) + seconds;
          const count = Math.max(0, Math.floor((reference.headTime - first) / seconds) + 1);
          // Minutes of days are thousands: some of them, from the first to the last.
          const step = Math.max(1, Math.floor(count / MOST_CANDLES)) * seconds;
          for (let start = first; start <= reference.headTime; start += step) {
            const coarse = await read(interval, [start, start + seconds]);
            const hours = INTERVALS.filter((each) => seconds % INTERVAL_SECONDS[each] === 0);
            for (const fine of hours.filter((each) => seconds / INTERVAL_SECONDS[each] <= 1_000)) {
              const parts = await read(fine, [start, start + seconds]);
              if (parts.length === 0) {
                expect(coarse).to.deep.equal([]);
                continue;
              }
              const numbers = (column: number) => parts.map((row) => row[column] as number);
              const sum = (column: number) => numbers(column).reduce((total, each) => total + each, 0);
              expectCandles(coarse, [
                [
                  start,
                  {
                    open: parts[0]?.[0] as number,
                    high: Math.max(...numbers(1)),
                    low: Math.min(...numbers(2)),
                    close: parts.at(-1)?.[3] as number,
                    volumeUsd: sum(4),
                    volumeToken: sum(5),
                    trades: sum(8),
                  },
                ],
              ]);
            }
          }
        });
      }),
      RUNS,
    );
  });
});
