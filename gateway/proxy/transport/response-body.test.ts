import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { InvalidResponse } from "./errors.ts";
import { createBodyReader, type Framing } from "./http1.ts";

/** Feeds the bytes in pieces cut at the given places; returns what was read, and what was behind the end. */
function readAll(framing: Framing, bytes: Buffer, cuts: readonly number[] = []) {
  const reader = createBodyReader(framing);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const body: Buffer[] = [];
  for (let at = 1; at < places.length; at += 1) {
    const chunk = bytes.subarray(places[at - 1], places[at]);
    const rest = reader.read(chunk, (piece) => body.push(piece));
    if (rest !== undefined) {
      return { body: Buffer.concat(body), rest: Buffer.concat([rest, bytes.subarray(places[at])]) };
    }
  }
  return { body: Buffer.concat(body), rest: undefined };
}

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
const cuts = fc.array(fc.nat());

describe("transport: body of a response", () => {
  it("by length is that many bytes, however they come", () => {
    fc.assert(
      fc.property(bytes, bytes, cuts, (sent, behind, where) => {
        const { body, rest } = readAll(
          { kind: "length", bytes: sent.length },
          Buffer.concat([sent, behind]),
          where,
        );
        expect(body.equals(sent)).to.equal(true);
        expect(rest?.equals(behind)).to.equal(true);
      }),
    );
  });

  it("by length is not over before its last byte", () => {
    const { body, rest } = readAll({ kind: "length", bytes: 5 }, Buffer.from("abcd"), [1]);
    expect(body.toString()).to.equal("abcd");
    expect(rest).to.equal(undefined);
  });

  it("in chunks is what the chunks hold, however they and their bytes come", () => {
    const extension = fc.constantFrom("", ";a", " ;a=b", ';a="b;c"');
    const chunk = fc.tuple(
      fc.uint8Array({ minLength: 1, maxLength: 40 }).map((array) => Buffer.from(array)),
      extension,
      fc.boolean(),
    );
    const trailers = fc.constantFrom("", "X-A: 1\r\n", "X-A: 1\r\nX-B: 2\r\n");
    fc.assert(
      fc.property(fc.tuple(fc.array(chunk), trailers), bytes, cuts, ([chunks, trailer], behind, where) => {
        const coded = chunks.flatMap(([data, more, isUpper]) => {
          const size = data.length.toString(16);
          return [
            Buffer.from(`${isUpper ? size.toUpperCase() : size}${more}\r\n`),
            data,
            Buffer.from("\r\n"),
          ];
        });
        const wire = Buffer.concat([...coded, Buffer.from(`0\r\n${trailer}\r\n`), behind]);
        const { body, rest } = readAll({ kind: "chunked" }, wire, where);
        expect(body.equals(Buffer.concat(chunks.map(([data]) => data)))).to.equal(true);
        expect(rest?.equals(behind)).to.equal(true);
      }),
    );
  });

  it("in chunks is refused where a size is invalid or a chunk is longer than its size", () => {
    const bad = [
      "x\r\n",
      "\r\n",
      "-1\r\n",
      "0x1\r\n",
      "1\n",
      "2\r\nabc\r\n",
      "1\r\na0\r\n\r\n",
      `1${"0".repeat(20)}\r\n`,
      `1;${"x".repeat(300)}`,
    ];
    for (const text of bad) {
      expect(() => readAll({ kind: "chunked" }, Buffer.from(text)), JSON.stringify(text)).to.throw(
        InvalidResponse,
      );
    }
  });

  it("of 304 is empty", () => {
    const { body, rest } = readAll({ kind: "none" }, Buffer.from("more"));
    expect(body).to.have.length(0);
    expect(rest?.toString()).to.equal("more");
  });
});
