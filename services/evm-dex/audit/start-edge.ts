import { protocolOf } from "../protocols/index.ts";
import type { InactivePoolRow, PoolRow } from "../store/collections.ts";
import type { SlowEdge } from "./slow-prices.ts";

const FULL_AGE_SECONDS = 30 * 86_400;

/** What of its depth a pool's age lets vote. Source: docs/prices.md. */
export function ageShareAt(lastUsed: number, { createdAt }: Pick<PoolRow, "createdAt">): number {
  return Math.min(1, Math.max(0, (lastUsed - createdAt) / FULL_AGE_SECONDS));
}

/** A pool that was read before the first block, until its first event; undefined without a price. */
export function startEdge(
  pool: PoolRow,
  { row, time }: { row: InactivePoolRow; time: number },
): SlowEdge | undefined {
  const protocol = protocolOf(pool.protocol);
  const state = protocol.read(row.state);
  const price = protocol.price(state, pool);
  if (price === undefined) return undefined;
  const { amount0: depth0, amount1: depth1 } = protocol.depth(state, pool);
  const { poolAddress, token0Address, token1Address } = pool;
  return {
    ...{ pool: poolAddress, token0: token0Address, token1: token1Address, price, depth0, depth1, held: 1 },
    aged: ageShareAt(time, pool),
    lastTime: time,
  };
}
