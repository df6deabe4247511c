import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { anyHead, type ModelSwap, modelBuckets, swapsBefore } from "../test/kit/swap-model.ts";
import { SPANS } from "./bucket.ts";
import { totalsOfEdge } from "./edge.ts";
import {
  closeRangesAt,
  edgesAt,
  metricsOf,
  type PoolBuckets,
  type RangeMetrics,
  SUMMED_FIELDS,
  sumRangesAt,
} from "./pool-windows.ts";

const DAY = 86_400;
const YEAR = 365 * DAY;
/** [label, seconds, seconds between closes], as the interface promises them. */
const RANGES = [
  ["5 minute", 300, 60],
  ["1 hour", 3_600, 60],
  ["1 day", DAY, 3_600],
  ["1 week", 7 * DAY, 3_600],
  ["1 month", 30 * DAY, DAY],
  ["1 year", YEAR, DAY],
] as const;
const COVERED = { createdAt: 1, indexedFrom: 0 };

/** (head − seconds, head], by its first second and the one after its last. */
const windowOf = (head: number, seconds: number) => ({ start: head - seconds + 1, end: head + 1 });
/** First close of a range: the start of the bucket that the window begins in. */
const closesFrom = (head: number, seconds: number, every: number) =>
  Math.floor(windowOf(head, seconds).start / every) * every;

/** What the service reads at a head of a store that holds these swaps' buckets, and the swaps themselves since a time. */
function bucketsAt(head: number, swaps: readonly ModelSwap[], storedFrom = 0): PoolBuckets {
  const bySpan = new Map(SPANS.map((span) => [span, modelBuckets(swaps, span)] as const));
  const bucketsIn = ({ span, start, end }: { span: (typeof SPANS)[number]; start: number; end: number }) =>
    (bySpan.get(span) ?? []).filter((bucket) => bucket.start >= start && bucket.start < end);
  const sums = sumRangesAt(head).map((range) => {
    const totals = {
      swapCount: 0,
      volumeUsd: 0,
      feesUsd: 0,
      unpricedCount: 0,
      unpricedFeeCount: 0,
      tickTravel: 0,
      lastSeenUsers: 0,
    };
    for (const bucket of bucketsIn(range)) {
      for (const field of SUMMED_FIELDS) totals[field] += bucket[field];
    }
    return { ...range, totals };
  });
  const closes = closeRangesAt(head).map((range) => {
    const before = swaps.filter(({ time }) => time < range.start).at(-1)?.closePrice;
    const own = bucketsIn(range).map(({ start, closePrice }) => ({ start, closePrice }));
    return [range.span, { before, closes: own }] as const;
  });
  const edges = edgesAt(head).flatMap((edge) => {
    const isIn = (time: number) => time >= edge.minute && time < edge.end;
    const lastTimes = new Map(swaps.map(({ user, time }) => [user, time]));
    const totals = totalsOfEdge(edge, {
      bucket: bySpan.get(60)?.find(({ start }) => start === edge.minute),
      swaps: swaps
        .filter(({ time }) => isIn(time) && time >= storedFrom)
        .map(({ user, ...swap }) => ({ ...swap, sender: user })),
      lastUsers: new Set([...lastTimes].flatMap(([user, time]) => (isIn(time) ? [user] : []))),
    });
    return totals === undefined ? [] : [[edge.start, totals] as const];
  });
  return { sums, edges: new Map(edges), coarse: new Set(), closes: new Map(closes) };
}

function sumOrNull(values: readonly (number | null)[]): number | null {
  return values.includes(null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/** Everything of the raw list of swaps; `startOf` where a range need not begin with its first second. */
function bruteForce(
  head: number,
  swaps: readonly ModelSwap[],
  { tvlUsd, startOf = (first) => first }: { tvlUsd: number | null; startOf?: (first: number) => number },
): RangeMetrics[] {
  return RANGES.map(([, seconds, every]) => {
    const { start: first, end } = windowOf(head, seconds);
    const start = startOf(first);
    const own = swaps.filter(({ time }) => time >= start && time < end);
    const volume = sumOrNull(own.map(({ valueUsd }) => valueUsd));
    const fees = sumOrNull(own.map(({ feeUsd }) => feeUsd));
    const travel = own.reduce((sum, { tickTravel }) => sum + tickTravel, 0);
    const closes: number[] = [];
    for (let at = closesFrom(head, seconds, every); at < end; at += every) {
      const last = swaps.filter(({ time }) => time < at + every).at(-1);
      if (last !== undefined) closes.push(last.closePrice);
    }
    const returns = closes.slice(1).map((close, i) => Math.log(close / (closes[i] as number)));
    return {
      swapVolumeUsd: volume,
      feesUsd: fees,
      feeApr: fees === null || tvlUsd === null ? null : ((fees / tvlUsd) * YEAR) / (end - start),
      priceVolatilityPct: closes.length < 3 ? null : 100 * deviationOf(returns),
      meanAdjustedVolatilityPct: closes.length < 3 ? null : (100 * deviationOf(closes)) / meanOf(closes),
      tickPressurePer1mUsd: volume === null || volume === 0 ? null : (travel * 1e6) / volume,
      swapCount: own.length,
      uniqueUserCount: new Set(own.map(({ user }) => user)).size,
    };
  });
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const deviationOf = (values: readonly number[]) =>
  Math.sqrt(values.reduce((sum, value) => sum + (value - meanOf(values)) ** 2, 0) / (values.length - 1));

function expectSame(actual: readonly RangeMetrics[], expected: readonly RangeMetrics[]): void {
  expect(actual).to.have.length(expected.length);
  for (const [i, range] of expected.entries()) {
    for (const [name, value] of Object.entries(range) as [keyof RangeMetrics, number | null][]) {
      const found = actual[i]?.[name];
      const title = `${name} of ${RANGES[i]?.[0]}`;
      if (value === null || !name.endsWith("Pct")) expect(found, title).to.equal(value);
      else expect(found, title).to.be.closeTo(value, 1e-9 * Math.max(1, value));
    }
  }
}

const headAndSwaps = (unpriced: boolean) =>
  anyHead.chain((head) => fc.tuple(fc.constant(head), swapsBefore(head, { age: 400 * DAY, unpriced })));

describe("metricsOf", () => {
  it("equals a calculation over the raw list of swaps", () => {
    fc.assert(
      fc.property(
        headAndSwaps(false),
        fc.option(fc.double({ min: 1, max: 1e9, noNaN: true })),
        ([head, swaps], tvlUsd) => {
          const actual = metricsOf(bucketsAt(head, swaps), { headTime: head, coverage: COVERED, tvlUsd });
          expectSame(actual, bruteForce(head, swaps, { tvlUsd }));
        },
      ),
      { numRuns: 150 },
    );
  });

  it("has no USD numbers in ranges with a swap that has no price, and all others", () => {
    fc.assert(
      fc.property(headAndSwaps(true), ([head, swaps]) => {
        const actual = metricsOf(bucketsAt(head, swaps), {
          headTime: head,
          coverage: COVERED,
          tvlUsd: 1_000,
        });
        expectSame(actual, bruteForce(head, swaps, { tvlUsd: 1_000 }));
      }),
      { numRuns: 100 },
    );
  });

  it("begins a range with its first whole minute where swaps of the one before are not stored any more", () => {
    const tvlUsd = 1_000;
    const ages = fc.constantFrom(...RANGES.map(([, seconds]) => seconds));
    fc.assert(
      fc.property(
        headAndSwaps(true),
        ages,
        fc.integer({ min: -70, max: 70 }),
        ([head, swaps], age, shift) => {
          const storedFrom = head - age + shift;
          const startOf = (first: number) => {
            const minute = Math.floor(first / 60) * 60;
            const lacks = swaps.some(({ time }) => time >= minute && time < minute + 60 && time < storedFrom);
            return first === minute || !lacks ? first : minute + 60;
          };
          expectSame(
            metricsOf(bucketsAt(head, swaps, storedFrom), { headTime: head, coverage: COVERED, tvlUsd }),
            bruteForce(head, swaps, { tvlUsd, startOf }),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it("counts a swap from the window's first second to its last, and not one a second before", () => {
    fc.assert(
      fc.property(anyHead, fc.constantFrom(0, 1, 2, 3, 4, 5), (head, at) => {
        const { start } = windowOf(head, RANGES[at]?.[1] ?? 0);
        const countAt = (time: number) => {
          const swap = { time, user: "ann", valueUsd: 8, feeUsd: 1, tickTravel: 1, closePrice: 1 };
          const [range] = metricsOf(bucketsAt(head, [swap]), {
            headTime: head,
            coverage: COVERED,
            tvlUsd: 1,
          }).slice(at);
          expect(range?.swapVolumeUsd).to.equal(8 * (range?.swapCount ?? 0));
          expect(range?.uniqueUserCount).to.equal(range?.swapCount);
          return range?.swapCount;
        };
        expect(countAt(start - 1), "a second before").to.equal(0);
        expect(countAt(start), "the first second").to.equal(1);
        expect(countAt(head), "the head's second").to.equal(1);
      }),
      { numRuns: 300 },
    );
  });

  it("is null for ranges that begin before the first indexed block, unless the pool is younger", () => {
    const head = 1_700_000_000;
    const swaps = [{ time: head - 10, user: "ann", valueUsd: 1, feeUsd: 1, tickTravel: 1, closePrice: 1 }];
    const weekAgo = windowOf(head, 7 * DAY).start;
    const coveredRanges = (coverage: { createdAt: number; indexedFrom: number }) =>
      metricsOf(bucketsAt(head, swaps), { headTime: head, coverage, tvlUsd: 1 }).map((range) => {
        const values = Object.values(range);
        if (range.swapCount === null) expect(values).to.deep.equal(values.map(() => null));
        else expect(range).to.include({ swapCount: 1, uniqueUserCount: 1, swapVolumeUsd: 1 });
        return range.swapCount !== null;
      });
    const upToWeek = [true, true, true, true, false, false];
    const upToDay = [true, true, true, false, false, false];
    expect(coveredRanges({ createdAt: 0, indexedFrom: weekAgo })).to.deep.equal(upToWeek);
    expect(coveredRanges({ createdAt: 0, indexedFrom: weekAgo + 1 })).to.deep.equal(upToDay);
    expect(coveredRanges({ createdAt: weekAgo, indexedFrom: weekAgo + 1 })).to.deep.equal(upToDay);
    expect(coveredRanges({ createdAt: weekAgo + 1, indexedFrom: weekAgo + 1 })).to.deep.equal(
      upToWeek.map(() => true),
    );
    expect(coveredRanges({ createdAt: head, indexedFrom: weekAgo })).to.deep.equal(upToWeek.map(() => true));
  });

  it("has no fee APR without a TVL", () => {
    const head = 1_700_000_000;
    const swaps = [{ time: head, user: "ann", valueUsd: 300, feeUsd: 1, tickTravel: 1, closePrice: 1 }];
    const aprsAt = (tvlUsd: number | null) =>
      metricsOf(bucketsAt(head, swaps), { headTime: head, coverage: COVERED, tvlUsd }).map(
        ({ feeApr }) => feeApr,
      );
    expect(aprsAt(null)).to.deep.equal([null, null, null, null, null, null]);
    expect(aprsAt(0)).to.deep.equal([null, null, null, null, null, null]);
    // 1 USD of fees on 1,000 USD: 0.001 × 105,120 five-minute windows a year, and so on.
    const aprs = [105.12, 8.76, 0.365, 0.365 / 7, 0.365 / 30, 0.001];
    for (const [i, apr] of aprsAt(1_000).entries()) expect(apr).to.be.closeTo(aprs[i] as number, 1e-12);
  });

  it("carries the close of before a range into it", () => {
    // Traded once, ten days ago: the week's closes are all that one, the price stood still.
    const head = 1_700_000_000;
    const swaps = [
      { time: head - 10 * DAY, user: "ann", valueUsd: 1, feeUsd: 1, tickTravel: 1, closePrice: 7 },
    ];
    const [fiveMinutes, , , week, month] = metricsOf(bucketsAt(head, swaps), {
      headTime: head,
      coverage: COVERED,
      tvlUsd: 1,
    });
    for (const range of [fiveMinutes, week]) {
      expect(range).to.include({
        swapCount: 0,
        priceVolatilityPct: 0,
        meanAdjustedVolatilityPct: 0,
        tickPressurePer1mUsd: null,
      });
    }
    expect(month).to.include({ swapCount: 1, priceVolatilityPct: 0 });
  });
});

describe("what is read at a head", () => {
  it("is every second of a window once, in few pieces of whole buckets", () => {
    fc.assert(
      fc.property(anyHead, (head) => {
        const pieces = sumRangesAt(head);
        const edges = edgesAt(head);
        expect(edges.length).to.equal((head + 1) % 60 === 0 ? 0 : RANGES.length);
        expect(new Set(edges.map(({ minute }) => minute)).size).to.equal(edges.length);
        expect(pieces.length).to.be.below(18);
        for (const { span, start, end } of pieces) {
          expect(start % span).to.equal(0);
          expect(start).to.be.below(end);
        }
        for (const span of SPANS) {
          const own = pieces.filter((piece) => piece.span === span);
          for (const [i, { start }] of own.entries())
            if (i > 0) expect(start, "no bucket is read twice").to.be.at.least(own[i - 1]?.end ?? 0);
        }
        const buckets = pieces.reduce(
          (sum, { span, start, end }) => sum + Math.ceil((end - start) / span),
          0,
        );
        expect(buckets).to.be.below(60 * 6 + 24 * 5 + 367);
      }),
    );
  });

  it("is one list of closes a span, from before the first that a range needs", () => {
    fc.assert(
      fc.property(anyHead, (head) => {
        const ranges = closeRangesAt(head);
        expect(ranges.map(({ span }) => span)).to.deep.equal([60, 3_600, DAY]);
        for (const [, seconds, every] of RANGES) {
          const range = ranges.find(({ span }) => span === every);
          expect(range?.start).to.be.at.most(closesFrom(head, seconds, every));
          expect(range?.end).to.equal(windowOf(head, seconds).end);
        }
        expect(ranges.map(({ span, start }) => [span, start])).to.deep.equal([
          [60, closesFrom(head, 3_600, 60)],
          [3_600, closesFrom(head, 7 * DAY, 3_600)],
          [DAY, closesFrom(head, YEAR, DAY)],
        ]);
      }),
    );
  });
});
