import type { Store } from "../../shared/storage/port.ts";
import type { TokenRow } from "../store/collections.ts";
import { CountCache } from "./lists/count-cache.ts";
import { SegmentIndex } from "./lists/segment-index.ts";
import type { ListCaches } from "./lists/token-list.ts";

/** What handlers need. */
export interface ServeDeps extends ListCaches {
  readonly store: Store;
  /** Share of its supply that a token's known holders must have before anything is said of all of them. */
  readonly leastCoverage: number;
  /** Asks the ingest for all holders of a token. */
  readonly requestHolders: (token: TokenRow) => void;
}

export interface ServeOptions {
  /** Of 100; SOLANA_HOLDERS_PERCENT. */
  readonly leastCoveragePercent?: number;
  readonly requestHolders?: ServeDeps["requestHolders"];
}

export function createDeps(store: Store, options: ServeOptions = {}): ServeDeps {
  const { leastCoveragePercent = 95, requestHolders = () => {} } = options;
  return {
    store,
    segments: new SegmentIndex(store),
    counts: new CountCache(),
    leastCoverage: leastCoveragePercent / 100,
    requestHolders,
  };
}
