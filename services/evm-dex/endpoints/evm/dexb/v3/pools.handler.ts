import { toCells } from "../../../../../shared/contract/cells.ts";
import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { hasData, versionOf } from "../../../../serve/head.ts";
import { readPoolList } from "../../../../serve/pool-list.ts";
import { endpoint } from "./pools.endpoint.ts";

export function dexbPoolsHandler({ store }: ServeDeps): Handler<typeof endpoint> {
  return async (params) => {
    const { checkpoint, rows } = await readPoolList(store, {
      chainId: params.chain_id,
      family: "dexb",
      token: params.token_address,
      order: params.order,
      limit: params.limit,
      offset: params.offset,
    });
    const cells = rows.map((row) => toCells(endpoint, row));
    return hasData(checkpoint) ? { rows: cells, version: versionOf(checkpoint) } : { rows: cells };
  };
}
