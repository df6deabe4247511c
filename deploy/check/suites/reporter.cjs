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
  console.error(`Held by ${JSON.stringify(counts)}\n${handles.map((line) => `  ${line}`).join("\n")}`);
}

/** With its causes: fast-check names what failed in the cause alone. */
function describeError(error) {
  const text = String(error?.stack ?? error);
  return error?.cause === undefined ? text : `${text}\nCaused by ${describeError(error.cause)}`;
}

/**
 * Mocha's spec reporter, which also writes what ran to a file: `--reporter-option output=FILE`.
 * The file holds { passes, failures, pending: [full titles], failed: [{ title, reason }] } as JSON; without an end of the run there is no file.
 */
class RecordingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const { output } = options.reporterOptions ?? {};
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
      setTimeout(reportWhatHolds, HELD_MS).unref();
    });
  }
}

module.exports = RecordingReporter;
