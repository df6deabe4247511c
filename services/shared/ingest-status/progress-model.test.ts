import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { ProgressModel } from "./progress-model.ts";

const SECOND = 1_000;
const scan = (name: string, [from, to]: readonly [number, number], at = from - 1) => ({ name, from, at, to });

describe("ProgressModel", () => {
  it("starts without a share, and counts all scans of a discovery as one", () => {
    const model = new ProgressModel();
    expect(model.view(0)).to.include({ state: "starting", share: undefined, etaSeconds: undefined });
    const scans = [
      scan("a", [1, 1_000]),
      scan("b", [1, 1_000]),
      scan("c", [1, 1_000]),
      scan("d", [1, 1_000]),
    ];
    model.apply({ stage: "plan", scans }, 0);
    const shares: number[] = [];
    let ms = 0;
    for (const { name } of scans) {
      for (let at = 100; at <= 1_000; at += 100) {
        ms += SECOND;
        model.apply({ stage: "discovery", scan: name, from: 1, at, to: 1_000, events: 0 }, ms);
        shares.push(model.view(ms).share ?? -1);
      }
    }
    // Four scans, one bar: 10 of 40 steps are a quarter.
    expect(shares[9]).to.be.closeTo(0.25, 1e-9);
    expect(shares[19]).to.be.closeTo(0.5, 1e-9);
    expect(shares.at(-1)).to.be.closeTo(0.999, 1e-9);
    expect(model.view(ms)).to.include({ state: "discovering", scans: 4, done: 4_000, size: 4_000 });
  });

  it("goes on where an earlier run was interrupted", () => {
    const model = new ProgressModel();
    model.apply({ stage: "plan", scans: [scan("a", [1, 1_000], 1_000), scan("b", [1, 1_000], 500)] }, 0);
    expect(model.view(0).share).to.be.closeTo(0.75, 1e-9);
  });

  it("counts in the time left what comes after the stage: the backfill after the scans", () => {
    const model = new ProgressModel();
    model.setHead({ number: 1_099 }, 0);
    model.apply({ stage: "plan", scans: [scan("a", [0, 999_999])], backfill: { from: 1_000, at: 999 } }, 0);
    for (let second = 0; second <= 10; second++)
      model.apply(
        { stage: "discovery", scan: "a", from: 0, at: (second + 1) * 10_000 - 1, to: 999_999, events: 0 },
        second * SECOND,
      );
    // 10,000 blocks a second: 890,000 are 89 s; 100 blocks of backfill cost 200 each, 2 s by the same pace.
    const view = model.view(10 * SECOND);
    expect(view.perSecond).to.be.closeTo(10_000, 1);
    expect(view.etaSeconds).to.equal(91);
    expect(view.toCome).to.deep.equal([{ stage: "backfill", done: 0, size: 100 }]);
  });

  it("counts the entities that a discovery finds as remaining work", () => {
    const model = new ProgressModel();
    const plan = { stage: "plan", scansToHead: true, entities: 10 } as const;
    model.apply({ ...plan, scans: [scan("a", [0, 99_999])] }, 0);
    model.apply({ stage: "discovery", scan: "a", from: 0, at: 9_999, to: 99_999, events: 5 }, 0);
    model.apply({ stage: "discovery", scan: "a", from: 0, at: 19_999, to: 99_999, events: 5 }, 10 * SECOND);
    const { toCome, etaSeconds } = model.view(10 * SECOND);
    expect(toCome).to.deep.equal([{ stage: "reading", done: 0, size: 20 }]);
    // 80,000 blocks at 1,000 a second, and 20 entities of 1,000 each.
    expect(etaSeconds).to.equal(100);
    model.apply({ stage: "reading", from: 1, at: 5, to: 20, events: 0 }, 11 * SECOND);
    expect(model.view(11 * SECOND)).to.include({ state: "reading", done: 5, size: 20 });
  });

  it("measures the backfill against the head as it is now", () => {
    const model = new ProgressModel();
    model.setHead({ number: 1_000, timestamp: 10_000 }, 0);
    model.apply({ stage: "plan", scans: [], backfill: { from: 1, at: 0 } }, 0);
    model.setIndexedBlock({ number: 500, time: 5_000 }, SECOND);
    expect(model.view(SECOND).share).to.be.closeTo(0.5, 1e-9);
    model.setIndexedBlock({ number: 744, time: 7_440 }, 2 * SECOND);
    model.setHead({ number: 1_500, timestamp: 15_000 }, 2 * SECOND);
    const view = model.view(2 * SECOND);
    expect(view).to.include({ state: "backfilling", block: 744, head: 1_500, lagSeconds: 7_560 });
    expect(view.done / view.size).to.be.closeTo(744 / 1_500, 1e-9);
    // 744 of 1,500 is less than what was shown already.
    expect(view.share).to.be.closeTo(0.5, 1e-9);
  });

  it("is whole at the head only, and says how far behind answers are", () => {
    const model = new ProgressModel();
    model.apply({ stage: "plan", scans: [], backfill: { from: 0, at: -1 } }, 0);
    model.setHead({ number: 1_000, timestamp: 100_000 }, 0);
    // All that was to be read when it began: the head has moved on by ten minutes.
    model.setIndexedBlock({ number: 1_000, time: 100_000 }, SECOND);
    expect(model.view(SECOND)).to.include({ state: "following", share: 1, etaSeconds: 0 });
    model.setHead({ number: 1_300, timestamp: 100_600 }, 2 * SECOND);
    const late = model.view(2 * SECOND);
    expect(late.state).to.equal("backfilling");
    expect(late.share).to.be.below(1);
    model.setIndexedBlock({ number: 1_299, time: 100_598 }, 3 * SECOND);
    expect(model.view(3 * SECOND)).to.include({ state: "following", share: 1 });
    // Two blocks of a chain that makes one every few days.
    model.setHead({ number: 1_301, timestamp: 900_000 }, 4 * SECOND);
    expect(model.view(4 * SECOND)).to.include({ state: "following", lagSeconds: 799_402 });
  });

  it("counts slots where heads carry no time", () => {
    const model = new ProgressModel();
    model.apply({ stage: "plan", scans: [], backfill: { from: 0, at: -1 } }, 0);
    model.setHead({ number: 10_000 }, 0);
    model.setIndexedBlock({ number: 9_900, time: 1 }, SECOND);
    expect(model.view(SECOND).state).to.equal("backfilling");
    model.setIndexedBlock({ number: 9_960, time: 1 }, SECOND);
    expect(model.view(SECOND)).to.include({ state: "following", lagSeconds: undefined });
  });

  it("does not promise an end to a backfill that the chain outgrows", () => {
    const model = new ProgressModel();
    model.apply({ stage: "plan", scans: [], backfill: { from: 0, at: -1 } }, 0);
    for (let second = 0; second <= 30; second++) {
      model.setHead({ number: 10_000 + second * 10, timestamp: second * 20 }, second * SECOND);
      model.setIndexedBlock({ number: second * 5, time: -100_000 }, second * SECOND);
    }
    expect(model.view(30 * SECOND)).to.include({ isFallingBehind: true, etaSeconds: undefined });
  });

  it("adds what the chain grows by until the head is reached", () => {
    const model = new ProgressModel();
    model.apply({ stage: "plan", scans: [], backfill: { from: 0, at: -1 } }, 0);
    for (let second = 0; second <= 30; second++) {
      model.setHead({ number: 10_000 + second * 10, timestamp: second }, second * SECOND);
      model.setIndexedBlock({ number: second * 20, time: -100_000 }, second * SECOND);
    }
    // 9,700 blocks are left; 20 a second are read, and 10 come.
    expect(model.view(30 * SECOND).etaSeconds).to.equal(970);
  });

  it("has a time left only where something moves", () => {
    const model = new ProgressModel();
    model.apply({ stage: "plan", scans: [scan("a", [0, 999])] }, 0);
    model.apply({ stage: "discovery", scan: "a", from: 0, at: 99, to: 999, events: 0 }, SECOND);
    expect(model.view(SECOND).etaSeconds, "one step has no pace").to.equal(undefined);
    model.apply({ stage: "discovery", scan: "a", from: 0, at: 199, to: 999, events: 0 }, 2 * SECOND);
    expect(model.view(2 * SECOND).etaSeconds).to.equal(8);
    // The same work after a standstill takes longer, and at last no time is known.
    expect(model.view(30 * SECOND).etaSeconds).to.be.above(100);
    model.apply({ stage: "discovery", scan: "a", from: 0, at: 199, to: 999, events: 0 }, 90 * SECOND);
    expect(model.view(90 * SECOND).etaSeconds).to.equal(undefined);
  });

  it("never falls within a run, stays within 0 to 1, and never shows a negative time", () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("scan" as const),
        name: fc.constantFrom("a", "b", "c"),
        by: fc.nat(400),
      }),
      fc.record({ kind: fc.constant("head" as const), by: fc.nat(300) }),
      fc.record({ kind: fc.constant("stand" as const), by: fc.nat(200) }),
      fc.record({ kind: fc.constant("entities" as const), by: fc.nat(20) }),
      fc.record({ kind: fc.constant("again" as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const run = new RandomRun();
        let last = 0;
        for (const each of steps) {
          const { share = 0, etaSeconds = 0, state } = run.take(each);
          expect(state).not.to.equal("following");
          expect(share).to.be.within(last, 0.999);
          expect(etaSeconds).to.be.at.least(0);
          last = share;
        }
      }),
    );
  });

  it("estimates when history is whole from all that was indexed of it, beside the head", () => {
    const model = new ProgressModel();
    const step = { stage: "history", coveredFrom: 9_000, since: 1_000 } as const;
    expect(model.view(0).history).to.equal(undefined);
    model.apply({ ...step, leftSeconds: 8_000 }, 0);
    expect(model.view(0).history).to.deep.equal({ coveredFrom: 9_000, since: 1_000, etaSeconds: undefined });
    for (let i = 1; i <= 20; i++) model.apply({ ...step, leftSeconds: 8_000 - i * 100 }, i * 1_000);
    const view = model.view(20_000);
    expect(view.history?.etaSeconds).to.be.within(50, 70);
    expect(view.share).to.equal(undefined);
    model.apply({ ...step, coveredFrom: 1_000, leftSeconds: 0 }, 30_000);
    expect(model.view(30_000).history).to.equal(undefined);
  });
});

type RandomStep =
  | { readonly kind: "scan"; readonly name: string; readonly by: number }
  | { readonly kind: "head" | "stand" | "entities"; readonly by: number }
  | { readonly kind: "again" };

/** An ingest that does whatever comes, and never gets near the head. */
class RandomRun {
  readonly #model = new ProgressModel();
  readonly #at: Record<string, number> = { a: -1, b: -1, c: -1 };
  #head = 1_000;
  #block = -1;
  #entities = 0;
  #ms = 0;

  constructor() {
    this.#model.setHead({ number: this.#head, timestamp: 1_000_000 }, 0);
    this.#plan();
  }

  /** Also after a failure: the work begins again with what is stored. */
  #plan(): void {
    const scans = Object.entries(this.#at).map(([name, done]) => scan(name, [0, 999], done));
    const backfill = { from: 0, at: this.#block };
    this.#model.apply({ stage: "plan", scans, backfill, entities: 50 }, this.#ms);
  }

  take(step: RandomStep) {
    const model = this.#model;
    this.#ms += 700;
    if (step.kind === "scan") {
      const at = Math.min(999, (this.#at[step.name] ?? 0) + step.by);
      this.#at[step.name] = at;
      model.apply({ stage: "discovery", scan: step.name, from: 0, at, to: 999, events: 1 }, this.#ms);
    } else if (step.kind === "head") {
      this.#head += step.by;
      model.setHead({ number: this.#head, timestamp: 1_000_000 }, this.#ms);
    } else if (step.kind === "stand") {
      this.#block = Math.min(this.#head - 10, this.#block + step.by);
      model.setIndexedBlock({ number: this.#block, time: 0 }, this.#ms);
    } else if (step.kind === "entities") {
      this.#entities = Math.min(50, this.#entities + step.by);
      model.apply({ stage: "reading", from: 1, at: this.#entities, to: 50, events: 0 }, this.#ms);
    } else this.#plan();
    return model.view(this.#ms);
  }
}
