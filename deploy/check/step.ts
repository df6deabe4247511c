/** One thing that is checked: what it is called, and how to find its faults. */
export interface Step {
  readonly name: string;
  /** Returns every fault in words (none = passed) and, optionally, what was looked at. */
  readonly inspect: () => Promise<Finding> | Finding;
}

export interface Finding {
  readonly faults: readonly string[];
  /** Shown beside a passed step: how much was read. Reading nothing is a fault that the step itself reports. */
  readonly seen?: string;
}

export interface Tally {
  readonly passed: number;
  readonly failed: number;
}

export const NOTHING: Tally = { passed: 0, failed: 0 };

export function addTallies(a: Tally, b: Tally): Tally {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed };
}

type Print = (line: string) => void;

/** Runs the steps one after another and prints a line for each, with every fault below it. A throwing step has failed. */
export async function runSteps(steps: readonly Step[], print: Print = console.log): Promise<Tally> {
  let tally = NOTHING;
  for (const { name, inspect } of steps) {
    const startedMs = Date.now();
    const { faults, seen } = await findFaults(inspect);
    const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
    const verdict = faults.length === 0 ? "ok" : "FAILED";
    print(`${verdict.padEnd(7)} ${name}${seen === undefined ? "" : `: ${seen}`} (${seconds} s)`);
    for (const fault of faults) print(fault.trimEnd().replace(/^/gm, "        "));
    tally = addTallies(tally, faults.length === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
  }
  return tally;
}

async function findFaults(inspect: Step["inspect"]): Promise<Finding> {
  try {
    return await inspect();
  } catch (error) {
    return { faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
  }
}
