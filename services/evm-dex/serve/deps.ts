import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { PoolReader } from "./pool/pool-reader.ts";
import type { V2HeadTable } from "./pool-list/v2-head-table.ts";
import type { WalletQueue } from "./provider/requested-wallets.ts";

/** The sources of indexed data. */
export interface StoreDeps {
  readonly store: Store;
  readonly chains: readonly ChainDeployments[];
}

/** Dependencies of handlers. */
export interface ServeDeps extends StoreDeps {
  /** Single pools, read through snapshots. */
  readonly pools: Pick<PoolReader, "readAsOf">;
  /** By chain: its v2 pools at the head, in memory. */
  readonly v2Tables: ReadonlyMap<number, V2HeadTable>;
  /** Wallets whose past the ingest shall read. */
  readonly wallets: WalletQueue;
}
