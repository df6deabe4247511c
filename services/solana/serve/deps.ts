import type { Store } from "../../shared/storage/port.ts";
import type { KeptRows } from "../store/kept-rows.ts";
import type { TokenRow } from "../store/token-collections.ts";
import { CountCache } from "./lists/count-cache.ts";
import { SegmentIndex } from "./lists/segment-index.ts";
import type { ListCaches } from "./lists/token-list.ts";

/** What handlers need. */
export interface ServeDeps extends ListCaches {
  readonly store: Store;
  readonly kept: KeptRows;
  /** Share of its supply that a token's known holders must have before anything is said of all of them. */
  readonly leastCoverage: number;
  /** Asks the ingest for all holders of a token. */
  readonly requestHolders: (token: TokenRow) => void;
}

export interface ServeOptions {
  /** Default: all rows. */
  readonly kept?: KeptRows;
  /** Of 100; SOLANA_HOLDERS_PERCENT. */
  readonly leastCoveragePercent?: number;
  readonly requestHolders?: ServeDeps["requestHolders"];
}

export function createDeps(store: Store, options: ServeOptions = {}): ServeDeps {
  const { kept = {}, leastCoveragePercent = 95, requestHolders = () => {} } = options;
  return {
    store,
    kept,
    segments: new SegmentIndex(store),
    counts: new CountCache(),
    leastCoverage: leastCoveragePercent / 100,
    requestHolders,
  };
}
