import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { TextRanks } from "./text-ranks.ts";

const texts = fc.array(fc.string({ unit: fc.constantFrom("a", "B", "0", "é", "\u{1f600}"), maxLength: 3 }));
const compare = <T extends number | string>(a: T, b: T) => (a === b ? 0 : a < b ? -1 : 1);

describe("TextRanks", () => {
  it("gives ranks that compare as the texts do, whatever it was asked before", () => {
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1, maxLength: 4 }), (lists) => {
        const ranks = new TextRanks();
        for (const list of lists) {
          const found = ranks.ranksOf(list.length, (at) => list[at] as string);
          const pairs = list.flatMap((a, i) => list.map((b, j) => ({ a, b, i, j })));
          for (const { a, b, i, j } of pairs) {
            expect(compare(found[i] as number, found[j] as number)).to.equal(compare(a, b));
          }
        }
      }),
    );
  });

  it("forgets texts that long are no more", () => {
    const ranks = new TextRanks();
    ranks.ranksOf(10_000, (at) => `old ${at}`);
    const [rank] = ranks.ranksOf(1, () => "z");
    expect(rank).to.equal(0);
  });
});
