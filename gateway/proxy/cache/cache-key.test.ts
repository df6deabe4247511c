import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { cacheKeyOf } from "./cache-key.ts";

const same = (a: string, b: string) =>
  expect(cacheKeyOf("/p", a), `${a} | ${b}`).to.equal(cacheKeyOf("/p", b));
const apart = (a: string, b: string) =>
  expect(cacheKeyOf("/p", a), `${a} | ${b}`).not.to.equal(cacheKeyOf("/p", b));

describe("cache key", () => {
  it("is one for the same parameters in any order and spelling", () => {
    same("a=1&b=2", "b=2&a=1");
    same("a=x%20y&b=%61", "b=a&a=x+y");
    same("a=1&&b=2&", "a=1&b=2");
    same("a", "a=");
    same("%61=1", "a=1");
  });

  it("keeps apart what may be answered differently", () => {
    apart("a=1", "a=2");
    apart("a=1", "A=1");
    apart("a=1", "a=1&b=");
    apart("a=1&a=2", "a=2&a=1");
    apart("a=1", "a=1&a=1");
    apart("a=b%26c=d", "a=b&c=d");
    apart("a=%2520", "a=%20");
    apart("a%3Db=c", "a=b=c");
    apart("a=%2B", "a=+");
    expect(cacheKeyOf("/p", "a=1")).not.to.equal(cacheKeyOf("/q", "a=1"));
  });

  it("is undefined for a query that cannot be decoded", () => {
    for (const query of ["a=%", "a=%ff", "%zz=1", "a=%C0%AF"])
      expect(cacheKeyOf("/p", query)).to.equal(undefined);
  });

  it("is one for two queries if and only if their decoded pairs are the same but for order among names", () => {
    const name = fc.constantFrom("a", "b", "a=", "&", "%", "é", "x y", "");
    const value = fc.oneof(fc.constantFrom("", "1", "=", "&", "%20", "+"), fc.string({ unit: "grapheme" }));
    const pairs = fc.array(fc.tuple(name, value), { maxLength: 4 });
    const write = (list: readonly (readonly [string, string])[]) =>
      list.map(([left, right]) => `${encodeURIComponent(left)}=${encodeURIComponent(right)}`).join("&");
    const meaning = (list: readonly (readonly [string, string])[]) =>
      JSON.stringify([...list].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
    fc.assert(
      fc.property(pairs, pairs, (left, right) => {
        const isSame = cacheKeyOf("/p", write(left)) === cacheKeyOf("/p", write(right));
        expect(isSame).to.equal(meaning(left) === meaning(right));
      }),
    );
  });
});
