import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { randomRuns } from "../../../shared/testkit/describe.ts";
import { createFakeSource } from "../../test/kit/fake-source.ts";
import { StateHorizon } from "./state-horizon.ts";

const HEAD = 10_000;
const MINUTE_MS = 60_000;

/** Endpoints that have the states of so many blocks behind the head. */
function setUp(depth: number) {
  const has = { depth };
  let nowMs = 5_000;
  const source = createFakeSource({ call: ({ data, block }) => (HEAD - block <= has.depth ? data : null) });
  const horizon = new StateHorizon({ source, nowMs: () => nowMs });
  return {
    has,
    calls: source.calls,
    oldest: (blocks: readonly number[]) => horizon.oldest(blocks, HEAD),
    wait: (minutes: number) => {
      nowMs += minutes * MINUTE_MS;
    },
  };
}

describe("StateHorizon", () => {
  it("asks an archive node once, for the oldest block", async () => {
    const { oldest, calls } = setUp(HEAD);
    expect(await oldest([9_900, 5_000, 17])).to.equal(17);
    expect(await oldest([9_800, 20])).to.equal(20);
    expect(calls.map(([call]) => call?.block)).to.deep.equal([17]);
  });

  it("has no block where no state is there", async () => {
    const { oldest } = setUp(-1);
    expect(await oldest([9_900, 5_000])).to.equal(Number.POSITIVE_INFINITY);
    expect(await oldest([])).to.equal(Number.POSITIVE_INFINITY);
  });

  it("finds the oldest state of any blocks in as many calls as halving takes, and knows it then", async () => {
    const anyBlocks = fc.uniqueArray(fc.integer({ min: 1, max: HEAD - 1 }), { minLength: 1, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(anyBlocks, fc.nat(HEAD), async (numbers, depth) => {
        const blocks = numbers.sort((a, b) => b - a);
        const { oldest, calls } = setUp(depth);
        const there = blocks.filter((block) => HEAD - block <= depth);
        const expected = there.at(-1) ?? Number.POSITIVE_INFINITY;
        expect(await oldest(blocks)).to.equal(expected);
        expect(calls.length).to.be.at.most(2 + Math.ceil(Math.log2(blocks.length)));
        const asked = calls.length;
        expect(await oldest(blocks)).to.equal(expected);
        expect(calls.length).to.equal(asked);
      }),
      { numRuns: randomRuns(200) },
    );
  });

  it("asks again after ten minutes: another endpoint may have more, or fewer", async () => {
    const { oldest, has, wait } = setUp(128);
    const blocks = [9_900, 9_800, 9_700];
    expect(await oldest(blocks)).to.equal(9_900);
    has.depth = HEAD;
    wait(9);
    expect(await oldest(blocks)).to.equal(9_900);
    wait(1);
    expect(await oldest(blocks)).to.equal(9_700);
    has.depth = 200;
    wait(10);
    expect(await oldest(blocks)).to.equal(9_800);
  });
});
