import { expect } from "chai";
import { describe, it } from "mocha";
import { addressOf, HandMade } from "../test/hand-made.ts";
import { flatten } from "./flatten.ts";
import { readLogs } from "./logs.ts";

/** a calls b, which logs; then a logs; c logs. */
function made(): HandMade {
  return new HandMade()
    .call("a", { accounts: [], data: [] }, (a) => {
      a.call("b", { accounts: [], data: [] }, (b) => b.log([1]));
      a.log([2]);
    })
    .call("c", { accounts: [], data: [] }, (c) => c.log([3], "Program log: ray_log: "));
}

function read(lines: readonly string[], handMade = made()) {
  const transaction = handMade.build();
  const { accountKeys } = transaction.transaction.message;
  const flat = flatten(transaction);
  const programs = flat.instructions.map(({ programIdIndex }) => accountKeys[programIdIndex] as string);
  return readLogs(lines, flat, programs).map(({ instructionIndex, source, text }) => [
    instructionIndex,
    source,
    text,
  ]);
}

function linesOf(made: HandMade): readonly string[] {
  return made.build().meta?.logMessages ?? [];
}

describe("readLogs", () => {
  it("finds the instruction that logged each line", () => {
    expect(read(linesOf(made()))).to.deep.equal([
      [1, "log", "AQ=="],
      [0, "log", "Ag=="],
      [2, "ray_log", "Aw=="],
    ]);
  });

  it("is not misled by what programs write themselves", () => {
    const lines = linesOf(made()).flatMap((line) => [
      line,
      "Program log: transfer success",
      "Program log: Program x invoke [1]",
      "Program return: x AQ==",
      `Program ${addressOf("a")} consumed 5 of 6 compute units`,
    ]);
    expect(read(lines)).to.deep.equal(read(linesOf(made())));
  });

  it("skips instructions that log nothing: precompiles", () => {
    const handMade = new HandMade()
      .call("precompile", { accounts: [], data: [] })
      .call("c", { accounts: [], data: [] }, (c) => c.log([3]));
    expect(read(linesOf(handMade).slice(2), handMade)).to.deep.equal([[1, "log", "Aw=="]]);
  });

  it("reads what is left of a log that was cut off", () => {
    const lines = linesOf(made());
    expect(read([...lines.slice(0, 4), "Log truncated"])).to.deep.equal([[1, "log", "AQ=="]]);
    expect(read(["Program nobody invoke [1]", ...lines])).to.deep.equal([]);
    expect(read([])).to.deep.equal([]);
  });
});
