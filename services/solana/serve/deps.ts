import type { Store } from "../../shared/storage/port.ts";
import { CountMemory } from "./count-memory.ts";
import { StretchCache } from "./stretch-cache.ts";
import type { ListMemory } from "./token-list.ts";

/** What handlers stand on. */
export interface ServeDeps extends ListMemory {
  readonly store: Store;
}

export function createDeps(store: Store): ServeDeps {
  return { store, stretches: new StretchCache(store), counts: new CountMemory() };
}
