import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";

/** What handlers stand on. */
export interface ServeDeps {
  readonly store: Store;
  readonly chains: readonly ChainDeployments[];
}
