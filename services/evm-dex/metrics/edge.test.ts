import { expect } from "chai";
import { describe, it } from "mocha";
import { type EdgeSwap, totalsOfEdge } from "./edge.ts";

const MINUTE = 1_699_920_000;
/** A window that begins with the minute's 42nd second. */
const EDGE = { minute: MINUTE, start: MINUTE + 42, end: MINUTE + 60 };

function swapAt(second: number, sender: string, worth: Partial<EdgeSwap> = {}): EdgeSwap {
  return { time: MINUTE + second, sender, valueUsd: 8, feeUsd: 0.5, tickTravel: 3, ...worth };
}

describe("totalsOfEdge", () => {
  it("sums the swaps from the edge's first second on", () => {
    const swaps = [
      swapAt(0, "ann"),
      swapAt(41, "bob"),
      swapAt(42, "cid"),
      swapAt(59, "dan", { tickTravel: 4 }),
    ];
    const lastUsers = new Set(["ann", "bob", "cid", "dan"]);
    expect(totalsOfEdge(EDGE, { bucket: { swapCount: 4 }, swaps, lastUsers })).to.include({
      swapCount: 2,
      volumeUsd: 16,
      feesUsd: 1,
      unpricedCount: 0,
      unpricedFeeCount: 0,
      tickTravel: 7,
      lastSeenUsers: 2,
    });
  });

  it("counts a user once, not one who swapped before the edge alone, nor one who swapped again after the minute", () => {
    const swaps = [
      swapAt(10, "before"),
      swapAt(11, "both"),
      swapAt(50, "both"),
      swapAt(51, "both"),
      swapAt(52, "later"),
    ];
    const totals = totalsOfEdge(EDGE, {
      bucket: { swapCount: 5 },
      swaps,
      lastUsers: new Set(["before", "both"]),
    });
    expect(totals).to.include({ swapCount: 3, lastSeenUsers: 1 });
  });

  it("counts swaps without a value or a fee", () => {
    const swaps = [
      swapAt(1, "ann", { valueUsd: null, feeUsd: null }),
      swapAt(43, "ann", { valueUsd: null }),
      swapAt(44, "ann", { feeUsd: null, tickTravel: null }),
    ];
    expect(totalsOfEdge(EDGE, { bucket: { swapCount: 3 }, swaps, lastUsers: new Set(["ann"]) })).to.include({
      volumeUsd: 8,
      feesUsd: 0.5,
      unpricedCount: 1,
      unpricedFeeCount: 1,
      tickTravel: 3,
    });
  });

  it("is unknown where a swap of its minute is not stored any more, even one before the edge", () => {
    const lastUsers = new Set(["ann"]);
    const swaps = [swapAt(43, "ann")];
    expect(totalsOfEdge(EDGE, { bucket: { swapCount: 2 }, swaps, lastUsers })).to.equal(undefined);
    expect(totalsOfEdge(EDGE, { bucket: { swapCount: 1 }, swaps: [], lastUsers })).to.equal(undefined);
    expect(totalsOfEdge(EDGE, { bucket: { swapCount: 1 }, swaps, lastUsers })).to.include({ swapCount: 1 });
  });

  it("is zero where the minute had no swap", () => {
    const empty = totalsOfEdge(EDGE, { bucket: undefined, swaps: [], lastUsers: new Set() });
    expect(empty).to.include({ swapCount: 0, volumeUsd: 0, lastSeenUsers: 0 });
  });
});
