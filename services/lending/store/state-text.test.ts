import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { EntityState } from "../protocols/protocol.ts";
import { fromStateText, toStateText } from "./state-text.ts";

const { tree } = fc.letrec<{ tree: EntityState }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.bigInt(),
    fc.string({ unit: fc.constantFrom("#", "1", "-", "a", "\u0000") }),
    fc.array(tie("tree")),
    fc.dictionary(
      fc.string({ minLength: 1 }).filter((name) => name !== "__proto__"),
      tie("tree"),
    ),
  ),
}));

describe("state text", () => {
  it("is JSON with bigints marked, strings that look like them too", () => {
    expect(toStateText({ fee: 10n ** 30n, symbol: "#7", name: "##" })).to.equal(
      '{"fee":"#1000000000000000000000000000000","symbol":"##7","name":"###"}',
    );
  });

  it("returns any state unchanged", () => {
    fc.assert(
      fc.property(tree, (state) => {
        // Objects of fast-check have no prototype, which JSON cannot keep: shapes are compared by their text too.
        expect(toStateText(fromStateText(toStateText(state)))).to.equal(toStateText(state));
        if (typeof state !== "object") expect(fromStateText(toStateText(state))).to.equal(state);
      }),
    );
  });

  it("throws for what it did not write", () => {
    expect(() => fromStateText('{"fee":"#1')).to.throw(SyntaxError);
    expect(() => fromStateText('"#x"')).to.throw(SyntaxError);
  });
});
