import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import { describe, it } from "mocha";
import { compress, negotiateEncoding } from "./encoding.ts";

describe("content coding", () => {
  it("is the best that Accept-Encoding allows", () => {
    const cases: [string | undefined, string | undefined][] = [
      [undefined, undefined],
      ["", undefined],
      ["identity", undefined],
      ["deflate", undefined],
      ["gzip, deflate, br, zstd", "br"],
      ["gzip", "gzip"],
      ["x-gzip", "gzip"],
      ["GZIP", "gzip"],
      ["br;q=0.5, gzip", "gzip"],
      ["br;q=0, gzip;q=0", undefined],
      ["*", "br"],
      ["*;q=0", undefined],
      ["br;q=0, *", "gzip"],
      ["gzip;q=0.2, identity;q=0.8", undefined],
      ["gzip ; q=1.000 , br;q=0.999", "gzip"],
      ["br;q=2", undefined],
      ["br;q=abc, gzip;q=0.1", "gzip"],
      [",,,;q=1, ;", undefined],
    ];
    // Twice: what was read is remembered.
    for (const [header, coding] of [...cases, ...cases])
      expect(negotiateEncoding(header), header).to.equal(coding);
  });

  it("remembers no more headers than clients of good will send", () => {
    for (let number = 0; number < 5_000; number += 1) {
      expect(negotiateEncoding(`gzip;q=0.${number % 1000}, x${number}`)).to.equal(
        number % 1000 === 0 ? undefined : "gzip",
      );
    }
  });

  it("loses nothing", async () => {
    const body = Buffer.from(JSON.stringify(Array.from({ length: 500 }, (_, row) => [row, `0x${row}`])));
    expect(brotliDecompressSync(await compress(body, "br")).equals(body)).to.equal(true);
    expect(gunzipSync(await compress(body, "gzip")).equals(body)).to.equal(true);
  });
});
