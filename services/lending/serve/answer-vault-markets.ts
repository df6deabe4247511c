import type { Endpoint, ParamsOf, TableResult } from "../../shared/contract/endpoint.ts";
import type { OrderTerm } from "../../shared/contract/order.ts";
import { notFoundError } from "../../shared/service/handlers.ts";
import { linkActiveSpan } from "../../shared/tracing/tracing.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { ServeDeps } from "./deps.ts";

/** All markets of one vault. Throws not_found where the protocol has no such vault. */
export async function answerVaultMarkets(
  { tables }: ServeDeps,
  { endpoint, protocol }: { endpoint: Endpoint; protocol: ProtocolId },
  params: { chain_id: number; vault_address: string; order: readonly OrderTerm[] },
): Promise<TableResult> {
  const found = await tables.find({ chainId: params.chain_id, protocol });
  const sheet = found?.lists?.marketsOf(params.vault_address);
  if (found === undefined || sheet === undefined) throw notFoundError(endpoint, params as ParamsOf<Endpoint>);
  linkActiveSpan(found.asked);
  const positions = sheet.find({ order: params.order, offset: 0, limit: sheet.count });
  return { rows: await sheet.render(endpoint, positions), version: found.version };
}
