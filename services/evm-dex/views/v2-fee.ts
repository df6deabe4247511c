import type { Store } from "../../shared/storage/port.ts";
import { readV2State, type V2State } from "../protocols/aerodrome-v2/state.ts";
import type { PoolRow } from "../store/collections.ts";
import { lastSwapOf } from "../store/queries.ts";
import { getFactoryFees } from "../store/v2-queries.ts";

/**
 * The fee in force of a v2 pool, in ten-thousandths: its custom fee, known from events; else its factory's default, of
 * which the newest sight counts: the index's last reading, or the fee that the pool's own last swap paid after it.
 * Where nothing was read, what the pool's events and its first state say.
 */
export async function readV2Fee(
  store: Store,
  { pool, state }: { pool: PoolRow; state: V2State },
): Promise<number> {
  if (state.hasCustomFee) return state.fee;
  const read = await getFactoryFees(store, { chainId: pool.chainId, factory: pool.dexAddress });
  const defaultFee = pool.stable ? read?.stableFee : read?.volatileFee;
  if (read === undefined || defaultFee === undefined || defaultFee === null) return state.fee;
  if (defaultFee === state.fee) return defaultFee;
  const swap = await lastSwapOf(store, pool);
  if (swap === undefined || swap.blockNumber <= read.block) return defaultFee;
  const then = readV2State(swap.state);
  return then.hasCustomFee ? defaultFee : then.fee;
}
