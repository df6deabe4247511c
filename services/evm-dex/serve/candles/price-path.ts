import { FULL_AGE_SECONDS } from "../../../shared/pricing/vote-share.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { isAnchor } from "../../price/link.ts";
import { type CheckpointRow, type PoolRow, priceLinks } from "../../store/collections.ts";
import { toLink } from "../../store/price-links.ts";
import { getPools } from "../../store/queries.ts";

/** No path of prices is longer, even where its links are of several blocks. */
const MOST_STEPS = 8;

export interface PathStep {
  readonly pool: PoolRow;
  /** Which of the pool's tokens is priced by the other one. */
  readonly side: 0 | 1;
}

export interface PricePath {
  /** From the token to the anchor; empty for an anchor. */
  readonly steps: readonly PathStep[];
  readonly anchor: string;
}

/** The pools that price a token at the head, down to an anchor; undefined where it has no price. */
export async function findPricePath(
  store: Store,
  { token, checkpoint }: { token: string; checkpoint: CheckpointRow },
): Promise<PricePath | undefined> {
  const { chainId, blockNumber } = checkpoint;
  const steps: PathStep[] = [];
  for (let at = token; steps.length <= MOST_STEPS; ) {
    const [row] = await store.getLast(priceLinks, [{ chainId, token: at, blockNumber }]);
    const link = row === undefined ? undefined : toLink(row);
    if (link === undefined) return undefined;
    if (isAnchor(link)) return { steps, anchor: at };
    const addresses = [...new Set([link.support.pool, link.pool])];
    const pool = choosePool(await getPools(store, { chainId, addresses }), { link, checkpoint });
    if (pool === undefined) return undefined;
    const side = pool.token0Address === at ? 0 : 1;
    steps.push({ pool, side });
    at = side === 0 ? pool.token1Address : pool.token0Address;
  }
  return undefined;
}

/**
 * The deepest pool that agrees with the price if it is old enough, else the pool of the weighted median: the median's may be
 * another one at each block, and a stranger can make the deepest one, but not an old one.
 */
function choosePool(
  found: readonly PoolRow[],
  { link, checkpoint }: { link: { pool: string; support: { pool: string } }; checkpoint: CheckpointRow },
): PoolRow | undefined {
  const deepest = found.find(({ poolAddress }) => poolAddress === link.support.pool);
  const isOld = deepest !== undefined && checkpoint.blockTime - deepest.createdAt >= FULL_AGE_SECONDS;
  return isOld ? deepest : found.find(({ poolAddress }) => poolAddress === link.pool);
}
