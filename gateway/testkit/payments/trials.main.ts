/** `npm run trials:payments`: random trials of payments over real processes. Exit code 1 = one of them was wrong. */
import { parseArgs } from "node:util";
import { runTrials } from "./payment-trials.ts";
import { startTrialEnvironment } from "./trial-environment.ts";

const { values } = parseArgs({
  options: {
    trials: { type: "string", default: "500" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    verbose: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  process.stdout.write("Usage: npm run trials:payments -- [--trials <n>] [--seed <n>] [--verbose]\n");
} else {
  const [trials, seed] = [Number(values.trials), Number(values.seed)];
  const world = await startTrialEnvironment();
  const startedMs = performance.now();
  try {
    const { faults, ...totals } = await runTrials(world, {
      trials,
      seed,
      onTrial({ index, plan, charged, tables }) {
        if (values.verbose) console.log(`${index}: ${plan}: charged ${charged}, tables ${tables}`);
        else if ((index + 1) % 50 === 0) console.log(`${index + 1} trials`);
      },
    });
    console.log(
      JSON.stringify({ seed, ...totals, seconds: Math.round((performance.now() - startedMs) / 1000) }),
    );
    for (const fault of faults) console.log(`wrong: ${fault}`);
    process.exitCode = faults.length === 0 ? 0 : 1;
  } finally {
    await world.stop();
  }
}
