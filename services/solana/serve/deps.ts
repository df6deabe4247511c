import type { Store } from "../../shared/storage/port.ts";
import { CountCache } from "./lists/count-cache.ts";
import { SegmentIndex } from "./lists/segment-index.ts";
import type { ListCaches } from "./lists/token-list.ts";

/** What handlers need. */
export interface ServeDeps extends ListCaches {
  readonly store: Store;
}

export function createDeps(store: Store): ServeDeps {
  return { store, segments: new SegmentIndex(store), counts: new CountCache() };
}
