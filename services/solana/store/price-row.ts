import type { Contest } from "../price/contest.ts";
import type { PoolQuote } from "../price/pool-quote.ts";
import type { PriceEntry } from "../price/price-book.ts";
import type { PriceRow } from "./collections.ts";

type Numbers = readonly number[];
/** Address, parent, ratio, depth, parent's depth, since, time, prices, depths. */
type StoredQuote = readonly [
  ...[string, string, number, number, number, number, number],
  readonly Numbers[],
  readonly Numbers[],
];

type StoredContest = readonly [since: number, pools: readonly string[], poolUsd: number, othersUsd: number];

export function toPriceRow({ mint, quotes, used, source, depthUsd, slot }: PriceEntry): PriceRow {
  const { pool, parent, ratio, since, time } = source;
  return {
    mint,
    parent,
    ratio,
    pool,
    depthUsd,
    since,
    time,
    slot,
    usd: used?.usd ?? null,
    departedSince: used?.departure?.since ?? null,
    departedUsd: used?.departure?.usd ?? null,
    agreedUsd: used?.agreedUsd ?? null,
    contest: used?.contest ? toStoredContest(used.contest) : null,
    quotes: quotes.map(toStored),
  };
}

export function toPriceEntry(row: PriceRow): PriceEntry {
  const { mint, usd, departedSince, departedUsd, depthUsd, slot } = row;
  const quotes = (row.quotes as readonly StoredQuote[]).map(toQuote);
  const departure =
    departedSince === null || departedUsd === null ? undefined : { since: departedSince, usd: departedUsd };
  const source = quotes.find(({ pool }) => pool === row.pool) as PoolQuote;
  // Rows of earlier versions have no agreed price.
  const more = { departure, contest: toContest(row.contest), agreedUsd: row.agreedUsd ?? usd ?? 0 };
  const used = usd === null ? undefined : { usd, ...more };
  return { mint, quotes, used, source, depthUsd, slot };
}

function toStoredContest({ since, pools, poolUsd, othersUsd }: Contest): StoredContest {
  return [since, pools, poolUsd, othersUsd];
}

function toContest(stored: unknown): Contest | undefined {
  if (stored === null) return undefined;
  const [since, pools, poolUsd, othersUsd] = stored as StoredContest;
  return { since, pools, poolUsd, othersUsd };
}

function toStored(quote: PoolQuote): StoredQuote {
  const { pool, parent, ratio, depth, parentDepth, since, time, recent, depths } = quote;
  const prices = recent.map((point) => [point.time, point.price]);
  const held = depths.map((point) => [point.time, point.depth0, point.depth1]);
  return [pool, parent, ratio, depth, parentDepth, since, time, prices, held];
}

function toQuote(stored: StoredQuote): PoolQuote {
  const [pool, parent, ratio, depth, parentDepth, since, time, prices, held] = stored;
  return {
    pool,
    parent,
    ratio,
    depth,
    parentDepth,
    since,
    time,
    recent: prices.map(([at, price]) => ({ time: at as number, price: price as number })),
    depths: held.map(([at, depth0, depth1]) => ({
      time: at as number,
      depth0: depth0 as number,
      depth1: depth1 as number,
    })),
  };
}
