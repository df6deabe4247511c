import { formatDateTime } from "../../shared/contract/cells.ts";
import type { OrderTerm } from "../../shared/contract/order.ts";
import type { OrderBy, Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, type PoolListingRow, poolListings } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";

const FIELDS = [
  "chainId",
  "dexAddress",
  "dexName",
  "poolAddress",
  "token0Address",
  "token0Symbol",
  "token0Decimals",
  "token1Address",
  "token1Symbol",
  "token1Decimals",
  "createdAt",
  "fee",
  "tickSpacing",
] as const;
export type PoolListField = (typeof FIELDS)[number];

export interface PoolListRequest {
  readonly chainId: number;
  readonly family: string;
  /** Only pools of this token. */
  readonly token: string | undefined;
  readonly order: readonly OrderTerm<PoolListField>[];
  readonly limit: number;
  readonly offset: number;
}

/** One page of a family's pools, every order ending in the pool's address. */
export async function readPoolList(store: Store, request: PoolListRequest) {
  const checkpoint: CheckpointRow | undefined = await getCheckpoint(store, request.chainId);
  const rows = await store.find(poolListings, {
    filter: { chainId: request.chainId, family: request.family, token: request.token ?? "" },
    order: orderOf(request.order),
    skip: request.offset,
    limit: request.limit,
    fields: FIELDS,
  });
  return { checkpoint, rows: rows.map((row) => ({ ...row, createdAt: formatDateTime(row.createdAt) })) };
}

/**
 * The tie-break runs in the direction of the last column, so that one index serves both. The chain is the same for
 * all rows: ordering by it orders nothing.
 */
function orderOf(asked: readonly OrderTerm<PoolListField>[]): OrderBy<PoolListingRow>[] {
  if (asked.length === 0) {
    return [
      { field: "createdAt", direction: "desc" },
      { field: "poolAddress", direction: "asc" },
    ];
  }
  const terms: OrderBy<PoolListingRow>[] = asked.filter((term) => term.field !== "chainId");
  if (terms.some((term) => term.field === "poolAddress")) return terms;
  return [...terms, { field: "poolAddress", direction: asked.at(-1)?.direction ?? "asc" }];
}
