import { type Context, describe, it, type Suite } from "mocha";

/**
 * How long a test or a hook may take. `.mocharc.json` gives 30 s to all; more is given here and nowhere else: to suites
 * in which a chain, a server or another process starts, or that are long by themselves, on a machine that is busy.
 */
const TIMEOUT_MS = 120_000;
/** Added for each repetition in a suite that repeats something as often as a setting says (TEST_KILLS, FUZZ_REQUESTS …). */
const ROUND_MS = 8_000;

/** A suite that runs a chain: anvil, the Solana devnet, or random chains in this process. */
export function describeWithChain(title: string, define: () => void): Suite {
  return describeRounds(0, title, define);
}

/** A suite that runs programs of this repository, or servers such as Redis, in processes of their own. */
export function describeWithProcesses(title: string, define: () => void): Suite {
  return describeRounds(0, title, define);
}

/** A suite that goes through thousands of random cases or every file of the repository, or waits for timers of seconds. */
export function describeLong(title: string, define: () => void): Suite {
  return describeRounds(0, title, define);
}

/** What a suite says that was left to the full check. */
export const LEFT_TO_FULL_CHECK =
  "pending: takes too long for npm test; npm run check:full runs it, or TEST_THOROUGH=1";

/** What a test says that needs a program which Debian has no package of: the full check does not install it. */
export const NOT_IN_DEBIAN = "pending: it is not installed, and Debian has no package of it";

/**
 * A suite that takes long by itself, or that little depends on from one change to the next: kills, faulty nodes, forks and
 * attacks over whole chains, real processes by the dozen. `npm run check:full` and CI run it (TEST_THOROUGH=1); `npm test`
 * shows it as pending, so that it ends within minutes.
 */
export function describeThorough(title: string, define: () => void): void {
  describeThoroughRounds(15, title, define);
}

/** The same, one test of which repeats `rounds` times what takes seconds. */
export function describeThoroughRounds(rounds: number, title: string, define: () => void): void {
  if (isThorough()) describeRounds(rounds, title, define);
  else describe(title, () => void it(LEFT_TO_FULL_CHECK, skip));
}

/** One test of a suite, of the same kind. */
export function itThorough(title: string, test: () => Promise<void>): void {
  if (isThorough()) it(title, test);
  else describe(title, () => void it(LEFT_TO_FULL_CHECK, skip));
}

/**
 * How often something random is tried: the full check on Node does it `thorough` times, everything else a quarter as often,
 * or `quick` times where that takes seconds too and certain cases are among them.
 * For what takes seconds; thousands of cases that take milliseconds each stay as many everywhere.
 */
export function randomRuns(thorough: number, quick = Math.ceil(thorough / 4)): number {
  return isThorough() ? thorough : quick;
}

/**
 * How many of its random cases a test demands to have been of the kind that it is about: `thorough` in the full check, else
 * one, since a few cases vary much.
 */
export function leastCases(thorough: number): number {
  return isThorough() ? thorough : 1;
}

function isThorough(): boolean {
  return process.env.TEST_THOROUGH === "1";
}

function skip(this: Context): void {
  this.skip();
}

/** A suite with a chain or processes, one test of which repeats `rounds` times what takes seconds. */
export function describeRounds(rounds: number, title: string, define: () => void): Suite {
  return describe(title, function () {
    this.timeout(TIMEOUT_MS + rounds * ROUND_MS);
    define();
  });
}
