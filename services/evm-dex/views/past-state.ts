import type { Store } from "../../shared/storage/port.ts";
import { protocolOf } from "../protocols/index.ts";
import type { CheckpointRow, PoolRow } from "../store/collections.ts";
import { lastObservation, type ObservationRow } from "../store/observations.ts";
import { getInactivePools, getPoolStates, lastEventUpTo, type PoolState } from "../store/queries.ts";

interface PastPool {
  readonly pool: PoolRow;
  /** Of an earlier block. */
  readonly checkpoint: CheckpointRow;
}

/**
 * A pool's state at an earlier block: after its last event up to it. Before the first one it is the state before the index
 * began; undefined for a pool that was created later, and where that state was not read. `balanceBlock` is -1 where no
 * balances were read up to then: those are the sums of the events.
 */
export async function readPastState(
  store: Store,
  { pool, checkpoint }: PastPool,
): Promise<PoolState | undefined> {
  const { chainId, poolAddress } = pool;
  const { blockNumber: block, blockTime: time } = checkpoint;
  const event = await lastEventUpTo(store, { chainId, poolAddress, block, time });
  if (event !== undefined) return withBalances(store, { pool, block, state: event.state });
  if (pool.createdBlock >= checkpoint.fromBlock) return undefined;
  const [inactive] = await getInactivePools(store, { chainId, addresses: [poolAddress] });
  const [later] = await getPoolStates(store, { chainId, addresses: [poolAddress] });
  const state = later?.anchor ?? inactive?.state;
  if (state === undefined || !hasPrice(pool, state)) return undefined;
  const isRead = inactive !== undefined && inactive.balanceBlock <= block;
  const { balance0, balance1, balanceBlock } = isRead ? inactive : NOT_READ;
  return { chainId, poolAddress, state, balance0, balance1, balanceBlock };
}

const NOT_READ = { balance0: 0n, balance1: 0n, balanceBlock: -1 };

async function withBalances(
  store: Store,
  { pool, block, state }: { pool: PoolRow; block: number; state: string },
): Promise<PoolState> {
  const { chainId, poolAddress } = pool;
  const at = { chainId, address: poolAddress, what: "surplus", block } as const;
  return withSurplus(pool, { state, surplus: await lastObservation(store, at) });
}

/** Balances exceed the sums of events by what was last read to be so. */
export function withSurplus(
  pool: PoolRow,
  { state, surplus }: { state: string; surplus: ObservationRow | undefined },
): PoolState {
  const { chainId, poolAddress } = pool;
  if (surplus === undefined) return { chainId, poolAddress, state, ...NOT_READ };
  const protocol = protocolOf(pool.protocol);
  const { amount0, amount1 } = protocol.reserves(protocol.read(state));
  return {
    ...{ chainId, poolAddress, state },
    balance0: amount0 + (surplus.value0 ?? 0n),
    balance1: amount1 + (surplus.value1 ?? 0n),
    balanceBlock: surplus.blockNumber,
  };
}

/** Of some pools older than the index only the balances could be read. */
function hasPrice(pool: PoolRow, state: string): boolean {
  const protocol = protocolOf(pool.protocol);
  return protocol.generation === "v2" || protocol.price(protocol.read(state), pool) !== undefined;
}
