import { expect } from "chai";
import { describe, it } from "mocha";
import { createConcurrencyLimit } from "./concurrency-limit.ts";

describe("createGate", () => {
  it("lets in as many as there are places, the others in order", async () => {
    const gate = createConcurrencyLimit(2);
    const order: number[] = [];
    const leaves: (() => void)[] = [];
    const entered = [1, 2, 3, 4].map(async (n) => {
      leaves.push(await gate.acquire());
      order.push(n);
    });
    await Promise.all(entered.slice(0, 2));
    expect(order).to.deep.equal([1, 2]);
    leaves[0]?.();
    await entered[2];
    leaves[1]?.();
    await entered[3];
    expect(order).to.deep.equal([1, 2, 3, 4]);
  });

  it("narrows at once and widens slowly, within one and the maximum", () => {
    const gate = createConcurrencyLimit(8);
    gate.decrease();
    expect(gate.limit()).to.equal(4);
    for (let i = 0; i < 5; i++) gate.decrease();
    expect(gate.limit()).to.equal(1);
    for (let i = 0; i < 4; i++) gate.increase();
    expect(gate.limit()).to.equal(2);
    for (let i = 0; i < 1000; i++) gate.increase();
    expect(gate.limit()).to.equal(8);
  });

  it("starts no request while more are in flight than the limit", async () => {
    const gate = createConcurrencyLimit(2);
    const leaves = [await gate.acquire(), await gate.acquire()];
    gate.decrease();
    let isInside = false;
    const third = gate.acquire().then(() => {
      isInside = true;
    });
    leaves[0]?.();
    await Promise.resolve();
    expect(isInside).to.equal(false);
    leaves[1]?.();
    await third;
  });
});
