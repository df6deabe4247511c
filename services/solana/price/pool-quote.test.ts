import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import {
  heldOf,
  type PoolQuote,
  reversed,
  trustedRatio,
  weightOf,
  withLiquidity,
  withTrade,
} from "./pool-quote.ts";

const DAY = 86_400;

interface Step {
  readonly wait: number;
  readonly ratio: number;
  readonly depth: number;
}

/** A pool after trades: `wait` seconds after the one before, at a ratio, with so much of both sides. */
function quoteAfter(steps: readonly Step[]): PoolQuote {
  let quote: PoolQuote | undefined;
  let time = 0;
  for (const { wait, ratio, depth } of steps) {
    time += wait;
    quote = withTrade(quote, { pool: "p", parent: "P", ratio, depth, parentDepth: 2 * depth, time });
  }
  return quote as PoolQuote;
}

const steadily = (seconds: number, each: number, step: Omit<Step, "wait">): Step[] =>
  Array.from({ length: seconds / each + 1 }, (_, i) => ({ wait: i === 0 ? 0 : each, ...step }));

const anySteps = fc.array(
  fc.record({
    wait: fc.nat(400),
    ratio: fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
    depth: fc.double({ min: 1e-3, max: 1e9, noNaN: true }),
  }),
  { minLength: 1, maxLength: 40 },
);

describe("quote of a pool", () => {
  it("weighs its width by age and by what it has held, a new pool a millionth", () => {
    const weightAt = (quote: PoolQuote) => weightOf(quote, { widthUsd: 1e6, now: quote.time });
    expect(weightAt(quoteAfter(steadily(0, 1, { ratio: 1, depth: 5 })))).to.equal(1);
    expect(weightAt(quoteAfter(steadily(3 * DAY, 60, { ratio: 1, depth: 5 })))).to.be.closeTo(1e5, 1e-6);
    expect(weightAt(quoteAfter(steadily(60 * DAY, 600, { ratio: 1, depth: 5 })))).to.equal(1e6);
    const grown = quoteAfter([
      ...steadily(3 * DAY, 60, { ratio: 1, depth: 5 }),
      { wait: 1, ratio: 1, depth: 20 },
    ]);
    expect(heldOf(grown, grown.time)).to.equal(0.25);
  });

  it("halves its weight while it rests: every five minutes when young, each 24th of its age when old", () => {
    const restedOf = (quote: PoolQuote, rest: number) =>
      weightOf(quote, { widthUsd: 1, now: quote.time + rest }) /
      weightOf(quote, { widthUsd: 1, now: quote.time });
    const young = quoteAfter(steadily(600, 10, { ratio: 1, depth: 5 }));
    expect(restedOf(young, 60)).to.be.closeTo(660 / 600, 1e-9);
    expect(restedOf(young, 360)).to.be.closeTo(960 / 600 / 2, 1e-9);
    const old = quoteAfter(steadily(60 * DAY, 600, { ratio: 1, depth: 5 }));
    expect(restedOf(old, 60 + (30 * DAY) / 24)).to.equal(0.5);
  });

  it("trusts a price that it has kept, and the median of one that jumped", () => {
    const kept = steadily(600, 10, { ratio: 2, depth: 5 });
    const jumped = quoteAfter([...kept, { wait: 1, ratio: 9, depth: 5 }]);
    expect(trustedRatio(jumped, jumped.time)).to.equal(2);
    expect(trustedRatio(jumped, jumped.time + 149)).to.equal(2);
    expect(trustedRatio(jumped, jumped.time + 151)).to.equal(9);
    const near = quoteAfter([...kept, { wait: 1, ratio: 2.1, depth: 5 }]);
    expect(trustedRatio(near, near.time)).to.equal(2.1);
  });

  it("holds less once liquidity went, and never less than nothing", () => {
    const quote = quoteAfter(steadily(600, 10, { ratio: 2, depth: 8 }));
    const left = withLiquidity(quote, { amount: -6, parentAmount: -20, time: 600 });
    expect(left).to.deep.include({ depth: 2, parentDepth: 0, ratio: 2, since: 0, time: 600 });
  });

  it("records few points, in order, the last one near the last price", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const { recent, depths, ratio, time, since } = quoteAfter(steps);
        for (const points of [recent, depths]) {
          const times = points.map((point) => point.time);
          expect(times).to.deep.equal([...new Set(times)].sort((a, b) => a - b));
          expect(times[0]).to.be.at.least(since);
          if (times.length > 1) expect(times[1]).to.be.above(time - 300);
        }
        expect(ratio / (recent.at(-1)?.price ?? 0)).to.be.within(0.995, 1.005 + 1e-9);
      }),
    );
    expect(quoteAfter(steadily(600, 1, { ratio: 2, depth: 5 })).recent).to.have.length(1);
  });

  it("says the same from the other side", () => {
    fc.assert(
      fc.property(anySteps, fc.nat(1_000), (steps, rest) => {
        const quote = quoteAfter(steps);
        const other = reversed(quote, "T");
        const now = quote.time + rest;
        expect(other).to.deep.include({ parent: "T", depth: quote.parentDepth, since: quote.since });
        expect(heldOf(other, now)).to.equal(heldOf(quote, now));
        expect(weightOf(other, { widthUsd: 7, now })).to.equal(weightOf(quote, { widthUsd: 7, now }));
        expect(reversed(other, "P").ratio).to.be.closeTo(quote.ratio, quote.ratio * 1e-12);
      }),
    );
  });
});
