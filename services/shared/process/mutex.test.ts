import { expect } from "chai";
import { describe, it } from "mocha";
import { Mutex } from "./mutex.ts";

describe("mutex", () => {
  it("runs one work at a time, in order, past failures", async () => {
    const mutex = new Mutex();
    const seen: string[] = [];
    const work = (name: string, fails = false) =>
      mutex.run(async () => {
        seen.push(`${name} begins`);
        await new Promise(setImmediate);
        seen.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const [first, second, third] = await Promise.allSettled([work("a"), work("b", true), work("c")]);
    expect(seen).to.deep.equal(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
    expect([first?.status, second?.status, third?.status]).to.deep.equal([
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
  });
});
