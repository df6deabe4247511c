import type { RowText } from "../../../shared/contract/endpoint.ts";
import type { OrderTerm } from "../../../shared/contract/order.ts";
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
  return async (request) => {
    const { chainId, family, token } = request;
    const page = { skip: request.offset, limit: request.limit };
    let checkpoint = await getCheckpoint(store, chainId);
    for (let attempt = 1; ; attempt++) {
      const rows = await pages.read(
        { chainId, family, token, where: {} },
        completeOrder(request.order),
        page,
      );
      const after = await getCheckpoint(store, chainId);
      // Lists change so rarely that the last attempt is good enough.
      if (after?.blockHash === checkpoint?.blockHash || attempt === MAX_ATTEMPTS)
        return { checkpoint, rows: rows as RowText[] };
      checkpoint = after;
    }
  };
}
