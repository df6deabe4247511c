import { houseSteps } from "./house.ts";
import { manifestSteps } from "./manifests/steps.ts";
import { productionSteps } from "./production.ts";
import { type Server, startMongodb, startRedis } from "./servers.ts";
import { addTallies, NOTHING, runSteps, type Step, type Tally } from "./step.ts";
import { ALL_TESTS, PRODUCT_TESTS, runSuite } from "./suites.ts";

const SUITE_TIMEOUT_MS = 30 * 60_000;

/**
 * Everything that is checked anywhere, with servers: what CI runs. A pending test fails. Prints mocha's own output and,
 * as the last line, the sum over checks and tests: `N passed, N failed`.
 */
export async function checkFully(): Promise<boolean> {
  let tally = await runSteps([...houseSteps, ...manifestSteps, ...productionSteps()]);
  const servers: Server[] = [];
  const env: Record<string, string> = {};
  const serverSteps: Step[] = [
    { name: "Redis", inspect: () => start("REDIS_URL", startRedis) },
    { name: "MongoDB", inspect: () => start("MONGODB_URL", startMongodb) },
  ];
  async function start(
    variable: string,
    starter: () => Promise<Server>,
  ): Promise<{ faults: string[]; seen: string }> {
    const server = await starter();
    servers.push(server);
    env[variable] = server.url;
    return { faults: [], seen: server.url };
  }

  const faults: string[] = [];
  try {
    tally = addTallies(tally, await runSteps(serverSteps));
    tally = addTallies(tally, await runTests("node", ALL_TESTS));
    for (const files of PRODUCT_TESTS) tally = addTallies(tally, await runTests("deno", files));
  } finally {
    for (const server of servers) server.stop();
  }
  async function runTests(runtime: "node" | "deno", files: string): Promise<Tally> {
    console.log(`\n${files} on ${runtime}`);
    const verdict = await runSuite({
      runtime,
      files: [files],
      env,
      timeoutMs: SUITE_TIMEOUT_MS,
      pendingAllowed: false,
    });
    faults.push(...verdict.faults.map((fault) => `${files} on ${runtime}: ${fault}`));
    return verdict.tally;
  }

  for (const fault of faults) console.log(fault);
  const { passed, failed } = tally ?? NOTHING;
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0;
}
