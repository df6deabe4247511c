import { expect } from "chai";
import { describe, it } from "mocha";
import { fnv1a } from "./fnv1a.ts";

describe("fnv1a", () => {
  it("has the values of the published test suite (isthe.com/chongo/tech/comp/fnv)", () => {
    const known: readonly (readonly [string, number])[] = [
      ["", 0x811c9dc5],
      ["a", 0xe40c292c],
      ["b", 0xe70c2de5],
      ["foobar", 0xbf9cf968],
    ];
    for (const [text, hash] of known) expect(fnv1a(text) >>> 0, text).to.equal(hash);
  });
});
