import type { AsOf } from "../../shared/contract/as-of.ts";
import type { Endpoint, TableResult } from "../../shared/contract/endpoint.ts";
import type { OrderTerm } from "../../shared/contract/order.ts";
import { linkActiveSpan } from "../../shared/tracing/tracing.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { ColumnTable, TableQuery } from "./columns/column-table.ts";
import { type ServeDeps, stateFor } from "./deps.ts";
import type { ProtocolTables } from "./tables/protocol-tables.ts";

/** Parameters that every list has. */
interface ListParams extends AsOf {
  readonly chain_id: number;
  readonly protocol_id?: string | undefined;
  readonly min_tvl_usd?: number | undefined;
  readonly listed: "true" | "false" | "all";
  readonly order: readonly OrderTerm[];
  readonly limit: number;
  readonly offset: number;
}

export interface List {
  readonly endpoint: Endpoint;
  readonly protocol: ProtocolId;
  readonly tableOf: (tables: ProtocolTables) => ColumnTable;
  /** The column that min_tvl_usd filters. */
  readonly tvl: "tvlUsd" | "totalTvlUsd";
}

/** One page of a list; `equals` has the list's own filters, by column. */
export async function answerList(
  deps: ServeDeps,
  list: List,
  { params, equals = {} }: { params: ListParams; equals?: NonNullable<TableQuery["equals"]> },
): Promise<TableResult> {
  const { endpoint, protocol, tvl } = list;
  const state = await stateFor(deps, protocol, params);
  if (state === undefined) return { rows: [] };
  const { version } = state;
  linkActiveSpan(state.priceSpan);
  if (state.tables === undefined) return { rows: [], version };
  const { order, limit, offset, min_tvl_usd = 0, listed } = params;
  const table = list.tableOf(state.tables);
  const all = table.findAll({
    order,
    equals: {
      ...equals,
      protocolId: params.protocol_id,
      ...(listed !== "all" && { listed: listed === "true" }),
    },
    // A minimum of 0 also includes rows without a price.
    ...(min_tvl_usd > 0 && { minimum: { column: tvl, value: min_tvl_usd } }),
  });
  const page = all.subarray(offset, offset + limit);
  return { rows: await table.render(endpoint, page), total: all.length, version };
}
