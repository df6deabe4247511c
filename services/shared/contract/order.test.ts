import { expect } from "chai";
import { describe, it } from "mocha";
import { combineOrder, type OrderLists } from "./order.ts";

const ALLOWED = new Set(["a", "b", "c"]);

/** `+a -b` for a ascending, then b descending. */
function shown(lists: OrderLists): string {
  const terms = combineOrder(lists, ALLOWED);
  return terms.map(({ field, direction }) => `${direction === "asc" ? "+" : "-"}${field}`).join(" ");
}

describe("combineOrder", () => {
  it("follows a single list", () => {
    expect(shown({ asc: "b,a" })).to.equal("+b +a");
    expect(shown({ desc: "c" })).to.equal("-c");
    expect(shown({})).to.equal("");
  });

  it("lets an empty item leave its position to the other list", () => {
    expect(shown({ asc: "a,,c", desc: ",b" })).to.equal("+a -b +c");
    expect(shown({ asc: ",a", desc: "b" })).to.equal("-b +a");
  });

  it("puts the ascending column first where both fill a position", () => {
    expect(shown({ asc: "a,b", desc: "c" })).to.equal("+a -c +b");
  });

  it("skips positions that neither fills", () => {
    expect(shown({ asc: ",,a,", desc: "" })).to.equal("+a");
  });

  it("refuses a column that is not allowed, naming list, column and rule", () => {
    expect(() => shown({ asc: "a", desc: "toString" })).to.throw(
      'Cannot parse order_desc: "toString" is not one of a, b, c.',
    );
    expect(() => shown({ asc: " a" })).to.throw('Cannot parse order_asc: " a" is not one of a, b, c.');
  });

  it("refuses a column twice, in one list or across both", () => {
    expect(() => shown({ asc: "a,a" })).to.throw('Cannot parse order_asc: "a" is named twice');
    expect(() => shown({ asc: "a", desc: ",a" })).to.throw('Cannot parse order_desc: "a" is named twice');
  });
});
