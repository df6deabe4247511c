import { type AsOf, isAsOf } from "../../shared/contract/as-of.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { PastTables } from "./past/past-tables.ts";
import type { HeadState, LendingTables } from "./tables/lending-tables.ts";

/** Dependencies of the handlers of lists. */
export interface ServeDeps {
  readonly tables: Pick<LendingTables, "headState">;
  /** The same at the ends of past hours. */
  readonly past: Pick<PastTables, "stateAt">;
}

/** Dependencies of those that read what was before the head. */
export interface HistoryDeps {
  readonly store: Store;
  readonly chains: readonly ChainDeployments[];
}

/** The state that a request is answered from: of the head, or of the earlier block that it asks for. */
export function stateFor(
  { tables, past }: ServeDeps,
  protocol: ProtocolId,
  params: AsOf & { readonly chain_id: number },
): Promise<HeadState | undefined> {
  const { chain_id: chainId, at_block, at_time } = params;
  const asOf = { at_block, at_time };
  return isAsOf(asOf) ? past.stateAt({ chainId, protocol, asOf }) : tables.headState({ chainId, protocol });
}
