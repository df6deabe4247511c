import { expect } from "chai";
import { describe, it } from "mocha";
import type { LiveHead } from "../../services/shared/grpc/types.ts";
import { fateOf, findFork } from "./lineage.ts";

const ref = (block: number, fork = "a") => ({ block, hash: `${fork}${block}` });
const headOf = (refs: { block: number; hash: string }[], chainId = 8453): LiveHead => {
  const last = refs.at(-1) as { block: number; hash: string };
  return { chainId, ...last, time: 1, version: "", recent: refs };
};
const head = headOf([ref(8), ref(9), ref(10, "b"), ref(11, "b")]);

describe("lineage", () => {
  it("knows what became of a block by the head's last blocks", () => {
    expect(fateOf(ref(11, "b"), head)).to.equal("kept");
    expect(fateOf(ref(11), head)).to.equal("taken_back");
    expect(fateOf(ref(10), head)).to.equal("taken_back");
    expect(fateOf(ref(9), head)).to.equal("kept");
    expect(fateOf(ref(12), head), "beyond the head").to.equal("taken_back");
    expect(fateOf(ref(7), head), "before all that are named").to.equal("unknown");
  });

  it("takes a slot that is skipped now for taken back, and an EVM block that was not stored for neither", () => {
    const gap = [ref(8), ref(10)];
    expect(fateOf(ref(9), headOf(gap, 0))).to.equal("taken_back");
    expect(fateOf(ref(9), headOf(gap))).to.equal("unknown");
    expect(fateOf(ref(7), headOf(gap, 0))).to.equal("unknown");
  });

  it("finds what was told and is gone, newest first, down to what stays", () => {
    expect(findFork([ref(8), ref(9), ref(11, "b")], head)).to.equal(undefined);
    expect(findFork([ref(8), ref(9), ref(10), ref(11), ref(12)], head)).to.deep.equal({
      takenBack: [ref(12), ref(11), ref(10)],
      kept: ref(9),
    });
  });

  it("knows no kept block where the fork is deeper than what the head names", () => {
    expect(findFork([ref(6), ref(7), ref(12)], head)).to.deep.equal({
      takenBack: [ref(12)],
      kept: undefined,
    });
    expect(findFork([], head)).to.equal(undefined);
  });
});
