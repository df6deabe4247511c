import { Buffer } from "node:buffer";
import { expect } from "chai";
import { describe, it } from "mocha";
import { parseWithList, type ResultList } from "./json-list.ts";

const list: ResultList = { name: "items", convert: (element, index) => ({ element, index }) };

/** The response as its parts, each of so many bytes. */
function split(text: string, size: number): Uint8Array[] {
  const bytes = Buffer.from(text, "utf8");
  const parts: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += size) parts.push(bytes.subarray(from, from + size));
  return parts;
}

function expected(text: string): unknown {
  const response = JSON.parse(text);
  if (Array.isArray(response?.result?.items)) response.result.items = response.result.items.map(list.convert);
  return response;
}

/** Longer than the head in which the list is looked for, so that it spans parts of any size. */
const LONG = JSON.stringify({
  jsonrpc: "2.0",
  result: {
    height: 7,
    items: Array.from({ length: 90 }, (_, i) => ({
      index: i,
      log: `"quoted", [${i}] {"é✓\\`,
      empty: [{}, [], "", "\\", "]", null],
      list: [1.5, [i, "}"], { a: { b: "," } }],
    })),
    behind: ["]", { items: [1] }],
  },
  id: 1,
});

describe("parseWithList", () => {
  it("converts each element, in parts of any size", () => {
    for (const size of [1, 2, 3, 7, 64, 1_000, 4_096, 5_000, LONG.length, 1_000_000])
      expect(parseWithList(split(LONG, size), list), `${size}`).to.deep.equal(expected(LONG));
  });

  it("reads what is written otherwise", () => {
    for (const text of [
      '{"result":{"items":[]}}',
      '{"result":{"items":[ \n]},"id":1}',
      '{"result":{"items":[ 1 , "a" ,null]}}',
      '{"result":{"items" : [1,2]}}',
      '{"result":{"it\\u0065ms":[1,2]}}',
      `{"result":{"filler":"${"x".repeat(9_000)}","items":[1,2]}}`,
      '{"result":{"other":{"items":[1,2]},"items":[3]}}',
      '{"items":[1],"result":{"items":[2]}}',
      '{"result":{"log":"\\"items\\":[","items":[1]}}',
      '{"result":{"items":[1],"items":[]}}',
      '{"result":{"items":[1],"items":[2]}}',
      '{"result":{"items":null}}',
      '{"result":[{"items":[1]}]}',
      '{"result":null}',
      '{"error":{"code":-32007,"message":"no block"},"id":1}',
      '"items"',
      "null",
    ])
      for (const size of [1, 1_000])
        expect(parseWithList(split(text, size), list), text).to.deep.equal(expected(text));
  });

  it("rejects what is not JSON", () => {
    const broken = [
      "",
      "<html>",
      '{"result":{"items":[1,]}}',
      '{"result":{"items":[,1]}}',
      '{"result":{"items":[,]}}',
      '{"result":{"items":[1 2]}}',
      '{"result":{"items":[1}}',
      '{"result":{"items":[{"a":1]}]}}',
      '{"result":{"items":[1]}',
      '{"result":{"items":[1]}} 1',
      '{"result":{"items":["a]}}',
      '{"result":{"items":[1',
      `${LONG.slice(0, -2)}`,
      LONG.slice(0, 6_000),
    ];
    for (const text of broken)
      for (const size of [1, 1_000])
        expect(() => parseWithList(split(text, size), list), text.slice(0, 80)).to.throw(SyntaxError);
  });
});
