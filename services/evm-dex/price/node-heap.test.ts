import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { NodeHeap } from "./node-heap.ts";
import { PricedTokens } from "./priced-tokens.ts";

describe("NodeHeap", () => {
  it("gives each node once, in the order of the walk, also of those whose widths changed before they were put in order", () => {
    const widths = fc.array(fc.nat(6), { minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(widths, widths, fc.array(fc.nat(11)), (before, after, pushed) => {
        const priced = new PricedTokens();
        priced.reserve(before.length);
        priced.begin();
        for (const node of before.keys()) priced.settle(node);
        const heap = new NodeHeap(priced);
        heap.reserve(before.length);
        for (const [node, width] of before.entries()) priced.width[node] = width;
        for (const node of pushed) heap.push(node);
        for (const [node, width] of after.entries()) priced.width[node] = width;
        heap.reorder();
        const found: number[] = [];
        for (let node = heap.pop(); node >= 0; node = heap.pop()) found.push(node);
        const wanted = [...new Set(pushed)].sort((a, b) => (priced.isBefore(a, b) ? -1 : 1));
        expect(found).to.deep.equal(wanted);
      }),
    );
  });
});
