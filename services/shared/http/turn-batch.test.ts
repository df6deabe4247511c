import { expect } from "chai";
import { describe, it } from "mocha";
import { TurnBatch } from "./turn-batch.ts";

describe("http/turn-batch", () => {
  it("runs the work of a turn at its end, in order, and work added by it in the next", async () => {
    const done: string[] = [];
    const turn = new TurnBatch<string>((item) => {
      done.push(item);
      if (item === "b") turn.add("d");
    });
    for (const item of ["a", "b", "c"]) turn.add(item);
    await Promise.resolve();
    expect(done).to.be.empty;
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).to.deep.equal(["a", "b", "c"]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).to.deep.equal(["a", "b", "c", "d"]);
  });
});
