import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, run } from "./command.ts";
import { findDependencyFaults, type LockedPackages, type Manifest } from "./packages/dependencies.ts";
import { findLockfileFaults, type Lockfile } from "./packages/lockfile.ts";
import { findDeadPathsOf } from "./sources/doc-paths.ts";
import { inspectImports } from "./sources/import-rules.ts";
import { findEmptyNames } from "./sources/naming.ts";
import { findLongFiles, readSources } from "./sources/source-files.ts";
import type { Finding, Step } from "./step.ts";

/** Remembers what it has read, so that the next check takes a third of the time. */
const TYPES = [
  ...["node", "node_modules/typescript/bin/tsc", "-p", "."],
  ...["--incremental", "--tsBuildInfoFile", "node_modules/.cache/types.tsbuildinfo"],
];

/** The explorer's code runs where there is a DOM and no Node. */
const BROWSER_TYPES = ["node", "node_modules/typescript/bin/tsc", "-p", "gateway/explorer/browser"];

/** The client's code runs on any platform with fetch: Node's types are not there. */
const CLIENT_TYPES = ["node", "node_modules/typescript/bin/tsc", "-p", "clients/typescript", "--noEmit"];

/** The checks that need no server and no network: what `npm run check` runs before every commit. */
export const localSteps: readonly Step[] = [
  { name: "types", inspect: () => inspectCommand(TYPES) },
  { name: "types of the explorer", inspect: () => inspectCommand(BROWSER_TYPES) },
  { name: "types of the client", inspect: () => inspectCommand(CLIENT_TYPES) },
  {
    name: "lint and format",
    inspect: () =>
      inspectCommand(["node_modules/.bin/biome", "check", "--error-on-warnings", "--colors=off", "."]),
  },
  { name: "import rules", inspect: inspectImportRules },
  { name: "file lengths", inspect: inspectLengths },
  { name: "names", inspect: inspectNames },
  { name: "paths in documents", inspect: inspectDocPaths },
  { name: "lock file", inspect: inspectLockfile },
  { name: "dependencies", inspect: inspectDependencies },
  { name: "generated descriptions", inspect: () => inspectGenerator("proto/generate.ts") },
  { name: "generated clients", inspect: () => inspectGenerator("clients/generate/main.ts") },
  { name: "generated docs", inspect: () => inspectGenerator("deploy/docs/generate.ts") },
  {
    name: "generated rules and dashboards",
    inspect: () => inspectGenerator("deploy/monitoring/generate.ts"),
  },
  { name: "generated contracts", inspect: () => inspectGenerator("deploy/devnet/contracts/generate.ts") },
];

/** A command as a check: what it prints is the fault when it fails. */
export async function inspectCommand(command: readonly string[]): Promise<Finding> {
  const { ok, output, exitCode } = await run(command);
  return { faults: ok ? [] : [output.trim() || `${command.join(" ")} ended with ${exitCode}`] };
}

function inspectGenerator(script: string): Promise<Finding> {
  return inspectCommand(["node", "--import", "tsx", script, "--check"]);
}

async function inspectImportRules(): Promise<Finding> {
  const { breaches, modules, dependencies } = await inspectImports(ROOT);
  const sources = readSources(ROOT).length;
  const faults = breaches.map(({ rule, from, to }) => `${rule}: ${from} → ${to}`);
  // A cruiser that cannot parse TypeScript reads nothing and finds nothing.
  if (modules < sources || dependencies < sources) {
    faults.push(`only ${modules} of ${sources} source files and ${dependencies} imports were read`);
  }
  return { faults, seen: `${modules} files, ${dependencies} imports` };
}

function inspectLengths(): Finding {
  const sources = readSources(ROOT);
  return { faults: findLongFiles(sources), seen: `${sources.length} files` };
}

function inspectNames(): Finding {
  return { faults: findEmptyNames(readSources(ROOT)) };
}

async function inspectDocPaths(): Promise<Finding> {
  const { faults, documents } = await findDeadPathsOf(ROOT);
  return { faults, seen: `${documents} documents` };
}

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(join(ROOT, name), "utf8")) as T;
}

function inspectDependencies(): Finding {
  const lock = readJson<LockedPackages>("package-lock.json");
  const faults = findDependencyFaults(readJson<Manifest>("package.json"), lock);
  const shipped = Object.entries(lock.packages).filter(([path, { dev }]) => path !== "" && dev !== true);
  return { faults, seen: `${shipped.length} in production` };
}

function inspectLockfile(): Finding {
  const lock = readJson<Lockfile>("package-lock.json");
  const faults = findLockfileFaults(lock);
  if (faults.length > 0) faults.push("`npm run lockfile` mends missing platforms and addresses");
  return { faults, seen: `${Object.keys(lock.packages).length} packages` };
}
