import { expect } from "chai";
import { describe, it } from "mocha";
import { markBefore, pricesBefore } from "./prices-before.ts";

const MARK = 1_700_000_100;
const link = (time: number, agreedUsd: number | null) => ({
  ...{ time, departedAt: time, departedUsd: 7, agreedUsd },
});

describe("pricesBefore", () => {
  it("knows the last full five minutes", () => {
    expect([MARK - 1, MARK, MARK + 299].map(markBefore)).to.deep.equal([MARK - 300, MARK, MARK]);
  });

  it("has what was in use, whom pools have left, and where they were followed since the mark", () => {
    const before = pricesBefore({
      used: new Map(["a", "b", "c"].map((token) => [token, { usd: 2 }])),
      marked: new Map([["a", { usd: 3 }]]),
      links: new Map([
        ["a", link(MARK, 5)],
        ["b", link(MARK - 1, 5)],
      ]),
      mark: MARK,
    });
    expect(Object.fromEntries(before)).to.deep.equal({
      a: { usd: 2, departedAt: MARK, departedUsd: 7, agreedUsd: 5, markedUsd: 3 },
      b: { usd: 2, departedAt: MARK - 1, departedUsd: 7, agreedUsd: null, markedUsd: null },
      c: { usd: 2, departedAt: null, departedUsd: null, agreedUsd: null, markedUsd: null },
    });
  });

  it("remembers the mark of a token that has lost its price since", () => {
    const lost = { time: MARK + 12, departedAt: null, departedUsd: null, agreedUsd: null };
    const before = pricesBefore({
      used: new Map(),
      marked: new Map([["a", { usd: 3 }]]),
      links: new Map([["a", lost]]),
      mark: MARK,
    });
    expect(Object.fromEntries(before)).to.deep.equal({
      a: { usd: null, departedAt: null, departedUsd: null, agreedUsd: null, markedUsd: 3 },
    });
  });
});
