import { collection, type RowOf } from "../../shared/storage/collection.ts";
import type { Store } from "../../shared/storage/port.ts";

/**
 * What was read of contracts because no event tells it, from a block on: with the event rows, a pool can be told as it was at
 * an earlier block (at_block). Written on change. `pool_states`, `pool_fees` and `factory_fees` have the last ones.
 *
 * `what`, and its values:
 * - surplus: by how much a pool's balances exceed the sums of its events, token0 and token1
 * - fee: value0 = hundredths of a bip; null where the call failed
 * - default_fees: value0 and value1 = a factory's volatile and stable fee. Each reading is written: what counts is
 *   whether a swap came after it.
 */
export const observations = collection({
  name: "observations",
  fields: {
    chainId: "int",
    /** A pool, or a factory. */
    address: "hex",
    what: "text",
    blockNumber: "int",
    value0: "bigint?",
    value1: "bigint?",
  },
  key: ["chainId", "address", "what", "blockNumber"],
  indexes: [{ fields: ["chainId", "blockNumber"] }],
  shardKey: ["chainId", "address"],
});

export type ObservationRow = RowOf<typeof observations>;
export type Observed = "surplus" | "fee" | "default_fees";

/** The last one up to a block. */
export async function lastObservation(
  store: Store,
  { chainId, address, what, block }: { chainId: number; address: string; what: Observed; block: number },
): Promise<ObservationRow | undefined> {
  const [row] = await store.getLast(observations, [{ chainId, address, what, blockNumber: block }]);
  return row;
}
