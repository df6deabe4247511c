import type { Store } from "../../../shared/storage/port.ts";
import { toWhole } from "../../metrics/amount.ts";
import { computeRanks, computeShare } from "../../metrics/holder-figures.ts";
import { holders, type TokenRow } from "../../store/collections.ts";

const LARGEST = [5, 10, 20, 50] as const;
/** How many of the largest token accounts the ingest asks for (`holdersSlot`). */
const ASKED_ACCOUNTS = 20;
/** Holders that are added up to tell how much of a supply is known. */
const SUMMED_HOLDERS = 1_000;
/** Holders are known where they have all of the supply but this share. */
const UNKNOWN_PERCENT = 1n;

export interface HolderFigures {
  /**
   * Percent of the supply that the largest 5, 10, 20 and 50 hold; null while the supply is unknown, or while they may not
   * be the largest.
   */
  readonly concentrations: Readonly<Record<(typeof LARGEST)[number], number | null>>;
  /** Whole tokens; null without holders, and where holders may be unknown. */
  readonly median: number | null;
  readonly bottom10: number | null;
  readonly top10: number | null;
}

/**
 * Distribution of a token: the largest holders, and single ones by their rank in the index by balance. A wallet that has
 * not moved the token since the index began is unseen, so there are figures only where the supply is accounted for, or
 * where the largest accounts were asked for.
 */
export async function readHolderFigures(store: Store, token: TokenRow): Promise<HolderFigures> {
  const { mint, supply, decimals, holderCount, holdersSlot } = token;
  const largest = await store.find(holders, {
    filter: { mint },
    order: [{ field: "balance", direction: "desc" }],
    via: ["mint", "balance", "owner"],
    limit: SUMMED_HOLDERS,
    fields: ["balance"],
  });
  const isAccountedFor = supply !== null && supply > 0n && isNearly(sumOf(largest), supply);
  const computeConcentration = (count: number): number | null => {
    if (!isAccountedFor && (holdersSlot === null || count > ASKED_ACCOUNTS)) return null;
    const share = computeShare(sumOf(largest.slice(0, count)), supply);
    return share === null ? null : 100 * share;
  };
  const concentrations = {
    5: computeConcentration(5),
    10: computeConcentration(10),
    20: computeConcentration(20),
    50: computeConcentration(50),
  };
  if (!isAccountedFor || holderCount === 0)
    return { concentrations, median: null, bottom10: null, top10: null };
  const ranks = computeRanks(holderCount);
  const at = async (rank: number): Promise<number | null> => {
    const balance = await findBalance(store, { mint, rank, holderCount });
    return balance === undefined ? null : toWhole(balance, decimals);
  };
  return {
    concentrations,
    median: computeMean(await Promise.all(ranks.median.map(at))),
    bottom10: await at(ranks.bottom10),
    top10: await at(ranks.top10),
  };
}

function isNearly(held: bigint, supply: bigint): boolean {
  return held * 100n >= supply * (100n - UNKNOWN_PERCENT);
}

function sumOf(held: readonly { readonly balance: bigint }[]): bigint {
  return held.reduce((sum, { balance }) => sum + balance, 0n);
}

/**
 * The balance at a rank, 0 = the smallest, read from the nearer end. Raw units. Undefined if the token counts more
 * holders than there are, as during a write to MongoDB.
 */
async function findBalance(
  store: Store,
  position: { mint: string; rank: number; holderCount: number },
): Promise<bigint | undefined> {
  const { mint, rank, holderCount } = position;
  const fromLargest = holderCount - 1 - rank;
  const isNearLargest = fromLargest < rank;
  const [row] = await store.find(holders, {
    filter: { mint },
    order: isNearLargest
      ? [
          { field: "balance", direction: "desc" },
          { field: "owner", direction: "asc" },
        ]
      : [
          { field: "balance", direction: "asc" },
          { field: "owner", direction: "desc" },
        ],
    via: ["mint", "balance", "owner"],
    skip: isNearLargest ? fromLargest : rank,
    limit: 1,
    fields: ["balance"],
  });
  return row?.balance;
}

function computeMean(values: readonly (number | null)[]): number | null {
  let mean = 0;
  for (const value of values) {
    if (value === null) return null;
    mean += value / values.length;
  }
  return mean;
}
