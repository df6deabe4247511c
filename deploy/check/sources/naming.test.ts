import { expect } from "chai";
import { describe, it } from "mocha";
import { findEmptyNames } from "./naming.ts";

const find = (text: string) => findEmptyNames([{ path: "a.ts", text }]);

describe("names that say nothing", () => {
  for (const text of [
    "function read(of: { order: string }) {}",
    "const read = (store: Store, of = {}) => store;",
    "const { of } = options;",
    "interface Line { readonly of: string }",
    "const line = { of: 1 };",
    "const of = 1;",
  ])
    it(`are found in ${text}`, () => expect(find(text)).to.deep.equal(["a.ts:1: of"]));

  it("are given with their line", () =>
    expect(find("\n\nfunction read(of: string) {}")).to.deep.equal(["a.ts:3: of"]));

  it("are not the keyword, methods of others, or words in text", () =>
    expect(find('for (const one of list) print(Array.of(one)); // of: all\nprint("of: all");')).to.deep.equal(
      [],
    ));
});
