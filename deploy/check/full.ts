import { buildForTests, TEST_DIST } from "./build.ts";
import { ROOT } from "./command.ts";
import { localSteps } from "./local-steps.ts";
import { manifestSteps } from "./manifests/steps.ts";
import { inspectAdvisories } from "./packages/advisories.ts";
import { productionSteps } from "./production.ts";
import { ensurePromtool, type Server, startMongodb, startRedis } from "./servers.ts";
import { addTallies, runSteps, type Step } from "./step.ts";
import { ALL_TESTS, listProductTests, runSuite } from "./suites/suites.ts";

const SUITE_TIMEOUT_MS = 45 * 60_000;
/** What tests do more often here than where a user runs them. */
const THOROUGH = {
  TEST_KILLS: "50",
  TEST_REORGS: "50",
  TEST_ABSENCES: "all",
  FUZZ_REQUESTS: "20000",
  FIRST_HOUR: "full",
  TEST_THOROUGH: "1",
  TEST_PAYMENT_TRIALS: "500",
};
const advisories: Step = { name: "advisories of production dependencies", inspect: inspectAdvisories };
const promtool: Step = {
  name: "promtool",
  inspect: async () => {
    await ensurePromtool();
    return { faults: [] };
  },
};
const STARTERS = { REDIS_URL: startRedis, MONGODB_URL: startMongodb } as const;

/**
 * Everything that is checked anywhere, with servers: what CI runs. A pending test fails. Prints mocha's own output and,
 * as the last line, the sum over checks and tests: `N passed, N failed`.
 */
export async function checkFully(): Promise<boolean> {
  let tally = await runSteps([...localSteps, advisories, ...manifestSteps, ...productionSteps()]);
  const faults: string[] = [];
  const servers = new Map<string, Server>();
  try {
    tally = addTallies(tally, await runSteps([promtool, ...serverSteps(servers)]));
    const urls = Object.fromEntries([...servers].map(([variable, { url }]) => [variable, url]));
    const env = { ...urls, ...THOROUGH };
    const unbuilt = await buildForTests();
    faults.push(...unbuilt);
    tally = addTallies(tally, { passed: 0, failed: unbuilt.length });
    const suites = [
      { runtime: "node", files: ALL_TESTS } as const,
      ...listProductTests(ROOT).map((files) => ({ runtime: "deno", files }) as const),
    ];
    for (const { runtime, files } of suites) {
      console.log(`\n${files} on ${runtime}`);
      const options = {
        runtime,
        files: [files],
        env: { ...env, TEST_DIST },
        timeoutMs: SUITE_TIMEOUT_MS,
        pendingAllowed: false,
      };
      const verdict = await runSuite(options);
      tally = addTallies(tally, verdict.tally);
      faults.push(...verdict.faults.map((fault) => `${files} on ${runtime}: ${fault}`));
    }
  } finally {
    for (const server of servers.values()) server.stop();
  }
  for (const fault of faults) console.log(fault);
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  return tally.failed === 0;
}

/** Starts the servers of tests; one that does not start is a failed check, and its tests are pending and so fail. */
function serverSteps(servers: Map<string, Server>): Step[] {
  return Object.entries(STARTERS).map(([variable, start]) => ({
    name: variable,
    inspect: async () => {
      const server = await start();
      servers.set(variable, server);
      return { faults: [], seen: server.url };
    },
  }));
}
