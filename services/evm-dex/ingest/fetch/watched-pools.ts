import { readUint } from "../../../shared/evm/abi.ts";
import type { EvmSource, Hex } from "../../../shared/evm/port.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { protocolOf } from "../../protocols/index.ts";
import { KINDS } from "../../protocols/protocol.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { listPoolsOfKinds } from "../../store/queries.ts";
import type { PoolBook } from "../state/pool-book.ts";

/** The pools whose LP tokens can move: their Transfers are fetched by address. */
export class WatchedPools {
  readonly #pools: Set<Hex>;

  constructor(pools: Iterable<Hex> = []) {
    this.#pools = new Set(pools);
  }

  has(pool: string): boolean {
    return this.#pools.has(pool as Hex);
  }

  add(pool: string): void {
    this.#pools.add(pool as Hex);
  }

  list(): Hex[] {
    return [...this.#pools];
  }
}

/**
 * The watched pools at the checkpoint. The state decides for a pool with events; one that is younger than the index
 * and has none has no LP tokens; an older one is read, and watched where no node has that state.
 */
export async function loadWatchedPools(
  store: Store,
  { source, pools, checkpoint }: { source: EvmSource; pools: PoolBook; checkpoint: CheckpointRow },
): Promise<WatchedPools> {
  const { chainId, blockNumber, fromBlock } = checkpoint;
  const kinds = KINDS.filter((kind) => protocolOf(kind).lpTokens !== undefined);
  const watch = new WatchedPools();
  const unknown: { pool: string; kind: string }[] = [];
  for (const { poolAddress: pool, protocol: kind, createdBlock } of await listPoolsOfKinds(store, {
    chainId,
    kinds,
  })) {
    const entry = pools.get(pool);
    const { lpTokens } = protocolOf(kind);
    if (entry?.anchor !== undefined) {
      if (lpTokens?.isMovable(lpTokens.supply(entry.state)) === true) watch.add(pool);
    } else if (createdBlock < fromBlock) unknown.push({ pool, kind });
  }
  const calls = unknown.flatMap(
    ({ pool, kind }) => protocolOf(kind).lpTokens?.supplyCall(pool, blockNumber) ?? [],
  );
  const results = await source.call(calls);
  unknown.forEach(({ pool, kind }, i) => {
    const supply = results[i];
    const isKnown = typeof supply === "string" && supply.length >= 66;
    if (!isKnown || protocolOf(kind).lpTokens?.isMovable(readUint(supply, 0)) === true) watch.add(pool);
  });
  return watch;
}
