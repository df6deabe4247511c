import { createRandom, type Random } from "../../deploy/devnet/random.ts";
import type { PriceEdge } from "../../services/evm-dex/price/edges.ts";

export interface GraphSize {
  /** All pools with a price, most of them with next to nothing in them. */
  readonly pools: number;
  /** Pools with 10,000 USD and more. */
  readonly deep: number;
  /** Tokens that deep pools lead to. */
  readonly tokens: number;
}

/** As Base has it: hubs that nearly every pool holds one of, and tokens that have a few pools each. */
const HUBS = 20;
/** Of the pools, so many hold the first hub, WETH; the others share the rest. */
const FIRST_HUB_SHARE = 0.7;
const USD = 0;
const WETH = 1;

export interface SyntheticGraph {
  readonly anchors: readonly string[];
  readonly edges: readonly PriceEdge[];
  /** Indexes of the edges that a block touches at all, the busiest first. */
  readonly busy: readonly number[];
  /** An edge after trades at this second: its price moved by some basis points, its depth by up to a hundredth. */
  moved(edge: PriceEdge, time: number): PriceEdge;
}

export const tokenAddress = (n: number): string => `0x${n.toString(16).padStart(40, "0")}`;
const poolAddress = (n: number): string => `0x${(0x9000000 + n * 7919).toString(16).padStart(40, "0")}`;

/** Pools whose prices agree but for a quarter of a percent, deep ones between all sorts of tokens and shallow ones galore. */
export function makeGraph(size: GraphSize, seed = 1): SyntheticGraph {
  const random = createRandom(seed);
  const usd = Array.from({ length: size.tokens }, () => 10 ** (random.normal() * 3));
  usd[USD] = 1;
  usd[WETH] = 3_000;
  const edges: PriceEdge[] = [];
  for (let i = 0; i < size.pools; i++) {
    const isDeep = i < size.deep;
    const token = isDeep ? 1 + (i % (size.tokens - 1)) : size.tokens + i;
    const hub = hubFor(token, random);
    // Twice as deep, half as many; below the minimum a little steeper, so that most have next to nothing.
    const rank = size.deep / (i + 1);
    const depthUsd =
      token < HUBS
        ? (50_000_000 * (0.5 + random.next())) / token ** 1.5
        : 10_000 * (isDeep ? Math.min(rank, 1_000) : rank ** 2);
    edges.push(edgeBetween({ i, token, hub, usd, depthUsd, random }));
  }
  return {
    anchors: [tokenAddress(USD)],
    edges,
    busy: busiest(edges, size),
    moved: (edge, time) => {
      const factor = 1 + 0.0005 * random.normal();
      const part = 1 + 0.01 * (random.next() - 0.5);
      const { pool, token0, token1, held, aged } = edge;
      const price = edge.price * factor;
      return {
        pool,
        token0,
        token1,
        price,
        depth0: edge.depth0 * part,
        depth1: edge.depth1 / part,
        held,
        aged,
        lastTime: time,
      };
    },
  };
}

function hubFor(token: number, random: Random): number {
  if (token === WETH) return USD;
  const hub = random.next() < FIRST_HUB_SHARE ? WETH : random.below(HUBS);
  return hub === token ? USD : hub;
}

function edgeBetween(options: {
  i: number;
  token: number;
  hub: number;
  usd: readonly number[];
  depthUsd: number;
  random: Random;
}): PriceEdge {
  const { i, token, hub, usd, depthUsd, random } = options;
  const hubUsd = usd[hub] as number;
  const tokenUsd = usd[token] ?? 10 ** (random.normal() * 3);
  const [low, high] = tokenAddress(token) < tokenAddress(hub) ? [tokenUsd, hubUsd] : [hubUsd, tokenUsd];
  const [token0, token1] = [tokenAddress(token), tokenAddress(hub)].sort() as [string, string];
  return {
    pool: poolAddress(i),
    token0,
    token1,
    price: (low / high) * (1 + 0.0025 * random.normal()),
    depth0: depthUsd / low,
    depth1: depthUsd / high,
    held: 1,
    aged: random.next(),
    lastTime: 0,
  };
}

/** Deep pools of hubs trade most; each next one half as often as the one twice before it (Zipf). */
function busiest(edges: readonly PriceEdge[], size: GraphSize): number[] {
  const depthOf = (i: number) => {
    const { token0, token1, depth0, depth1 } = edges[i] as PriceEdge;
    return token0 === tokenAddress(USD) ? depth0 : token1 === tokenAddress(USD) ? depth1 : 0;
  };
  return Array.from({ length: size.deep }, (_, i) => i).sort((a, b) => depthOf(b) - depthOf(a) || a - b);
}
