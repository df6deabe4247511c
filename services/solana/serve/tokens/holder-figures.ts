import type { Store } from "../../../shared/storage/port.ts";
import { toWhole } from "../../metrics/amount.ts";
import { type BalanceCounts, bucketBounds, findRank } from "../../metrics/balance-buckets.ts";
import { computeRanks, computeShare } from "../../metrics/holder-figures.ts";
import { holders, type TokenRow } from "../../store/token-collections.ts";

const LARGEST = [5, 10, 20, 50] as const;
/** Entries of the index that are passed for a balance in the middle of a bucket, at most: some 2 ms. */
const MAX_PASSED = 10_000;

export interface HolderFigures {
  /** Of the supply that the known holders have; null while the supply is unknown or 0. */
  readonly coverage: number | null;
  /** Wallets with a balance; as all that follows null unless the known holders cover the supply. */
  readonly count: number | null;
  /** Percent of the supply that the largest 5, 10, 20 and 50 hold. */
  readonly concentrations: Readonly<Record<(typeof LARGEST)[number], number | null>>;
  /** Whole tokens; null without holders too. */
  readonly median: number | null;
  readonly bottom10: number | null;
  readonly top10: number | null;
}

/** The share of its supply that a token's known holders have. A wallet that never moved any since the index began is unseen. */
export function computeCoverage({ held, supply }: Pick<TokenRow, "held" | "supply">): number | null {
  const share = computeShare(held, supply);
  // The supply was read at another slot than the balances: it may be a little less.
  return share === null ? null : Math.min(share, 1);
}

export function isCovered(token: TokenRow, leastCoverage: number): boolean {
  const coverage = computeCoverage(token);
  return coverage !== null && coverage >= leastCoverage;
}

/**
 * Distribution of a token: the largest holders, and single ones by their rank, which the counts by balance lead to. There
 * are figures only where the known holders have at least `leastCoverage` of the supply.
 */
export async function readHolderFigures(
  store: Store,
  { token, leastCoverage }: { token: TokenRow; leastCoverage: number },
): Promise<HolderFigures> {
  const { supply, decimals, holderCount } = token;
  const coverage = computeCoverage(token);
  if (coverage === null || coverage < leastCoverage) return { ...UNKNOWN, coverage };
  const largest = await store.find(holders, {
    filter: { token: token.number },
    order: [{ field: "balance", direction: "desc" }],
    via: BY_BALANCE,
    limit: LARGEST[3],
    fields: ["balance"],
  });
  const computeConcentration = (count: number): number | null => {
    const share = computeShare(sumOf(largest.slice(0, count)), supply);
    return share === null ? null : 100 * share;
  };
  const concentrations = {
    5: computeConcentration(5),
    10: computeConcentration(10),
    20: computeConcentration(20),
    50: computeConcentration(50),
  };
  if (holderCount === 0) return { ...UNKNOWN, coverage, count: 0, concentrations };
  const ranks = computeRanks(holderCount);
  const at = async (rank: number): Promise<number | null> => {
    const balance = await findBalance(store, { token, rank });
    return balance === undefined ? null : toWhole(balance, decimals);
  };
  return {
    coverage,
    count: holderCount,
    concentrations,
    median: computeMean(await Promise.all(ranks.median.map(at))),
    bottom10: await at(ranks.bottom10),
    top10: await at(ranks.top10),
  };
}

const UNKNOWN: HolderFigures = {
  coverage: null,
  count: null,
  concentrations: { 5: null, 10: null, 20: null, 50: null },
  median: null,
  bottom10: null,
  top10: null,
};

const BY_BALANCE = ["token", "balance", "owner"] as const;

function sumOf(held: readonly { readonly balance: bigint }[]): bigint {
  return held.reduce((sum, { balance }) => sum + balance, 0n);
}

/**
 * The balance at a rank, 0 = the smallest, among those of its bucket, from the nearer end of it. In the middle of a
 * bucket of many holders it is as far between the least and the greatest one as the rank is: within 6 % by the width of
 * a bucket. Raw units. Undefined if the counts and the holders differ, as during a write to MongoDB.
 */
async function findBalance(
  store: Store,
  { token, rank }: { token: TokenRow; rank: number },
): Promise<bigint | undefined> {
  const place = findRank(token.balanceCounts as BalanceCounts, rank);
  if (place === undefined) return undefined;
  const { least, most } = bucketBounds(place.bucket);
  if (least === most) return least;
  const read = async (direction: "asc" | "desc", skip: number): Promise<bigint | undefined> => {
    const [row] = await store.find(holders, {
      filter: { token: token.number, balance: { gte: least, lte: most } },
      order: [
        { field: "balance", direction },
        { field: "owner", direction: direction === "desc" ? "asc" : "desc" },
      ],
      via: BY_BALANCE,
      skip,
      limit: 1,
      fields: ["balance"],
    });
    return row?.balance;
  };
  const above = place.count - 1 - place.below;
  if (Math.min(place.below, above) <= MAX_PASSED)
    return place.below <= above ? read("asc", place.below) : read("desc", above);
  const [first, last] = await Promise.all([read("asc", 0), read("desc", 0)]);
  if (first === undefined || last === undefined) return undefined;
  return first + ((last - first) * BigInt(place.below)) / BigInt(place.count - 1);
}

function computeMean(values: readonly (number | null)[]): number | null {
  let mean = 0;
  for (const value of values) {
    if (value === null) return null;
    mean += value / values.length;
  }
  return mean;
}

/**
 * A page of a token's holders, the largest first, by the index alone. A deep page begins in the bucket of its first
 * holder, so that it passes the holders of that alone.
 */
export function findHolders(
  store: Store,
  { token, skip, limit }: { token: TokenRow; skip: number; limit: number },
): Promise<{ owner: string; balance: bigint }[]> {
  const rank = token.holderCount - 1 - skip;
  const place = rank < 0 ? undefined : findRank(token.balanceCounts as BalanceCounts, rank);
  const isDeep = place !== undefined && skip > MAX_PASSED;
  return store.find(holders, {
    filter: {
      token: token.number,
      ...(isDeep && { balance: { lte: bucketBounds(place.bucket).most } }),
    },
    order: [
      { field: "balance", direction: "desc" },
      { field: "owner", direction: "asc" },
    ],
    via: BY_BALANCE,
    skip: isDeep ? place.count - 1 - place.below : skip,
    limit,
    fields: ["owner", "balance"],
  });
}
