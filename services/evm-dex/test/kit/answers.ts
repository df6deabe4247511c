import type { Cell } from "../../../shared/contract/column.ts";
import type { Endpoint, Handler, ParamsOf } from "../../../shared/contract/endpoint.ts";
import { checkRows } from "../../../shared/contract/testkit/check-rows.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { testContext } from "../../../shared/testkit/handler-context.ts";
import type { ChainDeployments } from "../../deployments.ts";
import type { ServeDeps } from "../../serve/deps.ts";
import { PoolReader } from "../../serve/pool/pool-reader.ts";
import { createV2Tables } from "../../serve/pool-list/v2-tables.ts";

/** The rows of a handler's result as objects by column, after a check against the declaration. */
export async function rowsOf<E extends Endpoint>(
  endpoint: E,
  handler: Handler<E>,
  params: ParamsOf<E>,
): Promise<Record<string, Cell>[]> {
  const answer = await handler(params, testContext());
  const rows = answer.rows.map((row) => (typeof row === "string" ? (JSON.parse(row) as Cell[]) : row));
  checkRows(endpoint, rows);
  return rows.map((cells) =>
    Object.fromEntries(endpoint.columns.map(({ name }, i) => [name, cells[i] as Cell])),
  );
}

/** The error code of a handler that refuses; undefined where it answers. */
export async function refusalOf<E extends Endpoint>(
  handler: Handler<E>,
  params: ParamsOf<E>,
): Promise<string | undefined> {
  const error = await handler(params, testContext()).then(
    () => undefined,
    (caught: unknown) => caught,
  );
  return (error as { code?: string } | undefined)?.code;
}

/** Dependencies of handlers over a store alone: no head is known beforehand, so each row is read from it. */
export function depsOf(store: Store, chains: readonly ChainDeployments[] = []): ServeDeps {
  const pools = new PoolReader({ store, heads: { current: () => undefined, observe: () => {} } });
  const v2Tables = createV2Tables({ store, chains });
  return { store, chains, pools, v2Tables, wallets: { request: () => {} } };
}
