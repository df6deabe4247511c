import { expect } from "chai";
import { beforeEach, describe, it } from "mocha";
import { WriteBehind } from "./write-behind.ts";

describe("WriteBehind", () => {
  let behind: WriteBehind;
  let done: string[];
  beforeEach(() => {
    behind = new WriteBehind();
    done = [];
  });

  const block = { number: 7, hash: "0x07" };
  function start(written: Promise<void>, { fails = false } = {}) {
    behind.start({
      block,
      written,
      onFailure: () => void done.push("failed"),
      onWritten: async () => {
        done.push("written");
        if (fails) throw new Error("no room");
      },
    });
  }
  const failureOf = (work: Promise<void>) => work.then(() => "none").catch((error: Error) => error.message);

  it("does what follows a write once it is asked, not before", async () => {
    const written = Promise.resolve();
    start(written);
    await written;
    expect([behind.block, done]).to.deep.equal([block, []]);
    await behind.settled();
    expect([behind.block, done]).to.deep.equal([undefined, ["written"]]);
    await behind.settled();
    expect(done).to.deep.equal(["written"]);
  });

  it("tells of a failure where it is asked, once", async () => {
    start(Promise.reject(new Error("disk full")));
    // It is handled: the process would end by now.
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await failureOf(behind.settled())).to.equal("disk full");
    expect([behind.block, done]).to.deep.equal([undefined, ["failed"]]);
    expect(await failureOf(behind.settled())).to.equal("none");
  });

  it("throws what fails after the write, which is no failure of the write", async () => {
    start(Promise.resolve(), { fails: true });
    expect(await failureOf(behind.settled())).to.equal("no room");
    expect([behind.block, done]).to.deep.equal([undefined, ["written"]]);
  });

  it("refuses a second write while one is under way", () => {
    start(Promise.resolve());
    expect(() => start(Promise.resolve())).to.throw("Another batch is being written");
  });
});
