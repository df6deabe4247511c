"use strict";

const { writeFileSync } = require("node:fs");
const { reporters, Runner } = require("mocha");

/** After the last test the process should end by itself; when it has not by now, it prints what holds it. */
const HELD_MS = 10_000;

function reportWhatHolds() {
  const held = process.getActiveResourcesInfo?.() ?? [];
  const counts = {};
  for (const kind of held) counts[kind] = (counts[kind] ?? 0) + 1;
  // No public list has them singly; Node and Deno both have this one. Threads are in neither: they are what is not named.
  const handles = (process._getActiveHandles?.() ?? []).map((handle) => {
    const { localPort, remoteAddress, remotePort, pid, spawnargs, threadId, listening } = handle;
    const facts = { localPort, remoteAddress, remotePort, pid, spawnargs, threadId, listening };
    return `${handle.constructor?.name} ${JSON.stringify(facts)}`;
  });
  const lines = [...handles, ...listTimers()].map((line) => `  ${line}`);
  console.error(`Held by ${JSON.stringify(counts)}\n${lines.join("\n")}`);
}

/** Timers that hold the process, each with the beginning of what it calls. Only the debugger's protocol finds them, and Node alone has it. */
function listTimers() {
  let session;
  try {
    session = new (require("node:inspector").Session)();
    session.connect();
    const ask = (method, params) => {
      let answer;
      session.post(method, params, (_, result) => {
        answer = result;
      });
      return answer;
    };
    const expression =
      "(() => { const t = setTimeout(() => {}, 0); clearTimeout(t); return Object.getPrototypeOf(t); })()";
    const prototype = ask("Runtime.evaluate", { expression });
    const timers = ask("Runtime.queryObjects", { prototypeObjectId: prototype.result.objectId });
    const described = ask("Runtime.callFunctionOn", {
      objectId: timers.objects.objectId,
      returnByValue: true,
      functionDeclaration: `function () {
        return this.filter((timer) => !timer._destroyed && timer.hasRef()).map((timer) =>
          "Timeout of " + timer._idleTimeout + " ms: " + String(timer._onTimeout).replace(/\\s+/g, " ").slice(0, 300));
      }`,
    });
    return described.result.value;
  } catch (error) {
    return [`timers cannot be listed: ${error}`];
  } finally {
    session?.disconnect();
  }
}

/** With its causes: fast-check names what failed in the cause alone. */
function describeError(error) {
  const text = String(error?.stack ?? error);
  return error?.cause === undefined ? text : `${text}\nCaused by ${describeError(error.cause)}`;
}

/**
 * Mocha's spec reporter, which also writes what ran to a file: `--reporter-option output=FILE`; `heldMs` in place of HELD_MS.
 * The file holds { passes, failures, pending: [full titles], failed: [{ title, reason }] } as JSON; without an end of the run there is no file.
 */
class RecordingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const { output, heldMs = HELD_MS } = options.reporterOptions ?? {};
    if (output === undefined) throw new Error("Cannot record: --reporter-option output=FILE is missing");
    const pending = [];
    const failed = [];
    runner.on(Runner.constants.EVENT_TEST_PENDING, (test) => pending.push(test.fullTitle()));
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test, error) => {
      failed.push({ title: test.fullTitle(), reason: describeError(error) });
    });
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures } = this.stats;
      writeFileSync(output, JSON.stringify({ passes, failures, pending, failed }));
      setTimeout(reportWhatHolds, Number(heldMs)).unref();
    });
  }
}

module.exports = RecordingReporter;
