import { expect } from "chai";
import { describe, it } from "mocha";
import type { RowText } from "../contract/endpoint.ts";
import { parseQuery } from "../contract/parse.ts";
import { sampleItem, sampleList } from "../contract/testkit/sample-endpoints.ts";
import { pagingHeaders } from "./paging.ts";

const rowsOf = (count: number) => Array.from({ length: count }, () => "[]" as RowText);

function headersOf(query: string, rows: number, total?: number): Record<string, string> {
  const { params } = parseQuery(sampleList, query);
  const result = { rows: rowsOf(rows), ...(total !== undefined && { total }) };
  return Object.fromEntries(pagingHeaders(sampleList, { params, query, result }));
}

describe("headers of a paged list", () => {
  it("name the total and the next page, all other parameters as they were sent", () => {
    expect(headersOf("order_desc=tvlUsd,&limit=10&offset=20&side=buy", 10, 31)).to.deep.equal({
      "X-Total-Count": "31",
      Link: '</evm/sample/list?order_desc=tvlUsd%2C&limit=10&offset=30&side=buy>; rel="next"',
    });
    expect(headersOf("limit=10&offset=21", 10, 31)).to.deep.equal({ "X-Total-Count": "31" });
    expect(headersOf("offset=40", 0, 31)).to.deep.equal({ "X-Total-Count": "31" });
  });

  it("without a total follow from the page: one that is not full is the last", () => {
    expect(headersOf("", 100)).to.deep.equal({ Link: '</evm/sample/list?offset=100>; rel="next"' });
    expect(headersOf("offset=200", 7)).to.deep.equal({ "X-Total-Count": "207" });
    expect(headersOf("", 0)).to.deep.equal({ "X-Total-Count": "0" });
    expect(headersOf("offset=200", 0)).to.deep.equal({});
  });

  it("name no page that the parameters do not allow, break no header, and are short", () => {
    expect(headersOf("offset=100000000", 100)).to.deep.equal({});
    expect(headersOf("x=a%3E%0D%0Ab", 100).Link).to.equal(
      '</evm/sample/list?x=a%3E%0D%0Ab&offset=100>; rel="next"',
    );
    expect(headersOf(`x=${"y".repeat(3_000)}`, 100)).to.deep.equal({});
  });

  it("do not exist where nothing is paged", () => {
    const query = "token_address=So11111111111111111111111111111111111111112&after_time=1&before_time=2";
    const { params } = parseQuery(sampleItem, query);
    expect(pagingHeaders(sampleItem, { params, query, result: { rows: rowsOf(1) } })).to.deep.equal([]);
  });
});
