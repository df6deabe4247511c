import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, buildForTests } from "./build.ts";
import { ROOT } from "./command.ts";
import { checkFully } from "./full.ts";
import { localSteps } from "./local-steps.ts";
import { completeLockfile, type Lockfile } from "./packages/lockfile.ts";
import { runSteps, type Step } from "./step.ts";
import { ALL_TESTS, runSuite, toFinding } from "./suites/suites.ts";

/** Tests without servers; those that need one are pending here and must run in `full`. */
const tests: Step = {
  name: "tests",
  inspect: async () =>
    toFinding(
      await runSuite({ runtime: "node", files: [ALL_TESTS], timeoutMs: 15 * 60_000, pendingAllowed: true }),
    ),
};

const commands: Readonly<Record<string, () => Promise<boolean>>> = {
  check: () => runAndSay(localSteps),
  ok: () => runAndSay([...localSteps, tests]),
  full: checkFully,
  build: async () => say(await build()),
  "build-tests": async () => say(await buildForTests()),
  lockfile: async () => {
    const path = join(ROOT, "package-lock.json");
    const lock = JSON.parse(readFileSync(path, "utf8")) as Lockfile;
    writeFileSync(path, `${JSON.stringify(completeLockfile(lock), null, 2)}\n`);
    return true;
  },
};

function say(faults: readonly string[]): boolean {
  for (const fault of faults) console.error(fault);
  return faults.length === 0;
}

async function runAndSay(steps: readonly Step[]): Promise<boolean> {
  const { passed, failed } = await runSteps(steps);
  console.log(
    failed === 0
      ? `ok: ${passed} of ${passed} checks passed`
      : `not ok: ${failed} of ${passed + failed} checks failed`,
  );
  return failed === 0;
}

const USAGE = `Usage: npm run check|ok|check:full|build|lockfile

check       import rules, lint, types, generated files
ok          check, and every test that needs no server
check:full  all of it with servers, manifests and production builds: what CI runs
build       what the image runs, into dist/
lockfile    completes package-lock.json`;

const command = commands[process.argv[2] ?? ""];
if (process.argv.slice(2).some((word) => word === "--help" || word === "-h")) console.log(USAGE);
else if (command === undefined) {
  console.error(USAGE);
  process.exitCode = 2;
} else if (!(await command())) {
  process.exitCode = 1;
}
