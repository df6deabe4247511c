import type { Store } from "../../shared/storage/port.ts";
import type { PoolEventRow, PoolRow } from "../store/collections.ts";
import { observations } from "../store/observations.ts";
import { readPricesAtBlocks } from "../store/prices-at-blocks.ts";
import { RowsByBlock } from "../store/rows-by-block.ts";
import { withSurplus } from "./past-state.ts";
import { poolTvlUsd } from "./pool-tvl.ts";

/** The last event of a pool in a block. */
export interface LastEvent {
  readonly pool: PoolRow;
  readonly event: Pick<PoolEventRow, "blockNumber" | "state">;
}

/**
 * TVL of pools after events, each by the prices at the end of the event's block: what the pool's endpoint tells with at_block. All
 * rows of these blocks must be stored.
 */
export async function readTvlsAfter(
  store: Store,
  { chainId, events }: { chainId: number; events: readonly LastEvent[] },
): Promise<(number | null)[]> {
  const what = "surplus";
  const keys = events.map(({ pool, event: { blockNumber } }) => ({
    ...{ chainId, address: pool.poolAddress, what, blockNumber },
  }));
  const places = events.flatMap(({ pool, event: { blockNumber: block } }) =>
    [pool.token0Address, pool.token1Address].map((token) => ({ token, block })),
  );
  const [read, priceAt] = await Promise.all([
    store.getLast(observations, keys),
    readPricesAtBlocks(store, { chainId, places }),
  ]);
  const surpluses = new RowsByBlock(read, ({ address }) => address);
  return events.map(({ pool, event: { blockNumber: block, state } }) => {
    const surplus = surpluses.upTo(pool.poolAddress, block);
    const past = withSurplus(pool, { state, surplus });
    return poolTvlUsd(pool, { state: past, price: (token) => priceAt(token, block) });
  });
}
