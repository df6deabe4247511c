import type { AsOf } from "../../shared/contract/as-of.ts";
import type { Endpoint, ParamsOf, TableResult } from "../../shared/contract/endpoint.ts";
import type { OrderTerm } from "../../shared/contract/order.ts";
import { notFoundError } from "../../shared/service/handlers.ts";
import { linkActiveSpan } from "../../shared/tracing/tracing.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import { type ServeDeps, stateFor } from "./deps.ts";

/** All markets of one vault. Throws not_found where the protocol has no such vault. */
export async function answerVaultMarkets(
  deps: ServeDeps,
  { endpoint, protocol }: { endpoint: Endpoint; protocol: ProtocolId },
  params: AsOf & { chain_id: number; vault_address: string; order: readonly OrderTerm[] },
): Promise<TableResult> {
  const state = await stateFor(deps, protocol, params);
  const table = state?.tables?.marketsOf(params.vault_address);
  if (state === undefined || table === undefined)
    throw notFoundError(endpoint, params as object as ParamsOf<Endpoint>);
  linkActiveSpan(state.priceSpan);
  const positions = table.find({ order: params.order, offset: 0, limit: table.count });
  return { rows: await table.render(endpoint, positions), version: state.version };
}
