import { crc32, gunzipSync } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { GZIP_HEAD, gzipTail, joinCrcs, packPart } from "./gzip-parts.ts";

const bytes = fc.uint8Array({ maxLength: 3_000 }).map((values) => Buffer.from(values));

describe("gzip of parts", () => {
  it("unpacks any row of parts to what they were, and checks their sum", () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 8 }), (texts) => {
        const parts = texts.map(packPart);
        const body = Buffer.concat([GZIP_HEAD, ...parts.map(({ packed }) => packed), gzipTail(parts)]);
        expect(gunzipSync(body).equals(Buffer.concat(texts))).to.equal(true);
      }),
    );
  });

  it("joins the CRC-32 of what comes before with that of a part of any length", () => {
    fc.assert(
      fc.property(bytes, bytes, (before, after) => {
        const part = { size: after.length, crc: crc32(after) };
        expect(joinCrcs(crc32(before), part)).to.equal(crc32(Buffer.concat([before, after])));
      }),
    );
    const long = Buffer.alloc(20_000_000, 7);
    const part = { size: long.length, crc: crc32(long) };
    expect(joinCrcs(crc32("before"), part)).to.equal(crc32(long, crc32("before")));
  });
});
