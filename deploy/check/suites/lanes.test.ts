import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { describe, it } from "mocha";
import { runInLanes } from "./lanes.ts";

describe("jobs in lanes", () => {
  it("run as many at a time as there are lanes, and come back in the order of the list", async () => {
    let running = 0;
    let most = 0;
    const results = await runInLanes([30, 5, 5, 5], 2, async (ms) => {
      most = Math.max(most, ++running);
      await sleep(ms);
      running--;
      return ms;
    });
    expect(results).to.deep.equal([30, 5, 5, 5]);
    expect(most).to.equal(2);
  });

  it("start none after one has thrown, and say its error", async () => {
    const started: number[] = [];
    const run = runInLanes([1, 2, 3, 4], 2, async (job) => {
      started.push(job);
      await sleep(1);
      if (job === 1) throw new Error("job 1 broke");
      await sleep(1);
      return job;
    });
    expect(await run.catch((error: Error) => error.message)).to.equal("job 1 broke");
    await sleep(10);
    expect(started).to.deep.equal([1, 2]);
  });
});
