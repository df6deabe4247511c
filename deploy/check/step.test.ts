import { expect } from "chai";
import { describe, it } from "mocha";
import { runSteps } from "./step.ts";

describe("steps", () => {
  it("prints a line for each with what was seen, and faults below it", async () => {
    const lines: string[] = [];
    const tally = await runSteps(
      [
        { name: "good", inspect: () => ({ faults: [], seen: "3 files" }) },
        { name: "bad", inspect: async () => ({ faults: ["first\nline", "second"] }) },
      ],
      (line) => lines.push(line.replace(/\d+\.\d/, "0.0")),
    );
    expect(lines).to.deep.equal([
      "ok      good: 3 files (0.0 s)",
      "FAILED  bad (0.0 s)",
      "        first\n        line",
      "        second",
    ]);
    expect(tally).to.deep.equal({ passed: 1, failed: 1 });
  });

  it("counts a step that throws as failed and goes on", async () => {
    const lines: string[] = [];
    const thrower = {
      name: "thrower",
      inspect: () => {
        throw new Error("no such file");
      },
    };
    const tally = await runSteps([thrower, { name: "next", inspect: () => ({ faults: [] }) }], (line) =>
      lines.push(line),
    );
    expect(tally).to.deep.equal({ passed: 1, failed: 1 });
    expect(lines.join("\n")).to.include("Error: no such file");
  });
});
