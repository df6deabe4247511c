import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { PoolReader } from "./pool/pool-reader.ts";

/** What the indexed data is read from. */
export interface StoreDeps {
  readonly store: Store;
  readonly chains: readonly ChainDeployments[];
}

/** What handlers stand on. */
export interface ServeDeps extends StoreDeps {
  /** Single pools, read through snapshots. */
  readonly pools: PoolReader;
}
