import fc from "fast-check";
import { createRandom, type Random } from "../../../../deploy/devnet/random.ts";
import type { PriceEdge } from "../../price/edges.ts";

/** A chain of pools between tokens, larger than the graphs of random-graph.ts, and for longer. */
export interface Stream {
  readonly anchors: readonly string[];
  readonly blocks: readonly StreamBlock[];
}

export interface StreamBlock {
  /** Unix seconds. */
  readonly time: number;
  readonly edges: readonly PriceEdge[];
  readonly feed: { readonly anchor: string; readonly usd: number | undefined } | undefined;
}

/** Calm: trades move prices and depths a little. Even: also wild, with the same depths in many pools. */
type Kind = "wild" | "even" | "calm";

const SECONDS = [0, 2, 2, 12, 60, 400, 4_000];

/**
 * Tokens whose worth drifts, in pools that mostly agree on it: some push their price for a while, some are emptied, some
 * have the same depth to the last bit. One number makes the whole stream.
 */
export const anyStream = fc.record({
  seed: fc.integer(),
  tokens: fc.integer({ min: 6, max: 70 }),
  kind: fc.constantFrom<Kind>("wild", "even", "calm", "calm"),
});

export function makeStream({ seed, tokens, kind }: { seed: number; tokens: number; kind: Kind }): Stream {
  const random = createRandom(seed);
  const anchors = Array.from({ length: 1 + random.below(3) }, (_, i) => `t${i}`);
  const usd = Array.from({ length: tokens }, (_, i) => (i < anchors.length ? 1 : 10 ** random.normal()));
  const pools = Array.from({ length: tokens + random.below(3 * tokens) }, (_, n) => {
    // Half of all pools hold an anchor or one of two hubs.
    const first = random.below(random.next() < 0.5 ? anchors.length + 2 : tokens);
    const second = random.below(tokens - 1);
    return { n, tokens: [first, second < first ? second : second + 1] as [number, number] };
  });
  let time = 1_700_000_000;
  const blocks = Array.from({ length: 60 }, (_, block): StreamBlock => {
    time += random.pick(SECONDS);
    const touched = block === 0 ? pools : Array.from({ length: random.below(8) }, () => random.pick(pools));
    const edges = touched.map(({ n, tokens: pair }) => {
      for (const token of pair)
        if (kind !== "calm" && random.next() < 0.05) usd[token] = drift(usd[token] as number, random);
      return edgeOf(n, { pair, usd, kind, random, time });
    });
    const isAnswered = kind !== "calm" && random.next() < 0.05;
    const feed = {
      anchor: random.pick(anchors),
      usd: random.next() < 0.3 ? undefined : 1 + 0.1 * random.normal(),
    };
    return { time, edges, feed: isAnswered ? feed : undefined };
  });
  return { anchors, blocks };
}

function drift(usd: number, random: Random): number {
  return usd * Math.exp(0.1 * random.normal());
}

function edgeOf(
  n: number,
  at: { pair: readonly [number, number]; usd: readonly number[]; kind: Kind; random: Random; time: number },
): PriceEdge {
  const { pair, usd, kind, random, time } = at;
  if (kind === "calm") return calmEdgeOf(n, at);
  const isEven = kind === "even";
  const [usd0, usd1] = pair.map((token) => usd[token] as number) as [number, number];
  const isPushed = random.next() < 0.1;
  const noise = isPushed ? Math.exp(random.normal()) : isEven ? 1 : 1 + 0.003 * random.normal();
  const depthUsd = isEven ? random.pick([9_000, 20_000, 50_000, 1e6]) : 10 ** (3.5 + 3 * random.next());
  const isAbsurd = random.next() < 0.01;
  return {
    pool: `0x${((n * 7_919) % 100_003).toString(16)}`,
    token0: `t${pair[0]}`,
    token1: `t${pair[1]}`,
    price: isAbsurd ? random.pick([0, 1e300, Number.POSITIVE_INFINITY]) : (usd0 / usd1) * noise,
    depth0: (depthUsd / usd0) * (random.next() < 0.1 ? random.next() : 1),
    depth1: depthUsd / usd1,
    held: random.below(9) / 8,
    aged: random.next() < 0.5 ? 1 : random.next(),
    lastTime: time,
  };
}

/** A pool's own depth and price, moved by up to a hundredth; one in thirty times by much more. */
function calmEdgeOf(
  n: number,
  {
    pair,
    usd,
    random,
    time,
  }: { pair: readonly [number, number]; usd: readonly number[]; random: Random; time: number },
): PriceEdge {
  const own = createRandom(n);
  const [usd0, usd1] = pair.map((token) => usd[token] as number) as [number, number];
  const depthUsd = 10 ** (4 + 3 * own.next());
  const strength = random.next() < 0.03 ? 0.3 : 0.005;
  const moved = Math.exp(strength * random.normal());
  return {
    pool: `0x${((n * 7_919) % 100_003).toString(16)}`,
    token0: `t${pair[0]}`,
    token1: `t${pair[1]}`,
    price: (usd0 / usd1) * (1 + 0.003 * own.normal()) * moved,
    depth0: depthUsd / usd0 / moved,
    depth1: (depthUsd / usd1) * moved,
    held: random.next() < 0.9 ? 1 : 0.5,
    aged: own.next(),
    lastTime: time,
  };
}
