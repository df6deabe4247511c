import { expect } from "chai";
import { describe, it } from "mocha";
import { doReferenceWork, measureReference } from "./reference-work.ts";

describe("the work that tells how fast a machine is", () => {
  it("is the same everywhere", () =>
    expect(doReferenceWork()).to.deep.equal({
      sum: 21_513_143_639_491_000_000_000_000n,
      first: "000000000000000000000000000000000000bc8f",
    }));

  it("takes some milliseconds of CPU", () => expect(measureReference()).to.be.within(1, 5_000));
});
