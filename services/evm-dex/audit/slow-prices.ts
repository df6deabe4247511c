/**
 * USD prices by docs/prices.md, once more: slow and straight, without code of services/evm-dex/price.
 */

/** A pool at the end of a block. */
export interface SlowEdge {
  readonly pool: string;
  readonly token0: string;
  readonly token1: string;
  /** Trusted price, token1 per token0. */
  readonly price: number;
  /** Whole tokens behind it. */
  readonly depth0: number;
  readonly depth1: number;
  /** Which part of the depth was there for five minutes, and how much of it its age lets vote: 0 to 1. */
  readonly held: number;
  readonly aged: number;
  /** Unix seconds of its last event. */
  readonly lastTime: number;
}

/** A token's price at the block before, and at the last full five minutes. */
export interface PriceBefore {
  /** null: it had none in the block before, and no departure either. */
  readonly usd: number | null;
  readonly departedAt: number | null;
  readonly departedUsd: number | null;
  /** At which pools were followed against others since the last full five minutes. */
  readonly agreedUsd: number | null;
  /** In use at the end of the last block before these; null: none. */
  readonly markedUsd: number | null;
}

/** What the token's link must say; an anchor has its price alone. */
export interface SlowPrice {
  readonly usd: number;
  readonly hops: number;
  readonly parent: string;
  readonly pool: string;
  readonly side: number;
  readonly price: number;
  readonly deepestPool: string;
  readonly depthUsd: number;
  readonly restUsd: number;
  readonly departedAt: number | null;
  readonly departedUsd: number | null;
  readonly agreedUsd: number | null;
}

interface Vote {
  readonly token: string;
  readonly parent: string;
  readonly edge: SlowEdge;
  readonly side: number;
  readonly usd: number;
  readonly width: number;
  readonly hops: number;
  weight: number;
}

/** What a link says beside the price. */
type Held = Pick<SlowPrice, "departedAt" | "departedUsd" | "agreedUsd">;

interface Priced {
  readonly price: SlowPrice;
  readonly width: number;
  readonly earnedUsd: number;
}

const LEAST_DEPTH_USD = 10_000;
const MOST_HOPS = 4;
const MOST_USD = 1e12;
const LEAST_SHARE = 1e-6;
const BOUND = 1.1;

/** @param now Unix seconds of the block */
export function slowPrices(
  edges: readonly SlowEdge[],
  {
    anchors,
    before,
    feeds = new Map(),
    leastDepthUsd = LEAST_DEPTH_USD,
    now,
  }: {
    anchors: readonly string[];
    before: ReadonlyMap<string, PriceBefore>;
    /** What feeds say that count, USD by anchor. */
    feeds?: ReadonlyMap<string, number>;
    leastDepthUsd?: number;
    now: number;
  },
): Map<string, SlowPrice> {
  const known = new Map<string, Priced>();
  const edgesOf = byToken(edges);
  /** By token without a price. */
  const votes = new Map<string, Vote[]>();
  const settle = (token: string, priced: Priced) => {
    known.set(token, priced);
    votes.delete(token);
  };
  const askNeighbours = (token: string) => {
    for (const vote of (edgesOf.get(token) ?? []).flatMap((edge) =>
      votesOf(edge, { from: token, known, leastDepthUsd }),
    )) {
      const own = votes.get(vote.token);
      if (own === undefined) votes.set(vote.token, [vote]);
      else own.push(vote);
    }
  };
  for (const anchor of anchors) {
    const price = { ...NO_LINK, usd: anchorUsd(anchor, { edges, anchors, feeds }) };
    settle(anchor, { price, width: Number.POSITIVE_INFINITY, earnedUsd: Number.POSITIVE_INFINITY });
  }
  for (const anchor of anchors) askNeighbours(anchor);
  while (votes.size > 0) {
    const [token, own] = [...votes].reduce((best, each) =>
      isWider(widestOf(each[1]), widestOf(best[1])) ? each : best,
    );
    const { earnedUsd, price } = decide(own, { known, before: before.get(token), now });
    settle(token, { price, earnedUsd, width: widestOf(own).width });
    askNeighbours(token);
  }
  return new Map([...known].map(([token, { price }]) => [token, price]));
}

function byToken(edges: readonly SlowEdge[]): Map<string, SlowEdge[]> {
  const lists = new Map<string, SlowEdge[]>();
  for (const edge of edges)
    for (const token of [edge.token0, edge.token1]) {
      const list = lists.get(token);
      if (list === undefined) lists.set(token, [edge]);
      else list.push(edge);
    }
  return lists;
}

function widestOf(votes: readonly Vote[]): Vote {
  return votes.reduce((best, vote) => (isWider(vote, best) ? vote : best));
}

const NO_LINK = {
  ...{ hops: 0, parent: "", pool: "", side: 0, price: 0 },
  ...{ deepestPool: "", depthUsd: 0, restUsd: 0, departedAt: null, departedUsd: null },
  agreedUsd: null,
};

function isWider(vote: Vote, best: Vote): boolean {
  return vote.width === best.width ? vote.edge.pool < best.edge.pool : vote.width > best.width;
}

/** What a pool says of its other token, from one with a price. */
function votesOf(
  edge: SlowEdge,
  { from, known, leastDepthUsd }: { from: string; known: ReadonlyMap<string, Priced>; leastDepthUsd: number },
): Vote[] {
  const side = edge.token0 === from ? 1 : 0;
  const [token, near, far] =
    side === 1 ? [edge.token1, edge.depth0, edge.depth1] : [edge.token0, edge.depth1, edge.depth0];
  const base = known.get(from);
  if (base === undefined || known.has(token)) return [];
  const usd = side === 0 ? base.price.usd * edge.price : base.price.usd / edge.price;
  const width = Math.min(near * base.price.usd, far * usd, base.width);
  const hops = base.price.hops + 1;
  if (!(usd > 0 && usd <= MOST_USD && width >= leastDepthUsd && hops <= MOST_HOPS)) return [];
  const weight = width * Math.max(edge.held * edge.aged, LEAST_SHARE);
  return [{ token, parent: from, edge, side, usd, width, hops, weight }];
}

/** The weighted median of a token's votes, but for pools that have left others and are not followed yet. */
function decide(
  votes: readonly Vote[],
  {
    before,
    known,
    now,
  }: { known: ReadonlyMap<string, Priced>; before: PriceBefore | undefined; now: number },
): { price: SlowPrice; earnedUsd: number } {
  // Before they are summed up: the last bit of a sum depends on its order.
  const sorted = withCappedWeights(
    [...votes].sort((a, b) => a.usd - b.usd || (a.edge.pool < b.edge.pool ? -1 : 1)),
    known,
  );
  const median = medianOf(sorted) as Vote;
  if (before === undefined || sorted.length === 1)
    return verdict(sorted, median, { ...NOT_HELD, agreedUsd: before?.agreedUsd ?? null });
  const left = whomSomeLeft(sorted, { median, before, now }) ?? whomOneLeft(sorted, { median, before });
  const { departedAt, departedUsd, agreedUsd } = before;
  if (left === undefined) return verdict(sorted, median, { ...NOT_HELD, agreedUsd });
  const rival = medianOf(left) as Vote;
  const goesOn =
    departedAt !== null && departedUsd !== null && distance(median.usd, departedUsd) <= Math.log(BOUND);
  const departure = goesOn ? { departedAt, departedUsd } : { departedAt: now, departedUsd: median.usd };
  return now - departure.departedAt < waitSeconds(median.usd, rival.usd)
    ? verdict(sorted, rival, { ...departure, agreedUsd })
    : verdict(sorted, median, { ...NOT_HELD, agreedUsd: median.usd });
}

const NOT_HELD: Held = { departedAt: null, departedUsd: null, agreedUsd: null };

/** A minute for each 1 %. */
function waitSeconds(usd: number, other: number): number {
  return (60 * distance(usd, other)) / Math.log(1.01);
}

/** The others of one pool with more than half of the weight, if it is away from them and they are nearer to the price in use. */
function whomOneLeft(
  sorted: readonly Vote[],
  { median, before }: { median: Vote; before: PriceBefore },
): readonly Vote[] | undefined {
  const others = sorted.filter((vote) => vote !== median);
  const weight = weightOf(others);
  if (weight >= median.weight || weight < 0.1 * (weight + median.weight)) return undefined;
  const rival = medianOf(others) as Vote;
  const isAway = distance(median.usd, rival.usd) > 0.01;
  if (before.usd === null) return undefined;
  return isAway && distance(rival.usd, before.usd) < distance(median.usd, before.usd) ? others : undefined;
}

/** Those that trade and have stayed where all agreed, if they are a tenth, and the median has gone from there. */
function whomSomeLeft(
  sorted: readonly Vote[],
  { before, median, now }: { median: Vote; before: PriceBefore; now: number },
): readonly Vote[] | undefined {
  const agreed = before.agreedUsd ?? before.markedUsd;
  if (agreed === null || distance(median.usd, agreed) <= 0.01) return undefined;
  const [low, high] = [agreed / Math.exp(0.01), agreed * Math.exp(0.01)];
  const mayBeFarther = waitSeconds(median.usd, agreed) > 300;
  const stayed = sorted.filter(({ edge, usd }) => {
    if (now - edge.lastTime > 300 || distance(usd, median.usd) <= 0.01) return false;
    if (median.usd > agreed ? usd > high : usd < low) return false;
    return mayBeFarther || distance(usd, agreed) < distance(median.usd, agreed);
  });
  const weight = weightOf(stayed);
  return weight > 0 && weight >= 0.1 * weightOf(sorted) ? stayed : undefined;
}

function weightOf(votes: readonly Vote[]): number {
  return votes.reduce((sum, vote) => sum + vote.weight, 0);
}

/** All votes over one token weigh no more together than what supports it. */
function withCappedWeights(votes: readonly Vote[], known: ReadonlyMap<string, Priced>): Vote[] {
  const sumOver = (parent: string) =>
    votes.reduce((sum, vote) => sum + (vote.parent === parent ? vote.weight : 0), 0);
  return votes.map((vote) => {
    const excess = sumOver(vote.parent) / (known.get(vote.parent)?.earnedUsd ?? 0);
    return { ...vote, weight: excess > 1 ? vote.weight / excess : vote.weight };
  });
}

function medianOf(sorted: readonly Vote[]): Vote | undefined {
  const total = sorted.reduce((sum, vote) => sum + vote.weight, 0);
  let passed = 0;
  for (const vote of sorted) {
    passed += vote.weight;
    if (passed * 2 >= total) return vote;
  }
  return sorted[0];
}

function verdict(sorted: readonly Vote[], chosen: Vote, held: Held): { price: SlowPrice; earnedUsd: number } {
  const agreeing = sorted.filter(({ usd }) => usd <= chosen.usd * BOUND && usd >= chosen.usd / BOUND);
  const deepest = agreeing.reduce((best, vote) => (isWider(vote, best) ? vote : best));
  const depthUsd = agreeing.reduce((sum, { width }) => sum + width, 0);
  const price = {
    usd: chosen.usd,
    hops: Math.min(...sorted.map(({ hops }) => hops)),
    ...{ parent: chosen.parent, pool: chosen.edge.pool, side: chosen.side, price: chosen.edge.price },
    deepestPool: deepest.edge.pool,
    depthUsd: toThreeDigits(deepest.width),
    restUsd: toThreeDigits(Math.max(0, depthUsd - deepest.width)),
    departedAt: held.departedAt,
    departedUsd: held.departedUsd,
    agreedUsd: held.agreedUsd,
  };
  return { price, earnedUsd: agreeing.reduce((sum, { weight }) => sum + weight, 0) };
}

/** Rounded down to three binary digits after the first. */
function toThreeDigits(usd: number): number {
  if (!(usd > 0)) return usd;
  const step = 2 ** (Math.floor(Math.log2(usd)) - 3);
  return Math.floor(usd / step) * step;
}

/** The median of 1 and of what the pools with every other anchor say; with fewer than two others 1. */
function anchorUsd(
  anchor: string,
  at: { edges: readonly SlowEdge[]; anchors: readonly string[]; feeds: ReadonlyMap<string, number> },
): number {
  const { anchors, edges, feeds } = at;
  const feed = feeds.get(anchor);
  if (feed !== undefined) return nearOne(feed);
  const said = anchors.flatMap((other) => {
    const votes = edges.flatMap((edge) => {
      const isSide0 = edge.token0 === anchor && edge.token1 === other;
      const isSide1 = edge.token1 === anchor && edge.token0 === other;
      const weight = Math.min(edge.depth0, edge.depth1) * edge.held * edge.aged;
      if (other === anchor || !(isSide0 || isSide1) || !(weight >= LEAST_DEPTH_USD) || !(edge.price > 0))
        return [];
      const worth = nearOne(feeds.get(other) ?? 1);
      return [{ usd: isSide0 ? edge.price * worth : worth / edge.price, weight }];
    });
    votes.sort((a, b) => a.usd - b.usd);
    const total = votes.reduce((sum, vote) => sum + vote.weight, 0);
    let passed = 0;
    const median = votes.find((vote) => {
      passed += vote.weight;
      return passed * 2 >= total;
    });
    return median === undefined ? [] : [median.usd];
  });
  const opinions = [1, ...said].sort((a, b) => a - b);
  if (opinions.length < 3) return 1;
  const low = opinions[(opinions.length - 1) >> 1] as number;
  const high = opinions[opinions.length >> 1] as number;
  return nearOne(distance(low, 1) < distance(high, 1) ? low : high);
}

function nearOne(usd: number): number {
  return Math.abs(usd - 1) <= 0.005 ? 1 : usd;
}

function distance(a: number, b: number): number {
  return Math.abs(Math.log(a / b));
}

/** One side of a swap or pool: whole tokens, USD each, and the USD depth behind that price outside of the pool. */
export interface SupportedSide {
  readonly amount: number;
  readonly usd: number | null;
  readonly supportUsd: number;
}

/** What both sides are valued with: within the pool's own price, and within support, each with a tenth of tolerance. */
export function boundedUsd(
  side0: SupportedSide,
  side1: SupportedSide,
  price: number,
): [number | null, number | null] {
  let [usd0, usd1] = [side0.usd, side1.usd];
  if (usd0 !== null && usd1 !== null && price > 0 && Number.isFinite(price)) {
    if (side0.supportUsd < side1.supportUsd) usd0 = Math.min(usd0, BOUND * usd1 * price);
    if (side1.supportUsd < side0.supportUsd) usd1 = Math.min(usd1, (BOUND * usd0) / price);
  }
  const bound = (own: SupportedSide, usd: number | null, other: SupportedSide, otherUsd: number | null) => {
    if (usd === null || own.amount * usd <= own.supportUsd) return usd;
    const against = otherUsd === null ? 0 : Math.min(other.amount * otherUsd, other.supportUsd);
    return Math.min(usd, Math.max(own.supportUsd, BOUND * against) / own.amount);
  };
  return [bound(side0, usd0, side1, usd1), bound(side1, usd1, side0, usd0)];
}
