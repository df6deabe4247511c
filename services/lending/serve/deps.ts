import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { LendingTables } from "./tables/lending-tables.ts";

/** Dependencies of the handlers of lists. */
export interface ServeDeps {
  readonly tables: Pick<LendingTables, "headState">;
}

/** Dependencies of those that read what was before the head. */
export interface HistoryDeps {
  readonly store: Store;
  readonly chains: readonly ChainDeployments[];
}
