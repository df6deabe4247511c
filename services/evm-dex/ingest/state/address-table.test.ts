import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { address } from "../../test/kit/rows.ts";
import { AddressTable } from "./address-table.ts";

describe("address table", () => {
  it("finds what was added, by the number it was given, and nothing else", () => {
    const addresses = fc.uniqueArray(fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }), { maxLength: 300 });
    const written = addresses.map((list) => list.map((n) => `0x${n.toString(16).padStart(40, "0")}`));
    fc.assert(
      fc.property(written, fc.nat(300), (list, half) => {
        const table = new AddressTable();
        const [added, absent] = [list.slice(0, half), list.slice(half)];
        for (const [i, each] of added.entries()) expect(table.add(each)).to.equal(i);
        for (const [i, each] of added.entries()) {
          expect(table.find(each)).to.equal(i);
          expect(table.add(each)).to.equal(i);
          expect(table.nameOf(i)).to.equal(each);
          expect(table.tailOf(i)).to.equal(Number.parseInt(each.slice(-8), 16));
        }
        for (const each of absent) expect(table.find(each)).to.equal(-1);
        expect(table.size).to.equal(added.length);
        for (const [i, each] of added.entries()) {
          const other = (i * 7) % added.length;
          expect(table.isBefore(i, other)).to.equal(each < (added[other] as string));
        }
      }),
    );
  });

  it("grows far beyond its first size, also over addresses that differ in their last bytes only", () => {
    const table = new AddressTable();
    for (let i = 0; i < 20_000; i++) table.add(address(i));
    for (let i = 0; i < 20_000; i++) expect(table.find(address(i))).to.equal(i);
    expect(table.find(address(20_000))).to.equal(-1);
  });

  it("takes no other text for an address", () => {
    const table = new AddressTable();
    table.add(address(0xab));
    for (const text of ["", "0x", address(0xab).toUpperCase(), `${address(0xab)}0`, `0x${"g".repeat(40)}`]) {
      expect(table.find(text)).to.equal(-1);
      expect(() => table.add(text)).to.throw(RangeError);
    }
  });
});
