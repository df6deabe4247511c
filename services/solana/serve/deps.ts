import type { Store } from "../../shared/storage/port.ts";
import type { KeptRows } from "../store/kept-rows.ts";
import { CountCache } from "./lists/count-cache.ts";
import { SegmentIndex } from "./lists/segment-index.ts";
import type { ListCaches } from "./lists/token-list.ts";

/** What handlers need. */
export interface ServeDeps extends ListCaches {
  readonly store: Store;
  readonly kept: KeptRows;
}

export function createDeps(store: Store, kept: KeptRows = {}): ServeDeps {
  return { store, kept, segments: new SegmentIndex(store), counts: new CountCache() };
}
