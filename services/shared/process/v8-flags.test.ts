import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { it } from "mocha";
import { describeWithProcesses } from "../testkit/describe.ts";
import { startWithSemiSpace } from "./v8-flags.ts";

/** Makes garbage that the young generation grows by, as far as it may, and tells its size in bytes. */
const GROWING = `
  const { getHeapSpaceStatistics } = require("node:v8");
  const { parentPort } = require("node:worker_threads");
  const kept = [];
  let most = 0;
  for (let i = 0; i < 3_000_000; i++) {
    kept[i % 100_000] = { i };
    if (i % 10_000 > 0) continue;
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    most = Math.max(most, young.space_size);
  }
  parentPort.postMessage(most);
`;

describeWithProcesses("a thread with a young generation of its own size", () => {
  const startGrowing = () => new Worker(GROWING, { eval: true });
  const mostOf = async (worker: Worker): Promise<number> => (await once(worker, "message"))[0] as number;

  it("has no larger one, and those started after it have theirs as before", async () => {
    const small = startWithSemiSpace(2, startGrowing);
    const most = await mostOf(small);
    // Two halves.
    const bound = 2 * 2 ** 21 + 1e6;
    // Deno takes no flags of V8: its threads are as large as it makes them.
    if ("Deno" in globalThis) return expect(most).to.be.above(bound);
    expect(most).to.be.within(1e6, bound);
    expect(await mostOf(startGrowing())).to.be.above(2 * most);
  });
});
