import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { leastCases, randomRuns } from "../../shared/testkit/describe.ts";
import { MarkKeeper } from "../test/prices/mark-keeper.ts";
import { type NaiveMemory, NO_MEMORY, naiveWalk } from "../test/prices/naive-walk.ts";
import { anySteps, edgesInSteps, STEPS_START as START } from "../test/prices/random-steps.ts";
import { balanced, pricesIn } from "../test/prices/walk-prices.ts";
import type { PriceEdge } from "./edges.ts";
import { type MarkedPrices, PriceGraph } from "./graph.ts";
import { isAnchor } from "./link.ts";
import { DEFAULT_RULES } from "./walk-rules.ts";

/** Pools of one token with USDC, which trade at prices that a test says. */
class Crowd {
  readonly graph = new PriceGraph(["usdc"]);
  readonly #depthsUsd: Readonly<Record<string, number>>;
  time = START - 2;

  constructor(depthsUsd: Readonly<Record<string, number>>) {
    this.#depthsUsd = depthsUsd;
    const agreeing = Object.fromEntries(Object.keys(depthsUsd).map((name) => [name, 100]));
    this.block(agreeing, -300);
    this.block(agreeing, 300);
  }

  /** The pools that trade in a block, at these prices. Returns the token's price. */
  block(trades: Readonly<Record<string, number>>, seconds = 2): number {
    this.#trade(trades, { depthsUsd: this.#depthsUsd, seconds });
    return this.graph.usd("t") as number;
  }

  /** A block in which all pools are emptied: the token has no price. */
  empty(seconds = 2): void {
    const names = Object.keys(this.#depthsUsd);
    const each = (value: number) => Object.fromEntries(names.map((name) => [name, value]));
    this.#trade(each(100), { depthsUsd: each(1), seconds });
    expect(this.graph.usd("t")).to.equal(undefined);
  }

  #trade(
    trades: Readonly<Record<string, number>>,
    { depthsUsd, seconds }: { depthsUsd: Readonly<Record<string, number>>; seconds: number },
  ): void {
    this.time += seconds;
    for (const [name, usd] of Object.entries(trades)) {
      const depthUsd = depthsUsd[name] as number;
      const at = { tokens: ["usdc", "t"] as const, usd: [1, usd] as const, depthUsd };
      this.graph.set(balanced(name, { ...at, lastTime: this.time }));
    }
    this.graph.update(this.time);
  }

  get link() {
    const link = this.graph.link("t");
    if (link === undefined || isAnchor(link)) throw new Error("The token has no price.");
    return link;
  }
}

const MAJORITY = { walker: 600_000, one: 250_000, two: 150_000 };
/** Steps of 1 % between two prices, compounded. */
const percent = (a: number, b: number) => Math.abs(Math.log(a / b)) / Math.log(1.01);

describe("departures in steps", () => {
  it("hold a pool with most of the weight that walks away from others that trade, as long as one that jumps", () => {
    const crowd = new Crowd(MAJORITY);
    let usd = 100;
    for (let step = 1; step <= 11; step++) {
      usd *= 1.009;
      const used = crowd.block({ walker: usd, one: 100, two: 100.1 });
      expect(used, `step ${step}`).to.be.closeTo(step === 1 ? 100.9 : 100, 0.11);
    }
    expect(crowd.link.departure?.since).to.equal(START + 2);
    const hold = Math.ceil(60 * percent(usd, 100));
    for (let seconds = 30; START + 2 + hold - crowd.time > 30; )
      expect(crowd.block({ walker: usd, one: 100, two: 100 }, seconds)).to.be.closeTo(100, 1e-9);
    const followed = crowd.block({ walker: usd, one: 100, two: 100 }, 30);
    expect(followed).to.be.closeTo(usd, 1e-9);
    expect(crowd.link).to.deep.include({ departure: undefined, agreedUsd: followed });
  });

  it("hold several pools that have most of the weight together, also at once", () => {
    const crowd = new Crowd({ a: 300_000, b: 300_000, c: 400_000 });
    expect(crowd.block({ a: 108, b: 112, c: 100 })).to.be.closeTo(100, 1e-9);
    expect(crowd.link.departure).to.include({ since: START });
    expect(crowd.block({ a: 112, b: 108, c: 100 }, 460)).to.be.closeTo(100, 1e-9);
    expect(crowd.block({ c: 100 }, 10), "8 % for nearly eight minutes").to.be.closeTo(108, 1e-9);
  });

  it("follow all that trade without a hold, though a pool rests", () => {
    const crowd = new Crowd({ deep: 600_000, thin: 100_000, quiet: 300_000 });
    crowd.time += 400;
    for (let usd = 100; usd < 140; usd *= 1.009) {
      const used = crowd.block({ deep: usd, thin: usd * 0.996 });
      expect(used).to.be.within(usd * 0.996 - 1e-9, usd + 1e-9);
      expect(crowd.link.departure).to.equal(undefined);
    }
  });

  it("do not ask a pool that was apart before, unless the others go faster than a hold would let them", () => {
    const apart = new Crowd(MAJORITY);
    for (let minute = 0; minute < 10; minute++) apart.block({ walker: 100, one: 100, two: 98 }, 60);
    expect(apart.block({ walker: 100.8, one: 100.8, two: 98 })).to.be.closeTo(100.8, 1e-9);
    expect(apart.block({ walker: 101.6, one: 101.6, two: 98 })).to.be.closeTo(101.6, 1e-9);
    const far = new Crowd({ walker: 600_000, one: 50_000, two: 350_000 });
    for (let minute = 0; minute < 30; minute++) far.block({ walker: 110, one: 110, two: 100 }, 60);
    expect(far.graph.usd("t")).to.be.closeTo(110, 1e-9);
    for (const usd of [111, 112, 113, 114, 115])
      expect(far.block({ walker: usd, one: usd, two: 100 })).to.be.closeTo(usd, 1e-9);
    expect(far.block({ walker: 116, one: 116, two: 100 }), "5 % in a moment").to.be.closeTo(100, 1e-9);
  });

  it("are measured from where they were followed until the next full five minutes, which the link tells", () => {
    const crowd = new Crowd(MAJORITY);
    crowd.block({ walker: 102, one: 100, two: 100 });
    crowd.block({ one: 100, two: 100 }, 118);
    const followed = crowd.block({ one: 100, two: 100 }, 2);
    expect(followed).to.be.closeTo(102, 1e-9);
    expect(crowd.link.agreedUsd).to.equal(followed);
    crowd.graph.takeLinks();
    expect(crowd.block({}, 179), "of the same five minutes").to.equal(followed);
    expect(crowd.graph.takeLinks()).to.deep.equal([]);
    expect(crowd.block({}, 1)).to.equal(followed);
    expect(crowd.graph.takeLinks().map(({ link }) => link)).to.deep.equal([crowd.link]);
    expect(crowd.link).to.deep.include({ agreedUsd: undefined, departure: undefined });
    expect(crowd.graph.price("t")?.link).to.deep.equal(crowd.link);
  });
});

/** A graph as one that knows nothing but the pools, the links and the prices at the last mark. */
function expectSameAnew(
  graph: PriceGraph,
  { edges, marked }: { edges: Iterable<PriceEdge>; marked: MarkedPrices },
): void {
  const anew = new PriceGraph(["usdc"]);
  for (const edge of edges) anew.set(edge);
  anew.resume(graph.links(), marked);
  anew.update(marked.now);
  expect(pricesIn(anew)).to.deep.equal(pricesIn(graph));
  expect(anew.takeLinks(), "nothing new").to.deep.equal([]);
}

describe("departures of a token that was without a price for a block", () => {
  it("are from where all agreed at the last full five minutes, where it had a price then", () => {
    const crowd = new Crowd(MAJORITY);
    crowd.empty();
    expect(crowd.block({ walker: 110, one: 100, two: 100 })).to.be.closeTo(100, 1e-9);
    expect(crowd.link.departure?.since).to.equal(START + 2);
    expect(crowd.link.departure?.usd).to.be.closeTo(110, 1e-9);
    expect(crowd.block({}), "decided again").to.be.closeTo(100, 1e-9);
    crowd.empty();
    crowd.empty(300);
    expect(crowd.block({ walker: 110, one: 100, two: 100 }), "none then").to.be.closeTo(110, 1e-9);
  });
});

describe("departures over random steps", () => {
  it("are those of a naive decision at every block, and of a graph made anew", () => {
    const seen = { held: 0, followed: 0, prices: 0 };
    fc.assert(
      fc.property(anySteps, (steps) => {
        const graph = new PriceGraph(["usdc"]);
        const keeper = new MarkKeeper();
        const pools = new Map<string, PriceEdge>();
        let memory: NaiveMemory = NO_MEMORY;
        for (const { time, edges } of edgesInSteps(steps)) {
          for (const edge of edges) {
            pools.set(edge.pool, edge);
            graph.set(edge);
          }
          const marked = keeper.beforeBlock(graph, time);
          graph.update(time);
          const walked = naiveWalk([...pools.values()], {
            ...{ anchors: ["usdc"], rules: DEFAULT_RULES, before: memory, now: time },
          });
          memory = walked.memory;
          expect(pricesIn(graph).prices).to.deep.equal(walked.prices);
          expectSameAnew(graph, { edges: pools.values(), marked });
          const used = memory.used.get("t");
          seen.prices += 1;
          seen.held += used?.departure === undefined ? 0 : 1;
          seen.followed += used?.agreedUsd === undefined ? 0 : 1;
        }
      }),
      { numRuns: randomRuns(120) },
    );
    expect(seen.prices).to.be.at.least(leastCases(1_500));
    expect(seen.held, "prices held").to.be.at.least(leastCases(200));
    expect(seen.followed, "prices that followed pools against others").to.be.at.least(leastCases(20));
  }).timeout(120_000);

  it("let nobody with most of the weight go faster than a minute for each 1 %, but for a first few", () => {
    const steps = fc.array(
      fc.record({
        seconds: fc.integer({ min: 1, max: 90 }),
        /** Percent away from the others; now and then a jump. */
        step: fc.oneof(
          { weight: 8, arbitrary: fc.integer({ min: -10, max: 99 }).map((hundredths) => hundredths / 100) },
          { weight: 1, arbitrary: fc.integer({ min: 0, max: 15 }) },
        ),
      }),
      { minLength: 20, maxLength: 120 },
    );
    const share = fc.integer({ min: 51, max: 89 });
    let followed = 0;
    fc.assert(
      fc.property(share, fc.integer({ min: 1, max: 3 }), steps, (weight, pools, blocks) => {
        const walkers = Array.from({ length: pools }, (_, i) => `walker ${i}`);
        const crowd = new Crowd({
          ...Object.fromEntries(walkers.map((name) => [name, (weight * 1e4) / pools])),
          other: (100 - weight) * 1e4,
        });
        let usd = 100;
        for (const { seconds, step } of blocks) {
          usd *= 1 + step / 100;
          const trades = Object.fromEntries(walkers.map((name) => [name, usd]));
          const used = crowd.block({ ...trades, other: 100 }, seconds);
          const minutes = (crowd.time - START) / 60;
          // Below 1 % at first; then what was followed, and within two marks 5 % each.
          expect(percent(used, 100)).to.be.at.most(minutes < 1 ? 2.1 : minutes + 11);
          followed += crowd.link.agreedUsd === undefined ? 0 : 1;
        }
      }),
      { numRuns: randomRuns(300) },
    );
    expect(followed, "walks that were followed in the end").to.be.at.least(leastCases(20));
  });

  it("hold no market that all who trade follow in small steps, whoever rests and wherever", () => {
    const path = fc.array(
      fc.record({
        seconds: fc.integer({ min: 1, max: 200 }),
        step: fc.integer({ min: -20, max: 20 }).map((hundredths) => hundredths / 100),
      }),
      { minLength: 20, maxLength: 80 },
    );
    // Percent. Together below half of what one pool must not do at once, whoever rests.
    const drift = fc.constantFrom(-0.25, -0.1, 0.1, 0.25);
    const offset = fc.double({ min: -0.4, max: 0.4, noNaN: true });
    const offsets = fc.array(offset, { minLength: 5, maxLength: 5 });
    const depths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 3, maxLength: 6 });
    let moved = 0;
    fc.assert(
      fc.property(depths, drift, offsets, path, ([quiet, ...depthsOf], perBlock, apart, blocks) => {
        const all = depthsOf.reduce((sum, depth) => sum + depth, 0);
        const crowd = new Crowd({
          quiet: Math.min(quiet as number, all - 0.5) * 1e5,
          ...Object.fromEntries(depthsOf.map((depth, i) => [`p${i}`, depth * 1e5])),
        });
        crowd.time += 301;
        let usd = 100;
        for (const { seconds, step } of blocks) {
          usd *= 1 + (step + perBlock) / 100;
          const trades = depthsOf.map((_, i) => [`p${i}`, usd * (1 + (apart[i] as number) / 100)]);
          const used = crowd.block(Object.fromEntries(trades), seconds);
          expect(crowd.link.departure, "none is held").to.equal(undefined);
          if (percent(usd, 100) > 2 && percent(used, usd) < 0.5) moved += 1;
        }
      }),
      { numRuns: randomRuns(300) },
    );
    expect(moved).to.be.at.least(leastCases(1_000));
  });
});
