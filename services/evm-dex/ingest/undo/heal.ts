import type { Store } from "../../../shared/storage/port.ts";
import { poolEvents, pools, priceLinks } from "../../store/collections.ts";
import { lpEvents } from "../../store/v2-collections.ts";
import type { Indexer } from "../state/indexer.ts";
import { rollbackPrices } from "./rollback-prices.ts";

/** What a rollback will change: to be read before it. */
export interface Undone {
  /** Pools that lose events or balances, but stay. */
  readonly changed: readonly string[];
  /** Pools that were created after the target. */
  readonly gone: readonly string[];
  /** Tokens that lose a link. */
  readonly relinked: readonly string[];
}

export async function readUndone(
  store: Store,
  { indexer, target }: { indexer: Indexer; target: number },
): Promise<Undone> {
  const { chainId } = indexer;
  const after = { chainId, blockNumber: { gt: target } };
  const created = await store.find(pools, {
    filter: { chainId, createdBlock: { gt: target } },
    fields: ["poolAddress"],
  });
  const gone = new Set(created.map((row) => row.poolAddress));
  const events = await store.find(poolEvents, { filter: after, fields: ["poolAddress"] });
  const positions = await store.find(lpEvents, { filter: after, fields: ["poolAddress"] });
  const changed = new Set([...events, ...positions].map((row) => row.poolAddress));
  for (const pool of indexer.pools.observedAfter(target)) changed.add(pool);
  const links = await store.find(priceLinks, { filter: after, fields: ["token"] });
  return {
    changed: [...changed].filter((pool) => !gone.has(pool)),
    gone: [...gone],
    relinked: [...new Set(links.map((row) => row.token))],
  };
}

/**
 * Brings an indexer back to the block that its store was rolled back to, as if it had been loaded there: only what the
 * rollback changed is read again. The target must not lie before the index, and nothing may be waiting to be written.
 */
export async function healIndexer(
  store: Store,
  options: { indexer: Indexer; anchors: readonly string[]; target: number; undone: Undone },
): Promise<void> {
  const { indexer, target, undone } = options;
  const entries = await indexer.rollback(target, undone);
  await rollbackPrices(store, { ...options, ...undone, entries });
}
