import type { RowText } from "../../../shared/contract/endpoint.ts";
import type { OrderTerm } from "../../../shared/contract/order.ts";
import { readConsistently } from "../../../shared/index/consistent-read.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { PoolPages } from "../../store/pool-list/pool-pages.ts";
import { completeOrder, type PoolListField } from "../../store/pool-list/pool-sets.ts";
import { getCheckpoint } from "../../store/queries.ts";

export interface PoolListRequest {
  readonly chainId: number;
  readonly family: string;
  /** Only pools of this token. */
  readonly token: string | undefined;
  readonly order: readonly OrderTerm<PoolListField>[];
  readonly limit: number;
  readonly offset: number;
  readonly signal?: AbortSignal;
}

export interface PoolListAnswer {
  readonly checkpoint: CheckpointRow | undefined;
  readonly rows: readonly RowText[];
}

/** Attempts to read a page, which may take several reads, between two writes of the ingest. */
const MAX_ATTEMPTS = 3;

/** Reads pages of a family's pools; every order ends in the pool's address. */
export function createPoolLists(store: Store): (request: PoolListRequest) => Promise<PoolListAnswer> {
  const pages = new PoolPages(store);
  return async ({ chainId, family, token, order, limit, offset, signal }) => {
    const found = await readConsistently<CheckpointRow | undefined, readonly unknown[]>({
      getCheckpoint: () => getCheckpoint(store, chainId),
      // Discovery finds pools before the first block is indexed.
      hasData: (_): _ is CheckpointRow | undefined => true,
      read: () =>
        pages.read({ chainId, family, token, where: {} }, completeOrder(order), { skip: offset, limit }),
      isSameState: (before, after) => after?.blockHash === before?.blockHash,
      maxAttempts: MAX_ATTEMPTS,
      signal,
    });
    // Lists change so rarely that the last attempt is as good as any.
    return { checkpoint: found?.checkpoint, rows: (found?.value ?? []) as RowText[] };
  };
}
