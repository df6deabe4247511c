import { expect } from "chai";
import { describe, it } from "mocha";
import { ServiceError } from "../errors.ts";
import { type ConsistentRead, readConsistently, requireConsistent } from "./consistent-read.ts";

/** A query whose checkpoint is the next of these at each look; the last one stays. */
function queryOf(looks: readonly (string | undefined)[]): ConsistentRead<string, string> {
  let look = 0;
  return {
    getCheckpoint: async () => looks[Math.min(look++, looks.length - 1)],
    hasData: (checkpoint): checkpoint is string => checkpoint !== undefined,
    read: async (checkpoint) => `read at ${checkpoint}`,
    isSameState: (before, after) => before === after,
    maxAttempts: 2,
  };
}

describe("readConsistently", () => {
  it("returns what was read between two equal checkpoints", async () => {
    expect(await readConsistently(queryOf(["a"]))).to.deep.equal({
      checkpoint: "a",
      value: "read at a",
      isConsistent: true,
    });
  });

  it("reads again at the checkpoint that was written meanwhile", async () => {
    expect(await requireConsistent(queryOf(["a", "b"]))).to.deep.equal({
      checkpoint: "b",
      value: "read at b",
    });
  });

  it("says that the value of the last attempt is not consistent, or throws unavailable", async () => {
    const looks = ["a", "b", "c"];
    expect(await readConsistently(queryOf(looks))).to.deep.equal({
      checkpoint: "b",
      value: "read at b",
      isConsistent: false,
    });
    const error = await requireConsistent(queryOf(looks)).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ServiceError).and.have.property("code", "unavailable");
  });

  it("returns undefined without data, also where it is deleted meanwhile", async () => {
    expect(await readConsistently(queryOf([undefined]))).to.equal(undefined);
    expect(await readConsistently(queryOf(["a", undefined]))).to.equal(undefined);
  });
});
