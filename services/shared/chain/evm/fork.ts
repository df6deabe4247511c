import type { EvmSource } from "./port.ts";

/**
 * Headers kept behind the checkpoint: how deep a reorg can be healed. Four times the depth at which Ethereum is final;
 * every block of it is read whole and in order, which a catch-up pays for.
 */
export const KEPT_HEADERS = 256;

/** A block as a store knows it. */
export interface StoredBlock {
  readonly number: number;
  readonly hash: string;
  /** Unix seconds. */
  readonly time: number;
}

type HeaderSource = Pick<EvmSource, "headers">;

/** The last of these blocks that the chain still has, by one question. */
export async function lastOnChain<B extends Pick<StoredBlock, "number" | "hash">>(
  source: HeaderSource,
  blocks: readonly B[],
): Promise<B | undefined> {
  const newestFirst = [...blocks].sort((a, b) => b.number - a.number);
  const onChain = await source.headers(newestFirst.map(({ number }) => number));
  return newestFirst.find(({ hash }, i) => onChain[i]?.hash === hash);
}

/**
 * The last block between `low` and `high` (inclusive) that rows were stored of and that the chain still has; null
 * where it has none. Whether it has a row's block is true up to the fork and false after it: a binary search.
 */
export async function searchFork(
  source: HeaderSource,
  of: {
    low: number;
    high: number;
    /** The block of the last row between the two, inclusive. */
    lastRow: (range: { low: number; high: number }) => Promise<StoredBlock | undefined>;
  },
): Promise<StoredBlock | null> {
  let { low, high } = of;
  let common: StoredBlock | null = null;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const row = await of.lastRow({ low, high: middle });
    if (row === undefined) {
      low = middle + 1;
    } else if ((await lastOnChain(source, [row])) === undefined) {
      high = row.number - 1;
    } else {
      common = row;
      low = middle + 1;
    }
  }
  return common;
}
