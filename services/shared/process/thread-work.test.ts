import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { it } from "mocha";
import { describeWithProcesses } from "../testkit/describe.ts";
import { createThreadClient } from "./thread-work.ts";

/** Answers each request with its double, a negative one with a failure. */
const DOUBLING = `
  const { parentPort } = require("node:worker_threads");
  parentPort.once("message", () => {
    parentPort.on("message", ({ id, request }) =>
      parentPort.postMessage(request < 0 ? { kind: "failure", id, failure: "negative" } : { kind: "result", id, value: 2 * request }));
    parentPort.postMessage({ kind: "ready" });
  });
`;
const WORK_MS = 10;
const RESULTS = 40;

function open() {
  const events: unknown[] = [];
  const worker = new Worker(DOUBLING, { eval: true });
  const client = createThreadClient<number>({
    worker,
    task: {},
    fallback: async () => "fallback",
    toError: (failure) => new Error(String(failure)),
    onMessage: (event) => events.push(event),
    onFailure: (reason) => events.push(reason),
    closedError: () => new Error("closed"),
  });
  const isUp = new Promise((resolve) => worker.once("message", resolve));
  return { client, isUp };
}

describeWithProcesses("createThreadClient", () => {
  it("gives what the thread answers, its failures as errors, and the fallback's until it is up", async () => {
    const { client, isUp } = open();
    expect(await client.request(1)).to.equal("fallback");
    await isUp;
    expect(await Promise.all([client.request(1), client.request(2)])).to.deep.equal([2, 4]);
    const error = await client.request(-1).catch((cause: unknown) => cause);
    expect((error as Error).message).to.equal("negative");
    await client.close();
  });

  it("lets timers run between results, though the next one is always there", async () => {
    const { client, isUp } = open();
    await isUp;
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 1);
    let next = client.request(0);
    for (let i = 0; i < RESULTS; i++) {
      const result = await next;
      expect(result).to.equal(2 * i);
      next = client.request(i + 1);
      // The thread has answered long before this is over.
      for (const startedMs = performance.now(); performance.now() - startedMs < WORK_MS; );
    }
    await next;
    clearInterval(timer);
    await client.close();
    expect(ticks).to.be.at.least(RESULTS / 2);
  });
});
