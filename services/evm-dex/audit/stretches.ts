import { poolEvents } from "../store/collections.ts";
import { OLDEST_FIRST } from "../store/queries.ts";
import type { PoolScope } from "./scope.ts";

/** An hour of Base, six hours of Ethereum. */
const STRETCH_BLOCKS = 1_800;

/** Blocks of which all logs of a pool are compared with its rows, both inclusive. */
export interface Stretch {
  readonly fromBlock: number;
  readonly toBlock: number;
}

/**
 * Every other stretch holds a random event of the pool, where most rows are; the rest begin at any block of the pool's
 * life in the index, where a row may be missing; none where rows are no longer kept.
 */
export async function chooseStretches(scope: PoolScope): Promise<Stretch[]> {
  const { checkpoint, kept, pick, pool, sampling, store } = scope;
  const first = Math.max(checkpoint.fromBlock, pool.createdBlock, kept.events.block, kept.lpEvents.block);
  const last = checkpoint.blockNumber;
  if (first > last) return [];
  const stretchAt = (block: number): Stretch => {
    const fromBlock = block - ((block - first) % STRETCH_BLOCKS);
    return { fromBlock, toBlock: Math.min(last, fromBlock + STRETCH_BLOCKS - 1) };
  };
  const count = Math.ceil((last - first + 1) / STRETCH_BLOCKS);
  if (count <= sampling.stretches)
    return Array.from({ length: count }, (_, i) => stretchAt(first + i * STRETCH_BLOCKS));
  const filter = { chainId: pool.chainId, poolAddress: pool.poolAddress };
  const events = await store.count(poolEvents, filter);
  const chosen = new Map<number, Stretch>();
  for (let i = 0; i < sampling.stretches; i++) {
    const [event] =
      i % 2 === 1 || events === 0
        ? []
        : await store.find(poolEvents, { filter, order: OLDEST_FIRST, skip: pick(events), limit: 1 });
    // A row whose block is wrong may lie outside.
    const block = Math.min(last, Math.max(first, event?.blockNumber ?? first + pick(last - first + 1)));
    const stretch = stretchAt(block);
    chosen.set(stretch.fromBlock, stretch);
  }
  return [...chosen.values()];
}
