import { type Heads as HeadsOf, HeadWatcher } from "../../shared/service/head-watcher.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { CHAIN_ID, getCheckpoint } from "../store/queries.ts";
import { hasData } from "./head.ts";

export type Heads = Pick<HeadsOf<CheckpointRow>, "current">;

/** Watches how far this service's store is indexed. */
export function watchHead(
  store: Store,
  options: { onFailure?: (error: unknown) => void } = {},
): HeadWatcher<CheckpointRow> {
  return new HeadWatcher<CheckpointRow>({
    ...options,
    chainIds: [CHAIN_ID],
    read: () => getCheckpoint(store),
    hasData,
  });
}
