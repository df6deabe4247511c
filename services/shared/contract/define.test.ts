import { expect } from "chai";
import { describe, it } from "mocha";
import type { Column } from "./column.ts";
import { defineEndpoint, sortable, sortableNames } from "./define.ts";
import type { Endpoint } from "./endpoint.ts";
import { integer } from "./param.ts";
import { sampleItem, sampleList } from "./testkit/sample-endpoints.ts";

const column: Column = { name: "a", type: "String", description: "A." };
const size = integer({ min: 1 }, { description: "A size." });

function declare(change: Partial<Endpoint>): () => Endpoint {
  return () =>
    defineEndpoint<Endpoint["params"], readonly Column[]>({
      ...(sampleList as unknown as Endpoint),
      ...change,
    });
}

describe("defineEndpoint", () => {
  it("refuses a declaration that contradicts itself", () => {
    const faults: [string, Partial<Endpoint>][] = [
      ["the path is not", { path: "/evm/Upper" }],
      ["the path is not", { path: "evm/pools/" }],
      ["it has no columns", { columns: [] }],
      ["the body of evm-dex is not object", { body: "object" }],
      ["column a is declared twice", { columns: [column, column] }],
      ["column A_b is not camelCase", { columns: [{ ...column, name: "A_b" }] }],
      ["unreadable type Nullable(Sting)", { columns: [{ ...column, type: "Nullable(Sting)" as "String" }] }],
      ["declares nullable twice", { columns: [{ ...column, type: "Nullable(String)", nullable: true }] }],
      ["is not a sentence", { columns: [{ ...column, description: "no stop" }] }],
      ["parameter poolAddress is not snake_case", { params: { poolAddress: size } }],
      ["is derived from the sortable columns", { params: { order_asc: size } }],
      ["tells one row of several", { live: { kind: "row" } }],
      ["reads dexName, which is no column", { live: { kind: "list", key: ["poolAddress", "dexName"] } }],
      ["reads age, which is no column", { live: { kind: "list", key: ["poolAddress"], clocks: ["age"] } }],
      ["reads slot, which is no column", { live: { kind: "appends", key: ["poolAddress"], block: "slot" } }],
      ["names no parameter", { params: {}, aliases: { other: "size" } }],
      ["is also a parameter", { params: { size, other: size }, aliases: { other: "size" } }],
    ];
    for (const [message, change] of faults) expect(declare(change), message).to.throw(message);
  });

  it("returns a valid declaration, frozen", () => {
    expect(declare({})).to.not.throw();
    expect(sampleList).to.be.frozen;
  });
});

describe("sortable", () => {
  it("marks columns without touching the given ones", () => {
    const [marked] = sortable([column]);
    expect(marked).to.deep.equal({ ...column, sortable: true });
    expect(column).to.not.have.property("sortable");
  });

  it("is what sortableNames lists, in column order", () => {
    expect(sortableNames(sampleList)).to.deep.equal(["poolAddress", "tvlUsd", "createdAt"]);
    expect(sortableNames(sampleItem)).to.deep.equal([]);
  });
});
