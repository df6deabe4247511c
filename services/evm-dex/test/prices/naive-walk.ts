import { LEAST_SHARE } from "../../../shared/pricing/vote-share.ts";
import type { PriceEdge } from "../../price/edges.ts";
import type { TokenPrice } from "../../price/link.ts";
import type { WalkRules } from "../../price/walk-rules.ts";
import { type NaiveUsed, type NaiveVote, naiveDecision } from "./naive-ballot.ts";

interface Priced {
  readonly price: TokenPrice;
  readonly width: number;
  readonly earnedUsd: number;
}

/** What is left of a block for the next one. */
export interface NaiveMemory {
  readonly used: ReadonlyMap<string, NaiveUsed>;
  /** The last full five minutes, and USD in use before them. */
  readonly mark: number;
  readonly markedUsd: ReadonlyMap<string, number>;
}

export const NO_MEMORY: NaiveMemory = {
  used: new Map(),
  mark: Number.NEGATIVE_INFINITY,
  markedUsd: new Map(),
};

interface WalkedVote extends NaiveVote {
  readonly token: string;
  readonly side: 0 | 1;
  readonly edge: PriceEdge;
  readonly hops: number;
}

/**
 * The walk as its description says, without its bookkeeping: looks at every pool from either side again and again and
 * prices the token with the widest one, by all votes of tokens priced before. For anchors whose peg nobody disputes.
 */
export function naiveWalk(
  edges: readonly PriceEdge[],
  options: {
    anchors: readonly string[];
    rules: WalkRules;
    before: NaiveMemory;
    now: number;
  },
): { prices: Map<string, TokenPrice>; memory: NaiveMemory } {
  const { rules, now } = options;
  const before = markedFor(options.before, now);
  const known = new Map<string, Priced>();
  const used = new Map<string, NaiveUsed>();
  for (const anchor of options.anchors) {
    const price = { usd: 1, hops: 0, link: undefined };
    known.set(anchor, { price, width: Number.POSITIVE_INFINITY, earnedUsd: Number.POSITIVE_INFINITY });
  }
  for (;;) {
    const votes = edges
      .flatMap((edge) => votesOf(edge, known))
      .filter(({ hops, width }) => hops <= rules.maxHops && width >= rules.minDepthUsd);
    const [widest] = [...votes].sort((a, b) => b.width - a.width || (a.pool < b.pool ? -1 : 1));
    if (widest === undefined) break;
    const { token } = widest;
    const own = votes.filter((vote) => vote.token === token);
    const verdict = naiveDecision(own, {
      used: before.used.get(token),
      markedUsd: before.markedUsd.get(token),
      now,
    });
    const { chosen, support, departure, agreedUsd, earnedUsd } = verdict;
    const hops = Math.min(...own.map((vote) => vote.hops));
    const { from: parent, pool, side, edge } = chosen;
    const link = { token, parent, pool, side, price: edge.price, hops, support, departure, agreedUsd };
    used.set(token, { usd: chosen.usd, departure, agreedUsd });
    known.set(token, { price: { usd: chosen.usd, hops, link }, width: widest.width, earnedUsd });
  }
  const prices = [...known]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([token, { price }]) => [token, price] as const);
  return { prices: new Map(prices), memory: { ...before, used } };
}

/** From a full five minutes on, what was in use before is where all agree. */
function markedFor(before: NaiveMemory, now: number): NaiveMemory {
  const mark = Math.floor(now / 300) * 300;
  if (mark <= before.mark) return before;
  const used = new Map([...before.used].map(([token, each]) => [token, { ...each, agreedUsd: undefined }]));
  return { used, mark, markedUsd: new Map([...used].map(([token, { usd }]) => [token, usd])) };
}

function votesOf(edge: PriceEdge, known: ReadonlyMap<string, Priced>): WalkedVote[] {
  const { token0, token1, price, depth0, depth1 } = edge;
  const ways = [
    { from: token0, token: token1, near: depth0, far: depth1, side: 1 as const },
    { from: token1, token: token0, near: depth1, far: depth0, side: 0 as const },
  ];
  return ways.flatMap(({ from, token, near, far, side }) => {
    const parent = known.get(from);
    if (parent === undefined || known.has(token)) return [];
    const usd = side === 0 ? parent.price.usd * price : parent.price.usd / price;
    if (!(usd > 0 && usd <= 1e12)) return [];
    const width = Math.min(near * parent.price.usd, far * usd, parent.width);
    const weight = width * Math.max(edge.held * edge.aged, LEAST_SHARE);
    const { earnedUsd } = parent;
    const place = { token, from, side, edge, pool: edge.pool, earnedUsd, lastTime: edge.lastTime };
    return [{ ...place, usd, width, weight, hops: parent.price.hops + 1 }];
  });
}
