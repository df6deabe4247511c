import { LEFT_TO_FULL_CHECK, NOT_IN_DEBIAN } from "../../services/shared/testkit/describe.ts";
import { buildForTests, TEST_DIST } from "./build.ts";
import { ROOT } from "./command.ts";
import { KeptServer, runBesideServers } from "./kept-server.ts";
import { localSteps } from "./local-steps.ts";
import { manifestSteps } from "./manifests/steps.ts";
import { inspectOpenApi } from "./openapi/openapi.ts";
import { inspectAdvisories } from "./packages/advisories.ts";
import { ensureInspector } from "./packages/inspector.ts";
import { productionSteps } from "./production.ts";
import { ensureChromium, ensurePandas, ensurePromtool, startMongodb, startRedis } from "./servers.ts";
import { addTallies, runSteps, type Step } from "./step.ts";
import { runInLanes } from "./suites/lanes.ts";
import {
  ensureNewestNode,
  listProductTests,
  type Runtime,
  runSuite,
  type SuiteVerdict,
  TOOL_TESTS,
} from "./suites/suites.ts";

const SUITE_TIMEOUT_MS = 45 * 60_000;
/** Suites that run side by side: as many as a small machine has cores. */
const LANES = 2;
/**
 * Suites that `npm test` leaves out, and more of chance than where a user runs it, run on this Node alone. On the newest
 * Node and on Deno the tests are those of `npm test`, with servers: what these could get wrong shows there; and the first
 * hour wherever users spend it.
 */
const ENV_OF: Readonly<Record<Runtime, Readonly<Record<string, string>>>> = {
  node: {
    TEST_THOROUGH: "1",
    FIRST_HOUR: "full",
    TEST_KILLS: "50",
    TEST_REORGS: "50",
    TEST_ABSENCES: "all",
    FUZZ_REQUESTS: "20000",
    TEST_PAYMENT_TRIALS: "200",
  },
  "newest Node": { FIRST_HOUR: "full" },
  deno: {},
};
const advisories: Step = { name: "advisories of production dependencies", inspect: inspectAdvisories };
const openApi: Step = { name: "rules of OpenAPI documents", inspect: inspectOpenApi };
const programs: readonly Step[] = [
  programStep("promtool", ensurePromtool),
  programStep("Chromium", ensureChromium),
  programStep("pandas", ensurePandas),
  programStep("the inspector of MCP", ensureInspector),
  programStep("the newest Node", ensureNewestNode),
];
const STARTERS = { REDIS_URL: startRedis, MONGODB_URL: startMongodb } as const;

/**
 * Everything that is checked anywhere, with servers: what CI runs. A pending test fails. Prints mocha's own output and,
 * as the last line, the sum over checks and tests: `N passed, N failed`.
 */
export async function checkFully(): Promise<boolean> {
  let tally = await runSteps([...localSteps, advisories, openApi, ...manifestSteps, ...productionSteps()]);
  const faults: string[] = [];
  const servers = new Map<string, KeptServer>();
  try {
    tally = addTallies(tally, await runSteps([...programs, ...serverSteps(servers)]));
    const urls = Object.fromEntries([...servers].map(([variable, { url }]) => [variable, url]));
    const unbuilt = await buildForTests();
    faults.push(...unbuilt);
    tally = addTallies(tally, { passed: 0, failed: unbuilt.length });
    const env = { ...urls, TEST_DIST };
    const verdicts = await runInLanes(listSuites(), LANES, (suite) =>
      runBesideServers([...servers.values()], () => runAndPrint(suite, env)),
    );
    for (const verdict of verdicts) {
      tally = addTallies(tally, verdict.tally);
      faults.push(...verdict.faults);
    }
  } finally {
    for (const server of servers.values()) server.stop();
  }
  for (const fault of faults) console.log(fault);
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  return tally.failed === 0;
}

interface Suite {
  readonly runtime: Runtime;
  readonly files: string;
}

/** Every test on Node, then what runs in production or at users on the newest one, and what runs in production on Deno. */
function listSuites(): Suite[] {
  const product = listProductTests(ROOT);
  return [
    ...[...product, ...TOOL_TESTS].map((files) => ({ runtime: "node", files }) as const),
    ...[...product, "deploy/**/*.test.ts"].map((files) => ({ runtime: "newest Node", files }) as const),
    ...product.map((files) => ({ runtime: "deno", files }) as const),
  ];
}

/** Prints a suite's output once it has ended, whole: others run beside it. */
async function runAndPrint(suite: Suite, env: Readonly<Record<string, string>>): Promise<SuiteVerdict> {
  const name = `${suite.files} on ${suite.runtime}`;
  const startedMs = Date.now();
  console.log(`started ${name}`);
  const { tally, faults, output } = await runSuite({
    runtime: suite.runtime,
    files: [suite.files],
    env: { ...env, ...ENV_OF[suite.runtime] },
    timeoutMs: SUITE_TIMEOUT_MS,
    pendingAllowed: suite.runtime === "node" ? NOT_IN_DEBIAN : LEFT_TO_FULL_CHECK,
    echo: false,
  });
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  console.log(
    `\n${name}\n${output}\nended ${name}: ${tally.passed} passed, ${tally.failed} failed in ${seconds} s`,
  );
  return { tally, faults: faults.map((fault) => `${name}: ${fault}`) };
}

/** Installs a program that tests start, where it is missing. */
function programStep(name: string, ensure: () => Promise<void>): Step {
  return { name, inspect: () => ensure().then(() => ({ faults: [] })) };
}

/** Starts the servers of tests; one that does not start is a failed check, and its tests are pending and so fail. */
function serverSteps(servers: Map<string, KeptServer>): Step[] {
  return Object.entries(STARTERS).map(([variable, start]) => ({
    name: variable,
    inspect: async () => {
      const server = new KeptServer(variable, await start());
      servers.set(variable, server);
      return { faults: [], seen: server.url };
    },
  }));
}
