import type { Store } from "../../../shared/storage/port.ts";
import { toWhole } from "../../metrics/amount.ts";
import { computeRanks, computeShare } from "../../metrics/holder-figures.ts";
import { holders, type TokenRow } from "../../store/collections.ts";

const LARGEST = [5, 10, 20, 50] as const;

export interface HolderFigures {
  /** Percent of the supply that the largest 5, 10, 20 and 50 hold; null while the supply is unknown. */
  readonly concentrations: Readonly<Record<(typeof LARGEST)[number], number | null>>;
  /** Whole tokens; null without holders. */
  readonly median: number | null;
  readonly bottom10: number | null;
  readonly top10: number | null;
}

/** Distribution of a token: the largest holders, and single ones by their rank in the index by balance. */
export async function readHolderFigures(store: Store, token: TokenRow): Promise<HolderFigures> {
  const { mint, supply, decimals, holderCount } = token;
  const largest = await store.find(holders, {
    filter: { mint },
    order: [{ field: "balance", direction: "desc" }],
    via: ["mint", "balance", "owner"],
    limit: Math.max(...LARGEST),
    fields: ["balance"],
  });
  const computeConcentration = (count: number): number | null => {
    const share = computeShare(
      largest.slice(0, count).reduce((sum, { balance }) => sum + balance, 0n),
      supply,
    );
    return share === null ? null : 100 * share;
  };
  const concentrations = {
    5: computeConcentration(5),
    10: computeConcentration(10),
    20: computeConcentration(20),
    50: computeConcentration(50),
  };
  if (holderCount === 0) return { concentrations, median: null, bottom10: null, top10: null };
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
