import type { Log } from "../../shared/logging/log.ts";
import { HeadFeed, RECENT_BLOCKS } from "../../shared/service/head-feed.ts";
import { type Heads as HeadsOf, HeadWatcher } from "../../shared/service/head-watcher.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { CHAIN_ID, getCheckpoint, readRecentBlocks } from "../store/queries.ts";
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

/** Tells live streams of new heads. */
export function createHeadFeed(
  store: Store,
  { heads, log }: { readonly heads: HeadWatcher<CheckpointRow>; readonly log: Log },
): HeadFeed {
  return new HeadFeed({
    chainIds: [CHAIN_ID],
    current() {
      const head = heads.current(CHAIN_ID);
      if (head === undefined) return undefined;
      const { slot, blockhash, time, rowsFromSlot } = head;
      return { block: slot, hash: blockhash, time, version: String(rowsFromSlot) };
    },
    readRecent: (_chainId, slot) => readRecentBlocks(store, { slot, count: RECENT_BLOCKS }),
    watch: (notify) => heads.watch(notify),
    onFailure: (err) => log.warn({ err }, "the head cannot be told to live streams"),
  });
}
