import { hasData } from "../../shared/index/evm/checkpoint.ts";
import { type Heads as HeadsOf, HeadWatcher } from "../../shared/service/head-watcher.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";

export type Heads = HeadsOf<CheckpointRow>;

/** Watches the indexed heads in this service's store. */
export function watchHeads(
  store: Store,
  options: { chainIds: readonly number[]; onFailure?: (error: unknown, chainId: number) => void },
): HeadWatcher<CheckpointRow> {
  return new HeadWatcher<CheckpointRow>({
    ...options,
    read: (chainId) => getCheckpoint(store, chainId),
    hasData,
  });
}
