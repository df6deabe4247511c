import type { Endpoint, TableResult } from "../../shared/contract/endpoint.ts";
import type { OrderTerm } from "../../shared/contract/order.ts";
import { linkActiveSpan } from "../../shared/tracing/tracing.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { ServeDeps } from "./deps.ts";
import type { ProtocolTables } from "./protocol-tables.ts";
import type { Sheet, SheetQuery } from "./sheet.ts";

/** Parameters that every list has. */
interface ListParams {
  readonly chain_id: number;
  readonly protocol_id?: string | undefined;
  readonly min_tvl_usd?: number | undefined;
  readonly order: readonly OrderTerm[];
  readonly limit: number;
  readonly offset: number;
}

export interface List {
  readonly endpoint: Endpoint;
  /** Whose rows stand behind the path. */
  readonly protocol: ProtocolId;
  readonly sheetOf: (lists: ProtocolTables) => Sheet;
  /** The column that min_tvl_usd is about. */
  readonly tvl: "tvlUsd" | "totalTvlUsd";
}

/** One page of a list of rows; `only` has the list's own filters, by column. */
export async function answerList(
  { tables }: ServeDeps,
  list: List,
  { params, only = {} }: { params: ListParams; only?: NonNullable<SheetQuery["only"]> },
): Promise<TableResult> {
  const { endpoint, protocol, tvl } = list;
  const found = await tables.find({ chainId: params.chain_id, protocol });
  if (found === undefined) return { rows: [] };
  const { lists, version, asked } = found;
  linkActiveSpan(asked);
  if (lists === undefined) return { rows: [], version };
  const { order, limit, offset, min_tvl_usd = 0 } = params;
  const sheet = list.sheetOf(lists);
  const positions = sheet.find({
    ...{ order, limit, offset },
    only: { ...only, protocolId: params.protocol_id },
    // At least 0 lets pass what has no price, too.
    ...(min_tvl_usd > 0 && { atLeast: { column: tvl, value: min_tvl_usd } }),
  });
  return { rows: await sheet.render(endpoint, positions), version };
}
