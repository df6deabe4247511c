import { expect } from "chai";
import { describe, it } from "mocha";
import { schedulerOf } from "./bench-record.ts";

/** A line of /proc/<pid>/stat with these last of its fields. */
const statOf = (priority: number, policy: number) =>
  `7 (node (a) b) R ${"0 ".repeat(36)}${priority} ${policy} 0 0 0`;

describe("what a bench says of its run", () => {
  it("names the scheduling for which other work waits", () => {
    expect(schedulerOf(statOf(1, 2))).to.deep.equal(["chrt -r 1"]);
    expect(schedulerOf(statOf(5, 1))).to.deep.equal(["chrt -f 5"]);
    for (const policy of [0, 3, 5]) expect(schedulerOf(statOf(0, policy))).to.deep.equal([]);
    expect(schedulerOf("")).to.deep.equal([]);
  });
});
