import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { EncodableResponse } from "../delivery/encodable-response.ts";
import { freshMsOf } from "./freshness.ts";
import { createResponseCache, type Entry } from "./response-cache.ts";

const entryOf = (key: string, bytes: number): Entry => ({
  key,
  answer: new EncodableResponse({ headers: {}, body: Buffer.alloc(bytes, "a") }),
  askedAtMs: 0,
  freshUntilMs: 0,
});

describe("kept answers", () => {
  it("forget first what was not asked for for longest", () => {
    const kept = createResponseCache({ maxBytes: 40_000 });
    for (const key of ["a", "b", "c"]) kept.put(entryOf(key, 10_000));
    kept.get("a");
    kept.put(entryOf("d", 10_000), true);
    expect(["a", "b", "c", "d"].filter((key) => kept.get(key))).to.deep.equal(["a", "c", "d"]);
  });

  it("let nobody in who comes once, where each place is taken, but who comes again or is waited for", () => {
    const kept = createResponseCache({ maxBytes: 40_000 });
    const has = (key: string) => kept.get(key) !== undefined;
    for (const key of ["a", "b", "c"]) kept.put(entryOf(key, 10_400));
    for (let number = 0; number < 20; number += 1) kept.put(entryOf(`once ${number}`, 3_000));
    expect(["a", "b", "c"].filter(has)).to.deep.equal(["a", "b", "c"]);
    kept.put(entryOf("once 7", 3_000));
    expect(has("once 7")).to.equal(true);
    kept.put(entryOf("wanted", 3_000), true);
    expect(has("wanted")).to.equal(true);
    kept.put(entryOf("wanted 2", 100), true);
    kept.put({ ...entryOf("once 8", 3_000), askedAtMs: 10_000 });
    expect(has("once 8")).to.equal(false);
  });

  it("never take more than their bound, whatever is put in, replaced and compressed", async () => {
    const puts = fc.array(fc.tuple(fc.nat(20), fc.nat(8_000)), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(puts, async (list) => {
        const kept = createResponseCache({ maxBytes: 30_000 });
        for (const [key, bytes] of list) {
          const entry = entryOf(String(key), bytes);
          kept.put(entry);
          if (bytes % 3 === 0) await entry.answer.encode("gzip");
          expect(kept.bytes).to.be.at.most(30_000);
        }
        let counted = 0;
        for (let key = 0; key <= 20; key += 1) counted += kept.get(String(key))?.answer.heldBytes ?? 0;
        expect(counted).to.be.at.most(kept.bytes);
      }),
      { numRuns: 30 },
    );
  });

  it("hold no more memory than they count, of bodies that came in a shared buffer and of what is made of them", async () => {
    const kept = createResponseCache({ maxBytes: 100_000 });
    const body = Buffer.alloc(65_536, "a").subarray(100, 2_100);
    const answer = new EncodableResponse({ headers: {}, body });
    kept.put({ key: "a", answer, askedAtMs: 0, freshUntilMs: 0 });
    const forms = [answer.body, await answer.encode("gzip"), await answer.encode("br")];
    expect(forms[0]?.equals(body)).to.equal(true);
    for (const form of forms) expect(form.buffer.byteLength).to.be.at.most(2 * form.length);
  });

  it("count what an answer grows by, and nothing of one that was replaced", async () => {
    const kept = createResponseCache({ maxBytes: 100_000 });
    const first = entryOf("a", 5_000);
    kept.put(first);
    const before = kept.bytes;
    await first.answer.encode("gzip");
    expect(kept.bytes).to.equal(before + first.answer.heldBytes - 5_000);
    kept.put(entryOf("a", 5_000));
    expect(kept.bytes).to.equal(before);
    await first.answer.encode("br");
    expect(kept.bytes).to.equal(before);
    expect(kept.size).to.equal(1);
  });
});

describe("freshness", () => {
  it("is the max-age of Cache-Control, and none where an answer may not be kept", () => {
    expect(freshMsOf("private, max-age=2")).to.equal(2_000);
    expect(freshMsOf("Max-Age=12")).to.equal(12_000);
    for (const none of [
      undefined,
      "",
      "no-store",
      "max-age=5, no-store",
      "no-cache, max-age=1",
      "max-age=",
      "max-age=-1",
      "max-age=1.5",
      "s-maxage=4",
    ])
      expect(freshMsOf(none), none).to.equal(0);
  });
});
