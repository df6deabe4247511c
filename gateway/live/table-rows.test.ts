import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { catalogue } from "../catalogue.ts";
import {
  compareAppends,
  compareRows,
  createRowReader,
  type KeyedRows,
  type Row,
  type RowChange,
} from "./table-rows.ts";

const endpointAt = (path: string) => {
  const endpoint = catalogue.find((each) => each.path === path);
  if (endpoint === undefined) throw new Error(`No endpoint ${path}`);
  return endpoint;
};
const markets = endpointAt("/evm/lending/lendingc/markets");
const readMarkets = createRowReader(markets);
const market = (id: string, tvl: number, at: string): Row =>
  markets.columns.map(({ name }) =>
    name === "marketId" ? id : name === "tvlUsd" ? tvl : name === "updatedAt" ? at : null,
  );

/** What a client of a list does with a change. */
function applyChange(rows: readonly Row[], { rows: changed, removed, order }: RowChange): Row[] {
  const nameOf = (row: Row) => [...readMarkets([row]).keys()][0] as string;
  const table = new Map(rows.map((row) => [nameOf(row), row]));
  for (const key of removed) table.delete(JSON.stringify(key));
  for (const row of changed) table.set(nameOf(row), row);
  return order === undefined
    ? [...table.values()]
    : order.map((key) => table.get(JSON.stringify(key)) as Row);
}
const withoutTime = (rows: readonly Row[]) =>
  rows.map((row) => row.filter((_, at) => markets.columns[at]?.name !== "updatedAt"));

describe("rows of live tables", () => {
  it("property: a client that applies a change has the table after it, in its order", () => {
    const table = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 2 })), {
      selector: ([id]) => id,
    });
    fc.assert(
      fc.property(table, table, (one, other) => {
        const before = one.map(([id, tvl]) => market(`m${id}`, tvl, "t0"));
        const after = other.map(([id, tvl]) => market(`m${id}`, tvl, "t1"));
        const change = compareRows(readMarkets(before), readMarkets(after));
        expect(withoutTime(applyChange(before, change))).to.deep.equal(withoutTime(after));
      }),
    );
  });

  it("property: the same rows at another time are no change", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer()), (ids) => {
        const at = (time: string): KeyedRows => readMarkets(ids.map((id) => market(String(id), id, time)));
        expect(compareRows(at("t0"), at("t1"))).to.deep.equal({ rows: [], removed: [] });
      }),
    );
  });

  it("takes the clocks that a table declares for no change, and no other column", () => {
    const prices = endpointAt("/evm/prices");
    const read = createRowReader(prices);
    const price = (cells: Readonly<Record<string, number | string>>): Row =>
      prices.columns.map(({ name }) => cells[name] ?? (name === "token" ? "0xa" : null));
    const before = read([price({ priceUsd: 1, block: 7, blockTime: 70, ageSeconds: 3 })]);
    const later = price({ priceUsd: 1, block: 8, blockTime: 72, ageSeconds: 5 });
    expect(compareRows(before, read([later]))).to.deep.equal({ rows: [], removed: [] });
    const deeper = price({ priceUsd: 1, block: 7, blockTime: 70, ageSeconds: 3, depthUsd: 9 });
    expect(compareRows(before, read([deeper])).rows).to.deep.equal([deeper]);
  });

  it("names rows with the same key apart", () => {
    const trades = endpointAt("/api/v1/solana/token-transactions-time-bounded");
    const trade = (signature: string): Row =>
      trades.columns.map(({ name }) => (name === "signature" ? signature : name === "slot" ? 5 : "x"));
    const keyed = createRowReader(trades)([trade("a"), trade("a"), trade("b")]);
    expect([...keyed.values()].map(({ key }) => key)).to.deep.equal([
      ["a", "x", "x"],
      ["a", "x", "x", 2],
      ["b", "x", "x"],
    ]);
    expect([...keyed.values()].map(({ block }) => block)).to.deep.equal([5, 5, 5]);
  });

  it("of new rows tells those behind what was told, and in a fork which of those told are gone", () => {
    const trades = endpointAt("/api/v1/solana/token-transactions");
    const trade = (signature: string, slot: number): Row =>
      trades.columns.map(({ name }) =>
        name === "transactionHash"
          ? signature
          : name === "slot"
            ? slot
            : name === "instructionIndex"
              ? 0
              : "x",
      );
    const read = createRowReader(trades);
    const known = read([trade("c", 3), trade("b", 2), trade("a", 1)]);
    const after = read([trade("d", 3), trade("b", 2), trade("old", 1)]);
    expect(compareAppends(known, after, { floor: 2, isFork: true })).to.deep.equal({
      rows: [trade("d", 3)],
      removed: [["c", 0]],
    });
    expect(compareAppends(known, after, { floor: 3, isFork: false })).to.deep.equal({
      rows: [],
      removed: [],
    });
  });

  it("every live endpoint declares columns of its own, and a list a key by which its rows can differ", () => {
    const live = catalogue.filter((endpoint) => endpoint.live !== undefined);
    expect(live.length).to.equal(20);
    for (const endpoint of live) {
      const { columns, live: form } = endpoint;
      const key = form === undefined || form.kind === "row" ? [] : form.key;
      const names = new Set(columns.map(({ name }) => name));
      expect(
        key.every((name) => names.has(name)),
        endpoint.path,
      ).to.equal(true);
    }
  });
});
