import { expect } from "chai";
import { describe, it } from "mocha";
import { limitFailureReports } from "./failure-reports.ts";

describe("limitFailureReports", () => {
  it("reports the first failure at once, and later ones once a minute with their number", () => {
    let nowMs = 5;
    const reported: [number, string][] = [];
    const onFailure = limitFailureReports(({ failures, error }) => reported.push([failures, error.message]), {
      now: () => nowMs,
    });
    onFailure(new Error("a"));
    expect(reported).to.deep.equal([[1, "a"]]);
    for (const message of ["b", "c"]) onFailure(new Error(message));
    nowMs += 59_999;
    onFailure(new Error("d"));
    expect(reported).to.have.length(1);
    nowMs += 1;
    onFailure(new Error("e"));
    expect(reported).to.deep.equal([
      [1, "a"],
      [4, "e"],
    ]);
  });
});
