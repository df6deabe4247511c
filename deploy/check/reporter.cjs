"use strict";

const { writeFileSync } = require("node:fs");
const { reporters, Runner } = require("mocha");

/**
 * Mocha's spec reporter, which also writes what ran to a file: `--reporter-option output=FILE`.
 * The file holds { passes, failures, pending: [full titles] } as JSON; without an end of the run there is no file.
 */
class RecordingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const { output } = options.reporterOptions ?? {};
    if (output === undefined) throw new Error("Cannot record: --reporter-option output=FILE is missing");
    const pending = [];
    runner.on(Runner.constants.EVENT_TEST_PENDING, (test) => pending.push(test.fullTitle()));
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures } = this.stats;
      writeFileSync(output, JSON.stringify({ passes, failures, pending }));
    });
  }
}

module.exports = RecordingReporter;
