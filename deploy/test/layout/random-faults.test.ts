import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThoroughRounds } from "../../../services/shared/testkit/describe.ts";
import { disturb, type Fault } from "./faults.ts";
import { type Layout, startLayout } from "./layout.ts";
import { type Answer, countStatuses, sendLoad, summarize } from "./load.ts";
import { pathsOf } from "./paths.ts";
import { comeToHead, equalUndisturbed, passAudit, requireDocumented } from "./verdicts.ts";

/** LAYOUT_FAULTS=60 is what docs/operations.md speaks of. */
const FAULTS = Number(process.env.LAYOUT_FAULTS ?? 15);
const SEED = Number(process.env.LAYOUT_SEED ?? 1);
const RATE = 25;
const REST_MS = 1_000;

describeThoroughRounds(2 * FAULTS, "the production layout under kills, pauses and reorgs at random", () => {
  let layout: Layout;
  let faults: Fault[];
  let answers: Answer[];
  const stopTrading = new AbortController();

  before(async () => {
    layout = await startLayout();
    const trading = layout.trade(stopTrading.signal);
    const stopLoad = new AbortController();
    const paths = await pathsOf(layout);
    const load = sendLoad(layout, { rate: RATE, paths, signal: stopLoad.signal });
    try {
      faults = await disturb(layout, { rounds: FAULTS, seed: SEED, restMs: REST_MS });
    } finally {
      stopLoad.abort();
      answers = await load;
      stopTrading.abort();
      await trading;
    }
    // Whoever asks for a number of faults wants to know what was done and seen.
    if (process.env.LAYOUT_FAULTS !== undefined)
      console.log(
        `    seed ${SEED}: ${JSON.stringify({ faults: countKinds(faults), ...summarize(answers) })}`,
      );
  });
  after(() => layout?.stop());

  it("answers with tables, or with the documented errors while a process is gone", () => {
    requireDocumented(answers);
    // A connection breaks only with the gateway that it leads to.
    const ofGateways = faults.filter(({ member }) => member?.plan.role === "gateway");
    const broken = answers.filter(({ status }) => status === undefined);
    const excused = broken.filter(({ beganMs, tookMs }) =>
      ofGateways.some((fault) => beganMs <= fault.endedMs + REST_MS && beganMs + tookMs >= fault.beganMs),
    );
    expect(excused.length, JSON.stringify(broken.slice(0, 5))).to.equal(broken.length);
    expect((countStatuses(answers)[200] ?? 0) / answers.length).to.be.above(0.8);
  });

  it("comes to the head of both chains", () => comeToHead(layout));

  it("has the rows that the chain has, by the audit", () => passAudit(layout));

  it("has the trades that an undisturbed index has", () => equalUndisturbed(layout));
});

function countKinds(faults: readonly Fault[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of faults) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
