import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { hasData, versionOf } from "../../../../../shared/index/evm/checkpoint.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { createPoolLists } from "../../../../serve/pool-list/pool-list.ts";
import type { endpoint } from "./pools.endpoint.ts";

export function clonesPoolsHandler({ store }: ServeDeps): Handler<typeof endpoint> {
  const readPoolList = createPoolLists(store);
  return async (params, { signal }) => {
    const { checkpoint, rows } = await readPoolList({
      chainId: params.chain_id,
      family: "clones",
      token: params.token_address,
      order: params.order,
      limit: params.limit,
      offset: params.offset,
      signal,
    });
    return hasData(checkpoint) ? { rows, version: versionOf(checkpoint) } : { rows };
  };
}
