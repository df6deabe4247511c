import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThoroughRounds } from "../../services/shared/testkit/describe.ts";
import { runTrials } from "../testkit/payments/payment-trials.ts";
import { startTrialEnvironment, type TrialEnvironment } from "../testkit/payments/trial-environment.ts";

/** Many on Node under `npm run check:full`; a few show that the other runtime does not differ. */
const WANTED = Number(process.env.TEST_PAYMENT_TRIALS ?? 8);
const TRIALS = "Deno" in globalThis ? Math.min(WANTED, 25) : WANTED;

describeThoroughRounds(TRIALS, "gateway: random trials of payments", () => {
  let world: TrialEnvironment;
  before(async () => {
    world = await startTrialEnvironment();
  });
  after(() => world?.stop());

  it(`USDC moved = whole tables × price, or the difference is owed, over ${TRIALS} trials`, async () => {
    const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
    const { faults, trials, tables, charged, owed, unseen } = await runTrials(world, {
      trials: TRIALS,
      seed,
    });
    // As text: of an array the reporter would show "[ Array(1) ]", and not what was wrong.
    expect(faults.join("\n"), `TEST_SEED=${seed}`).to.equal("");
    expect(trials).to.equal(TRIALS);
    expect(tables).to.be.at.least(TRIALS);
    expect(charged).to.be.at.most(tables + owed + unseen);
  });
});
