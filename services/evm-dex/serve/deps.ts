import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { PoolReader } from "./pool/pool-reader.ts";

/** The sources of indexed data. */
export interface StoreDeps {
  readonly store: Store;
  readonly chains: readonly ChainDeployments[];
}

/** Dependencies of handlers. */
export interface ServeDeps extends StoreDeps {
  /** Single pools, read through snapshots. */
  readonly pools: PoolReader;
}
