import type { Store } from "../../shared/storage/port.ts";
import { readV2State, type V2State } from "../protocols/aerodrome-v2/state.ts";
import { lastObservation } from "../store/observations.ts";
import { lastSwapOf } from "../store/queries.ts";
import { getFactoryFees } from "../store/v2-queries.ts";
import type { ViewQuery } from "./view.ts";

/**
 * The fee in force of a v2 pool, in ten-thousandths: its custom fee, known from events; else its factory's default, of
 * which the newest sight counts: the index's last reading, or the fee that the pool's own last swap paid after it.
 * Where nothing was read, what the pool's events and its first state say.
 */
export async function readV2Fee(store: Store, query: ViewQuery & { state: V2State }): Promise<number> {
  const { pool, checkpoint, state } = query;
  if (state.hasCustomFee) return state.fee;
  const read = await readDefaultFees(store, query);
  const defaultFee = pool.stable ? read?.stableFee : read?.volatileFee;
  if (read === undefined || defaultFee === undefined || defaultFee === null) return state.fee;
  if (defaultFee === state.fee) return defaultFee;
  const { chainId, poolAddress } = pool;
  const { blockNumber: block, blockTime: time } = checkpoint;
  const swap = await lastSwapOf(store, { chainId, poolAddress, block, time });
  if (swap === undefined || swap.blockNumber <= read.block) return defaultFee;
  const then = readV2State(swap.state);
  return then.hasCustomFee ? defaultFee : then.fee;
}

/** What was last read of the pool's factory, at `block`. */
async function readDefaultFees(
  store: Store,
  { pool, checkpoint, isPast }: ViewQuery,
): Promise<{ volatileFee: number | null; stableFee: number | null; block: number } | undefined> {
  const { chainId, dexAddress: factory } = pool;
  if (!isPast) return getFactoryFees(store, { chainId, factory });
  const at = { chainId, address: factory, what: "default_fees", block: checkpoint.blockNumber } as const;
  const read = await lastObservation(store, at);
  if (read === undefined) return undefined;
  const toFee = (value: bigint | null) => (value === null ? null : Number(value));
  return { volatileFee: toFee(read.value0), stableFee: toFee(read.value1), block: read.blockNumber };
}
