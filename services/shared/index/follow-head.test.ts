import { expect } from "chai";
import { describe, it } from "mocha";
import { ReorgDetected } from "../chain-errors.ts";
import { followHead } from "./follow-head.ts";

/** Follows through these outcomes of steps, one after the other, then stops. */
async function follow(
  outcomes: readonly (boolean | Error)[],
  options: { handleReorg?: () => Promise<void>; checkpointAt?: (step: number) => object } = {},
): Promise<{ waits: number; warnings: string[] }> {
  const { handleReorg, checkpointAt = () => options } = options;
  const stop = new AbortController();
  const warnings: string[] = [];
  let steps = 0;
  let waits = 0;
  await followHead({
    source: {
      async waitForHead() {
        waits++;
      },
    },
    signal: stop.signal,
    log: (level, message) => warnings.push(`${level} ${message}`),
    checkpoint: () => checkpointAt(steps),
    async step() {
      const outcome = outcomes[steps++];
      if (steps === outcomes.length) stop.abort();
      if (outcome instanceof Error) throw outcome;
      return outcome === true;
    },
    ...(handleReorg && { handleReorg }),
  });
  return { waits, warnings };
}

describe("followHead", () => {
  it("waits for a new head only after a step that had nothing to do", async () => {
    expect((await follow([true, false, true, false])).waits).to.equal(2);
  });

  it("handles a reorg, waits and goes on", async () => {
    let handled = 0;
    const handleReorg = async () => void handled++;
    const { waits, warnings } = await follow([new ReorgDetected("replaced"), true], { handleReorg });
    expect({ handled, waits, warnings }).to.deep.equal({ handled: 1, waits: 1, warnings: ["warn replaced"] });
  });

  it("logs the same reorg once, and again after a write", async () => {
    const replaced = new ReorgDetected("replaced");
    expect((await follow([replaced, replaced, replaced])).warnings).to.have.length(1);
    const written = [{}, {}, {}, {}];
    const checkpointAt = (step: number) => written[step] as object;
    expect((await follow([replaced, replaced, replaced], { checkpointAt })).warnings).to.have.length(3);
  });

  it("logs a reorg that handling one detects, and goes on", async () => {
    const handleReorg = async () => {
      throw new ReorgDetected("replaced again");
    };
    const { warnings } = await follow([new ReorgDetected("replaced"), true], { handleReorg });
    expect(warnings).to.deep.equal(["warn replaced", "warn replaced again"]);
  });

  it("throws any other error", async () => {
    const error = await follow([new Error("no endpoint")]).catch((thrown: unknown) => thrown);
    expect(error).to.have.property("message", "no endpoint");
  });
});
