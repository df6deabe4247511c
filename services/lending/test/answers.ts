import type { Cell } from "../../shared/contract/column.ts";
import type { Endpoint, Handler, ParamsOf, TableResult } from "../../shared/contract/endpoint.ts";
import { parseQuery } from "../../shared/contract/parse.ts";
import { checkRows } from "../../shared/contract/testkit/check-rows.ts";
import { TimeSlices } from "../../shared/process/time-slices.ts";
import { testContext } from "../../shared/testkit/handler-context.ts";
import { CuratorRegistry } from "../curators.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { LendingRow } from "../protocols/rows.ts";
import type { ServeDeps } from "../serve/deps.ts";
import { PriceTable } from "../serve/prices/price-table.ts";
import { ProtocolTables } from "../serve/tables/protocol-tables.ts";
import { collectRows, RowDictionaries } from "../serve/tables/row-set.ts";
import { address, fakeProtocol } from "./fake-protocol.ts";
import { CHAIN_ID, timeOf } from "./stored.ts";

/** The block of hand-made tables. */
export const BLOCK = 200;

/** The one curator that the tests' registry knows. */
export const KNOWN_CURATOR = { address: address(0xc0), name: "Known Capital" };

/** The one vault that the registry attributes to it. */
export const ATTRIBUTED_VAULT = address(0xcf);

export const CURATORS = new CuratorRegistry([
  {
    name: KNOWN_CURATOR.name,
    verified: true,
    source: "https://example.com",
    addresses: { [CHAIN_ID]: [KNOWN_CURATOR.address] },
    vaults: { [CHAIN_ID]: [ATTRIBUTED_VAULT] },
  },
]);

export interface Hand {
  readonly protocol: ProtocolId;
  readonly rows: readonly LendingRow[];
  /** USD by token. */
  readonly prices?: Readonly<Record<string, number>>;
}

/** Tables of hand-made rows, on Base at BLOCK. */
export async function tablesOf({ protocol, rows, prices = {} }: Hand): Promise<ProtocolTables> {
  const fake = { ...fakeProtocol(protocol), rows: (): Generator<LendingRow> => each(rows) };
  const [chainId, time] = [CHAIN_ID, timeOf(BLOCK)];
  const set = await collectRows({
    deployed: { protocol: fake, deployment: undefined },
    entities: { get: () => undefined, all: () => [] },
    ...{ chainId, time, memory: new RowDictionaries(), slices: new TimeSlices() },
    onSkipped: (row) => {
      throw new Error(`A number is not finite: ${JSON.stringify(row)}`);
    },
  });
  const table = pricesOf(prices);
  return new ProtocolTables({ rows: set, prices: table, protocol, chainId, time, curators: CURATORS });
}

/** Prices of the walk at the rows' block. */
export function pricesOf(usdOf: Readonly<Record<string, number>>): PriceTable {
  const priced = (usd: number) => ({ usd, source: "dex", ageSeconds: 0 }) as const;
  return new PriceTable(new Map(Object.entries(usdOf).map(([token, usd]) => [token, priced(usd)])));
}

function* each(rows: readonly LendingRow[]): Generator<LendingRow> {
  yield* rows;
}

/** Dependencies of handlers with hand-made tables; no other chain or protocol is indexed. */
export async function depsOf(hand: Hand): Promise<ServeDeps> {
  const tables = await tablesOf(hand);
  const version = { block: BLOCK, time: timeOf(BLOCK) };
  return {
    tables: {
      headState: async ({ chainId, protocol }) =>
        chainId === CHAIN_ID && protocol === hand.protocol ? { tables, version } : undefined,
    },
    past: { stateAt: async () => undefined },
  };
}

export type RowObject = Record<string, Cell>;

/** A handler's result for a query string. */
export function callHandler<E extends Endpoint>(
  endpoint: E,
  handler: Handler<E>,
  query: string,
): Promise<TableResult> {
  return handler(parseQuery(endpoint, query).params as ParamsOf<E>, testContext());
}

/** The rows of an answer as objects by column, after a check against the declaration. */
export function rowsIn(endpoint: Endpoint, answer: TableResult): RowObject[] {
  const rows = answer.rows.map((row) => (typeof row === "string" ? (JSON.parse(row) as Cell[]) : row));
  checkRows(endpoint, rows);
  return rows.map((cells) =>
    Object.fromEntries(endpoint.columns.map(({ name }, i) => [name, cells[i] as Cell])),
  );
}

/** Rows of a query, as objects. */
export async function rowsOf<E extends Endpoint>(
  endpoint: E,
  handler: Handler<E>,
  query = "",
): Promise<RowObject[]> {
  return rowsIn(endpoint, await callHandler(endpoint, handler, query));
}
