import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { EncodableResponse } from "../delivery/encodable-response.ts";
import { momentOf } from "./freshness.ts";
import { type CacheEntry, createResponseCache } from "./response-cache.ts";

const requestedAt = (ms: number) => ({ ...momentOf(ms, undefined), freshUntilMs: 0, behindMs: 0 });

const entryOf = (key: string, bytes: number): CacheEntry => ({
  key,
  response: new EncodableResponse({ headers: {}, body: Buffer.alloc(bytes, "a") }),
  freshness: requestedAt(0),
});

describe("response cache", () => {
  it("evicts the least recently used first", () => {
    const cache = createResponseCache({ maxBytes: 40_000 });
    for (const key of ["a", "b", "c"]) cache.put(entryOf(key, 10_000));
    cache.get("a");
    cache.put(entryOf("d", 10_000), true);
    expect(["a", "b", "c", "d"].filter((key) => cache.get(key))).to.deep.equal(["a", "c", "d"]);
  });

  it("when full, admits keys that are requested again or awaited, and none that are requested once", () => {
    const cache = createResponseCache({ maxBytes: 40_000 });
    const has = (key: string) => cache.get(key) !== undefined;
    for (const key of ["a", "b", "c"]) cache.put(entryOf(key, 10_400));
    for (let number = 0; number < 20; number += 1) cache.put(entryOf(`once ${number}`, 3_000));
    expect(["a", "b", "c"].filter(has)).to.deep.equal(["a", "b", "c"]);
    cache.put(entryOf("once 7", 3_000));
    expect(has("once 7")).to.equal(true);
    cache.put(entryOf("wanted", 3_000), true);
    expect(has("wanted")).to.equal(true);
    cache.put(entryOf("wanted 2", 100), true);
    cache.put({ ...entryOf("once 8", 3_000), freshness: requestedAt(10_000) });
    expect(has("once 8")).to.equal(false);
  });

  it("never takes more than its bound, whatever is put, replaced and compressed", async () => {
    const puts = fc.array(fc.tuple(fc.nat(20), fc.nat(8_000)), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(puts, async (list) => {
        const cache = createResponseCache({ maxBytes: 30_000 });
        for (const [key, bytes] of list) {
          const entry = entryOf(String(key), bytes);
          cache.put(entry);
          if (bytes % 3 === 0) await entry.response.encode("gzip");
          expect(cache.bytes).to.be.at.most(30_000);
        }
        let counted = 0;
        for (let key = 0; key <= 20; key += 1) counted += cache.get(String(key))?.response.heldBytes ?? 0;
        expect(counted).to.be.at.most(cache.bytes);
      }),
      { numRuns: 30 },
    );
  });

  it("holds no more memory than it counts, of bodies that came in a shared buffer and of their encodings", async () => {
    const cache = createResponseCache({ maxBytes: 100_000 });
    const body = Buffer.alloc(65_536, "a").subarray(100, 2_100);
    const response = new EncodableResponse({ headers: {}, body });
    cache.put({ key: "a", response, freshness: requestedAt(0) });
    const bodies = [response.body, await response.encode("gzip"), await response.encode("br")];
    expect(bodies[0]?.equals(body)).to.equal(true);
    for (const bytes of bodies) expect(bytes.buffer.byteLength).to.be.at.most(2 * bytes.length);
  });

  it("counts what a response grows by, and nothing of one that was replaced", async () => {
    const cache = createResponseCache({ maxBytes: 100_000 });
    const first = entryOf("a", 5_000);
    cache.put(first);
    const before = cache.bytes;
    await first.response.encode("gzip");
    expect(cache.bytes).to.equal(before + first.response.heldBytes - 5_000);
    cache.put(entryOf("a", 5_000));
    expect(cache.bytes).to.equal(before);
    await first.response.encode("br");
    expect(cache.bytes).to.equal(before);
    expect(cache.size).to.equal(1);
  });
});
