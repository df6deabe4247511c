import { ReorgDetected } from "../../chain-errors.ts";
import type { EvmSource, StoredBlock } from "../port.ts";

export type { StoredBlock } from "../port.ts";

/**
 * Headers kept behind the checkpoint: the depth of a reorg that they can undo. Four times the depth at which Ethereum
 * is final; a catch-up reads every one of these blocks whole and in order.
 */
export const KEPT_HEADERS = 256;

type HeaderSource = Pick<EvmSource, "headers">;

/** The last of these blocks that the chain still has, by one request. */
export async function lastOnChain<B extends Pick<StoredBlock, "number" | "hash">>(
  source: HeaderSource,
  blocks: readonly B[],
): Promise<B | undefined> {
  const newestFirst = [...blocks].sort((a, b) => b.number - a.number);
  const onChain = await source.headers(newestFirst.map(({ number }) => number));
  return newestFirst.find(({ hash }, i) => onChain[i]?.hash === hash);
}

/**
 * The last block between `low` and `high` (inclusive) that has stored rows and is still on the chain; null where
 * there is none. A binary search: the chain has every row's block up to the fork and none after it.
 */
export async function searchFork(
  source: HeaderSource,
  {
    low,
    high,
    lastRow,
  }: {
    low: number;
    high: number;
    /** The block of the last row between the two, inclusive. */
    lastRow: (range: { low: number; high: number }) => Promise<StoredBlock | undefined>;
  },
): Promise<StoredBlock | null> {
  let common: StoredBlock | null = null;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const row = await lastRow({ low, high: middle });
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

/**
 * The last block that an index and the chain have in common: by the known blocks, then by rows between the last of
 * them that is on the chain and the first that is not. Undefined where the endpoints are behind the index's final
 * block. Throws ReorgDetected where they have another block there, or move during the search.
 */
export async function findCommonBlock(
  source: HeaderSource,
  at: {
    final: StoredBlock;
    /** The checkpoint and the headers kept behind it. */
    known: readonly StoredBlock[];
    lastRow: (range: { low: number; high: number }) => Promise<StoredBlock | undefined>;
  },
): Promise<StoredBlock | undefined> {
  const { final, lastRow } = at;
  const above = at.known.filter(({ number }) => number > final.number);
  const newestFirst = [...above.sort((a, b) => b.number - a.number), final];
  const onChain = await source.headers(newestFirst.map(({ number }) => number));
  const there = onChain.at(-1);
  if (there === null || there === undefined) return undefined;
  if (there.hash !== final.hash)
    throw new ReorgDetected(`Block ${final.number} is ${there.hash}, which is not final.`);
  const first = newestFirst.findIndex(({ hash }, i) => onChain[i]?.hash === hash);
  // The store may lack the time of block 0.
  const known = { ...(newestFirst[first] as StoredBlock), time: onChain[first]?.timestamp as number };
  const replaced = newestFirst[first - 1];
  if (replaced === undefined) return known;
  const common =
    (await searchFork(source, { low: known.number + 1, high: replaced.number - 1, lastRow })) ?? known;
  // Requests may reach different endpoints: a rollback must follow from one response.
  const [base, last, next] = await source.headers([final.number, common.number, replaced.number]);
  if (base?.hash !== final.hash || last?.hash !== common.hash || next?.hash === replaced.hash)
    throw new ReorgDetected(`The chain moves while the fork below block ${replaced.number} is sought.`);
  return common;
}
