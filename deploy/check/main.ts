import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, buildForTests } from "./build.ts";
import { ROOT } from "./command.ts";
import type { Lockfile } from "./packages/lockfile.ts";
import { runSteps, type Step } from "./step.ts";

/** Tests without servers; those that need one are pending here and must run in `full`. */
async function testStep(): Promise<Step> {
  const { ALL_TESTS, runSuite, toFinding } = await import("./suites/suites.ts");
  const options = {
    runtime: "node",
    files: [ALL_TESTS],
    timeoutMs: 15 * 60_000,
    pendingAllowed: true,
  } as const;
  return { name: "tests", inspect: async () => toFinding(await runSuite(options)) };
}

async function localSteps(): Promise<readonly Step[]> {
  return (await import("./local-steps.ts")).localSteps;
}

/** Each imports what it needs: an image is built where the rest of deploy/ is not there. */
const commands: Readonly<Record<string, () => Promise<boolean>>> = {
  check: async () => runAndSay(await localSteps()),
  ok: async () => runAndSay([...(await localSteps()), await testStep()]),
  full: async () => (await import("./full.ts")).checkFully(),
  build: async () => say(await build()),
  "build-tests": async () => say(await buildForTests()),
  lockfile: async () => {
    const { completeLockfile } = await import("./packages/lockfile.ts");
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
