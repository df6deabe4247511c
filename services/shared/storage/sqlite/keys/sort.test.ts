import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { sortTexts } from "./sort.ts";

describe("sortTexts", () => {
  it("is the order of sort(), for keys and for any texts", () => {
    const key = fc
      .tuple(
        fc.constantFrom("0xa", "0xab1", "0xab1c", "0xab1c2"),
        fc.nat(2 ** 24).map((n) => n.toString(16)),
        fc.nat(3),
      )
      .map(([start, rest, n]) => `[8453,"${start}${rest}",${n}]`);
    const any = fc.oneof(key, fc.string(), fc.string({ unit: "binary" }));
    for (const texts of [fc.array(key, { maxLength: 60 }), fc.array(any, { maxLength: 20 })])
      fc.assert(
        fc.property(texts, (list) => {
          expect(sortTexts(list)).to.deep.equal([...list].sort());
        }),
      );
  });
});
