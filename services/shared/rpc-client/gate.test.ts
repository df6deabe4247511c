import { expect } from "chai";
import { describe, it } from "mocha";
import { createGate } from "./gate.ts";

describe("createGate", () => {
  it("lets in as many as there are places, the others in order", async () => {
    const gate = createGate(2);
    const order: number[] = [];
    const leaves: (() => void)[] = [];
    const entered = [1, 2, 3, 4].map(async (n) => {
      leaves.push(await gate.enter());
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
    const gate = createGate(8);
    gate.narrow();
    expect(gate.places()).to.equal(4);
    for (let i = 0; i < 5; i++) gate.narrow();
    expect(gate.places()).to.equal(1);
    for (let i = 0; i < 4; i++) gate.widen();
    expect(gate.places()).to.equal(2);
    for (let i = 0; i < 1000; i++) gate.widen();
    expect(gate.places()).to.equal(8);
  });

  it("lets nobody in while more are inside than there are places", async () => {
    const gate = createGate(2);
    const leaves = [await gate.enter(), await gate.enter()];
    gate.narrow();
    let isInside = false;
    const third = gate.enter().then(() => {
      isInside = true;
    });
    leaves[0]?.();
    await Promise.resolve();
    expect(isInside).to.equal(false);
    leaves[1]?.();
    await third;
  });
});
