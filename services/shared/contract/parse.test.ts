import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { ServiceError } from "../errors.ts";
import type { Endpoint } from "./endpoint.ts";
import { parseQuery } from "./parse.ts";
import { sampleItem, sampleList } from "./testkit/sample-endpoints.ts";

const MINT = "So11111111111111111111111111111111111111112";

function messageOf(endpoint: Endpoint, query: string): string {
  try {
    parseQuery(endpoint, query);
  } catch (error) {
    expect(error).to.be.instanceOf(ServiceError).with.property("code", "bad_request");
    return (error as ServiceError).message;
  }
  throw new Error(`${query} was accepted.`);
}

describe("parseQuery", () => {
  it("fills in defaults, and undefined for what is optional", () => {
    expect(parseQuery(sampleList, "")).to.deep.equal({
      params: {
        chain_id: 8453,
        pool_address: undefined,
        borrowable: undefined,
        protocol_id: undefined,
        min_usd: undefined,
        side: undefined,
        limit: 100,
        offset: 0,
        order: [],
      },
      format: undefined,
      ignored: [],
    });
  });

  it("returns typed values under the wire names", () => {
    const query = `?chain_id=1&pool_address=0x${"AB".repeat(20)}&borrowable=false&min_usd=0.50&side=sell&limit=7&order_desc=tvlUsd`;
    expect(parseQuery(sampleList, query).params).to.deep.include({
      chain_id: 1,
      pool_address: `0x${"ab".repeat(20)}`,
      borrowable: false,
      min_usd: 0.5,
      side: "sell",
      limit: 7,
      order: [{ field: "tvlUsd", direction: "desc" }],
    });
  });

  it("decodes percent escapes and plus signs, in names too", () => {
    expect(parseQuery(sampleList, "protocol%5Fid=a%26b+%2B%C3%A9").params.protocol_id).to.equal("a&b +é");
  });

  it("skips empty pieces between ampersands", () => {
    expect(parseQuery(sampleList, "&&limit=5&").params.limit).to.equal(5);
  });

  it("names the parameter, the rule and the value sent", () => {
    const refusals = {
      "limit=10001": "Cannot parse limit: 10001 is above 10000.",
      "limit=0": "Cannot parse limit: 0 is below 1.",
      "limit=1e3": 'Cannot parse limit: "1e3" is not an integer in plain decimal digits.',
      "min_usd=-1": "Cannot parse min_usd: -1 is below 0.",
      "chain_id=10": "Cannot parse chain_id: 10 is not one of 1, 8453.",
      "pool_address=0x12": 'Cannot parse pool_address: "0x12" is not 0x followed by 40 hexadecimal digits.',
      "borrowable=1": "Cannot parse borrowable: 1 is neither true nor false.",
      "side=hold": 'Cannot parse side: "hold" is not one of buy, sell.',
      "side=": "Cannot parse side: its value is empty.",
      side: "Cannot parse side: its value is empty.",
      "limit=5&limit=5": "Cannot parse limit: it was sent more than once.",
      "limit=%ff": 'Cannot parse limit: "%ff" is not valid percent-encoded UTF-8.',
      "%ff=1": 'Cannot parse the query: "%ff" is not valid percent-encoded UTF-8.',
      "order_asc=nope": 'Cannot parse order_asc: "nope" is not one of poolAddress, tvlUsd, createdAt.',
    };
    for (const [query, message] of Object.entries(refusals))
      expect(messageOf(sampleList, query)).to.equal(message);
  });

  it("refuses a missing parameter, and names its alias", () => {
    expect(messageOf(sampleItem, `token_address=${MINT}`)).to.equal(
      "Cannot parse after_time: it is required and was not sent.",
    );
    expect(messageOf(sampleItem, "")).to.equal(
      "Cannot parse token_address: it is required (or as program_id) and was not sent.",
    );
  });

  it("takes an alias for its parameter, but not both", () => {
    const rest = "after_time=1&before_time=2";
    expect(parseQuery(sampleItem, `program_id=${MINT}&${rest}`).params).to.deep.equal({
      token_address: MINT,
      after_time: 1,
      before_time: 2,
    });
    expect(messageOf(sampleItem, `program_id=x&${rest}`)).to.contain("Cannot parse program_id: ");
    expect(messageOf(sampleItem, `program_id=${MINT}&token_address=${MINT}&${rest}`)).to.equal(
      "Cannot parse token_address: it was sent together with program_id, which means the same.",
    );
  });

  it("applies the rules between parameters", () => {
    expect(messageOf(sampleItem, `token_address=${MINT}&after_time=2&before_time=2`)).to.equal(
      "Cannot parse after_time: 2 is not below before_time 2.",
    );
  });

  it("names what it ignores, each once, safe for a header, up to a limit", () => {
    expect(parseQuery(sampleList, "a=1&b%0d%0aX=2&a=3&=4").ignored).to.deep.equal(["a", "b%0D%0AX"]);
    const many = Array.from({ length: 100 }, (_, at) => `${"n".repeat(100)}${at}=1&n${at}=1`).join("&");
    const { ignored } = parseQuery(sampleList, many);
    expect(ignored).to.have.length(16);
    for (const name of ignored) expect(name.length).to.be.at.most(32);
  });

  it("treats names of Object's prototype as unknown", () => {
    const { params, ignored } = parseQuery(
      sampleList,
      "__proto__=1&constructor=2&toString=3&__proto__[limit]=4",
    );
    expect(ignored).to.deep.equal(["__proto__", "constructor", "toString", "__proto__%5Blimit%5D"]);
    expect(Object.getPrototypeOf(params)).to.equal(Object.prototype);
    expect(params.limit).to.equal(100);
  });
});

describe("parseQuery under any input", () => {
  const names = [...Object.keys(sampleList.params), "order_asc", "order_desc", "__proto__"];
  const piece = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.tuple(fc.constantFrom(...names), fc.string()).map(([name, value]) => `${name}=${value}`),
    fc.tuple(fc.constantFrom(...names), fc.webQueryParameters()).map(([name, value]) => `${name}=${value}`),
  );

  it("throws nothing but bad_request, with a message of printable text", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        for (const endpoint of [sampleList, sampleItem]) {
          try {
            for (const name of parseQuery(endpoint, pieces.join("&")).ignored)
              expect(name).to.match(/^[\x21-\x7e]+$/);
          } catch (error) {
            expect(error).to.be.instanceOf(ServiceError).with.property("code", "bad_request");
            expect((error as ServiceError).message).to.match(/^Cannot parse [\x20-\x7e…]+\.$/);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it("accepts a number only in the spelling it prints", () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer().map(String), fc.stringMatching(/^[-+0-9eEx. ]{1,6}$/)), (text) => {
        let limit: number;
        try {
          limit = parseQuery(sampleList, `limit=${encodeURIComponent(text)}`).params.limit;
        } catch {
          return;
        }
        expect(String(limit)).to.equal(text);
        expect(limit).to.be.within(1, 10_000);
      }),
      { numRuns: 500 },
    );
  });

  it("returns every accepted value as it was sent", () => {
    const values = fc.record({
      chain_id: fc.constantFrom(1, 8453),
      pool_address: fc.stringMatching(/^0x[0-9a-f]{40}$/),
      borrowable: fc.boolean(),
      protocol_id: fc.string({ minLength: 1, maxLength: 50, unit: "grapheme" }),
      side: fc.constantFrom("buy", "sell"),
      limit: fc.integer({ min: 1, max: 10_000 }),
      offset: fc.integer({ min: 0, max: 100_000_000 }),
    });
    fc.assert(
      fc.property(values, (sent) => {
        const query = new URLSearchParams(
          Object.entries(sent).map(([name, value]): [string, string] => [name, String(value)]),
        );
        expect(parseQuery(sampleList, query.toString()).params).to.deep.include(sent);
      }),
    );
  });
});
