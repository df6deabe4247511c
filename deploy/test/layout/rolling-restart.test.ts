import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThoroughRounds } from "../../../services/shared/testkit/describe.ts";
import { type Layout, startLayout } from "./layout.ts";
import { type Answer, countStatuses, sendLoad } from "./load.ts";
import { pathsOf } from "./paths.ts";

/** LAYOUT_RATE: what issue and docs/operations.md speak of is 200; a machine that runs other tests beside has less. */
const RATE = Number(process.env.LAYOUT_RATE ?? 100);
/** A load balancer and the gateways need so long to see that a process is back. */
const SETTLE_MS = 1_500;
const PROCESSES = 14;

describeThoroughRounds(PROCESSES, "the production layout, restarted process by process under load", () => {
  let layout: Layout;
  const stopTrading = new AbortController();
  let trading: Promise<void> | undefined;

  before(async () => {
    layout = await startLayout();
    trading = layout.trade(stopTrading.signal);
  });
  after(async () => {
    stopTrading.abort();
    await trading;
    await layout?.stop();
  });

  it("answers every request", async () => {
    const stopLoad = new AbortController();
    const paths = await pathsOf(layout);
    const load = sendLoad(layout, { rate: RATE, paths, signal: stopLoad.signal });
    const codes: Record<string, number | null> = {};
    const restarts: { name: string; atMs: number }[] = [];
    try {
      await sleep(SETTLE_MS);
      for (const member of layout.members) {
        restarts.push({ name: member.name, atMs: performance.now() });
        codes[member.name] = await member.restart();
        await sleep(SETTLE_MS);
      }
    } finally {
      stopLoad.abort();
    }
    const answers = await load;
    const failed = answers.filter(({ status }) => status !== 200);
    expect(failed.map((each) => describeAnswer(each, restarts))).to.deep.equal([]);
    expect(answers.length).to.be.above(RATE * PROCESSES);
    expect(new Set(answers.map(({ path }) => path)).size).to.equal(paths.length);
    expect(countStatuses(answers)).to.deep.equal({ 200: answers.length });
    expect(Object.values(codes), "exit codes").to.deep.equal(layout.members.map(() => 0));
  });
});

function describeAnswer(
  { path, status, error, beganMs, tookMs }: Answer,
  restarts: readonly { name: string; atMs: number }[],
): string {
  const last = restarts.filter(({ atMs }) => atMs <= beganMs + tookMs).at(-1);
  const when = last === undefined ? "before" : `${Math.round(beganMs - last.atMs)} ms after ${last.name}`;
  return `${path}: ${status} ${error ?? ""} (${when}, took ${Math.round(tookMs)} ms)`;
}
