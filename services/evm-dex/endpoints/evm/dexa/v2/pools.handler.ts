import { toCells } from "../../../../../shared/contract/cells.ts";
import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { toRowText } from "../../../../../shared/contract/render-table.ts";
import { versionOf } from "../../../../../shared/index/evm/checkpoint.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { V2PoolList, type V2PoolListRow } from "../../../../serve/pool-list/v2-pool-list.ts";
import { rewardTokens } from "../../../../views/v2-facts.ts";
import { endpoint } from "./pools.endpoint.ts";

export function dexaPoolsHandler({ v2Tables, chains }: ServeDeps): Handler<typeof endpoint> {
  const rewards = rewardTokens(chains);
  const render = (row: V2PoolListRow) => toRowText(endpoint, toCells(endpoint, row));
  const lists = new Map(
    [...v2Tables].map(([chainId, table]) => [chainId, new V2PoolList(table, { rewards, render })]),
  );
  return async ({ chain_id, limit, offset }) => {
    const found = await lists.get(chain_id)?.read({ limit, offset });
    if (found === undefined) return { rows: [] };
    return { rows: found.rows, total: found.total, version: versionOf(found.checkpoint) };
  };
}
