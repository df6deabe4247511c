import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { describe, it } from "mocha";
import { describeWithProcesses } from "../../services/shared/testkit/describe.ts";
import { KeptServer, runBesideServers } from "./kept-server.ts";
import { isListening } from "./servers.ts";

describeWithProcesses("a server of the checks", () => {
  it("is started again at its address when it has gone, which is counted", async () => {
    const { server, kill } = await startListener();
    const kept = new KeptServer("a listener", server, { lookMs: 50 });
    try {
      expect(await kept.restarts()).to.equal(0);
      await kill();
      expect(await kept.restarts(), "looked at once more").to.equal(1);
      await kill();
      for (let tries = 0; tries < 200 && !(await answers(server.url)); tries++) await sleep(50);
      expect(await kept.restarts(), "by its own looks").to.equal(2);
    } finally {
      kept.stop();
    }
  });

  it("is left as it is where it is not ours to start, or cannot be", async () => {
    for (const restart of [undefined, () => Promise.reject(new Error("on purpose"))]) {
      const { server, kill } = await startListener();
      const { restart: _, ...others } = server;
      const kept = new KeptServer("a listener", restart === undefined ? others : { ...others, restart });
      try {
        await kill();
        expect(await kept.restarts()).to.equal(0);
        expect(await answers(server.url)).to.equal(false);
      } finally {
        kept.stop();
      }
    }
  });
});

describe("a suite beside servers", () => {
  const FAILED = { tally: { passed: 1, failed: 1 } };
  const PASSED = { tally: { passed: 2, failed: 0 } };
  /** Restarts as told before and after the first run; verdicts of one run after the other. */
  const runWith = async (restarts: readonly number[], verdicts: readonly (typeof FAILED)[]) => {
    const [told, given] = [[...restarts], [...verdicts]];
    const verdict = await runBesideServers(
      [{ restarts: async () => told.shift() ?? expect.fail("asked too often") }],
      async () => given.shift() ?? expect.fail("run too often"),
    );
    return { verdict, left: given.length };
  };

  it("that failed runs again only if one had gone meanwhile, and its second verdict counts", async () => {
    expect(await runWith([0, 0], [FAILED, PASSED])).to.deep.equal({ verdict: FAILED, left: 1 });
    expect(await runWith([0, 1], [FAILED, PASSED])).to.deep.equal({ verdict: PASSED, left: 0 });
    expect(await runWith([0, 1], [FAILED, FAILED])).to.deep.equal({ verdict: FAILED, left: 0 });
  });

  it("that passed does not run again", async () =>
    expect(await runWith([0], [PASSED, FAILED])).to.deep.equal({ verdict: PASSED, left: 1 }));
});

/** A process that listens, how to start it again, and how to kill it. */
async function startListener() {
  const port = await findPort();
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    child = spawn(process.execPath, [
      "-e",
      `require("net").createServer((socket) => socket.destroy()).listen(${port}, "127.0.0.1", () => console.log("up"))`,
    ]);
    await once(child.stdout as NodeJS.ReadableStream, "data");
  };
  const kill = async (): Promise<void> => {
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
  await start();
  const url = `redis://127.0.0.1:${port}`;
  return { server: { url, stop: () => child.kill("SIGKILL"), restart: start }, kill };
}

/** A port that the system gives to nobody who asks for any: between two starts another test must not have it. */
async function findPort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (!(await isListening(port))) return port;
  }
}

const answers = (url: string): Promise<boolean> => isListening(Number(new URL(url).port));
