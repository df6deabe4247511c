import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { StringDictionary } from "./string-dictionary.ts";

const texts = fc.array(fc.string({ unit: fc.constantFrom("a", "B", "0", "é", "\u{1f600}"), maxLength: 3 }));
const compare = <T extends number | string>(a: T, b: T) => (a === b ? 0 : a < b ? -1 : 1);

describe("StringDictionary", () => {
  it("assigns each text one permanent number, and ranks that compare as the texts do", () => {
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1, maxLength: 4 }), (lists) => {
        const book = new StringDictionary();
        const numbers = new Map<string, number>();
        for (const text of lists.flat()) {
          const before = numbers.get(text) ?? book.size;
          expect(book.intern(text)).to.equal(before);
          expect(book.textOf(before)).to.equal(text);
          expect(book.find(text)).to.equal(before);
          numbers.set(text, before);
          // In between, too: later texts must be placed among those already sorted.
          if (before % 3 === 0) book.ranks();
        }
        const ranks = book.ranks();
        const pairs = [...numbers].flatMap((a) => [...numbers].map((b) => [a, b] as const));
        for (const [[a, idA], [b, idB]] of pairs) {
          expect(compare(ranks[idA] as number, ranks[idB] as number)).to.equal(compare(a, b));
        }
      }),
    );
  });

  it("does not find a text that was never added", () => {
    const book = new StringDictionary();
    book.intern("a");
    expect(book.find("b")).to.equal(undefined);
  });
});
