import { expect } from "chai";
import { describe, it } from "mocha";
import { formatSeconds, headLine, type ProgressLabels, progressLine } from "./progress-line.ts";
import type { ProgressView } from "./progress-model.ts";

const WORDS: ProgressLabels = { chain: "Base", discovered: "pools", blockNoun: "block", events: "events" };
const VIEW: ProgressView = {
  ...{ state: "backfilling", share: 0.35, etaSeconds: 1_625, done: 1_050_000, size: 3_000_000 },
  ...{ perSecond: 1_200, eventsPerSecond: 15_000, scans: 0, toCome: [], head: 2_999_999, block: 1_049_999 },
  ...{ lagSeconds: 3_900_000, isFallingBehind: false, history: undefined },
};

describe("progressLine", () => {
  it("shows bar, share, place, rates and the time left", () => {
    expect(progressLine(VIEW, WORDS)).to.equal(
      "Base backfill ███████░░░░░░░░░░░░░ 35 % · block 1,049,999 of 2,999,999 · 1,200 blocks/s · 15,000 events/s · 27 m 5 s left",
    );
  });

  it("shows a discovery as one, whatever it is made of, and what comes after it", () => {
    const view: ProgressView = {
      ...VIEW,
      ...{
        state: "discovering",
        share: 0.5,
        done: 40_000_000,
        size: 80_000_000,
        scans: 4,
        eventsPerSecond: 2,
      },
      toCome: [{ stage: "reading", size: 1_840 }],
    };
    expect(progressLine(view, { ...WORDS, chain: "Base lending", discovered: "entities" })).to.equal(
      "Base lending discovery ██████████░░░░░░░░░░ 50 % · 40,000,000 of 80,000,000 blocks in 4 scans · 1,200 blocks/s · 2 entities/s · about 27 m 5 s left, with 1,840 entities to come",
    );
  });

  it("shows entities while they are read", () => {
    const view: ProgressView = {
      ...VIEW,
      state: "reading",
      done: 500,
      size: 2_000,
      perSecond: 50,
      etaSeconds: 30,
    };
    expect(progressLine(view, WORDS)).to.contain(" · entity 500 of 2,000 · 50 entities/s · 30 s left");
  });

  it("never shows a full bar or 100 % of a run that is under way", () => {
    expect(progressLine({ ...VIEW, share: 0.9999 }, WORDS)).to.contain(`${"█".repeat(19)}░ 99 %`);
  });

  it("says so where no time is known, or the chain is the faster one", () => {
    expect(progressLine({ ...VIEW, etaSeconds: undefined }, WORDS)).to.contain(" · time left unknown");
    const outgrown = progressLine({ ...VIEW, etaSeconds: undefined, isFallingBehind: true }, WORDS);
    expect(outgrown).to.contain(" · the chain grows as fast as it is read");
  });

  it("has nothing to say before anything is known", () => {
    expect(progressLine({ ...VIEW, state: "starting" }, WORDS)).to.equal(undefined);
  });
});

describe("headLine", () => {
  it("shows block, lag, events and calls", () => {
    const view: ProgressView = {
      ...VIEW,
      state: "following",
      block: 1_577,
      lagSeconds: 2,
      eventsPerSecond: 35.26,
    };
    const endpoint = { callsPerSecond: 1.94, host: "rpc.example.org" };
    expect(headLine(view, WORDS, endpoint)).to.equal(
      "Base head · block 1,577 · 2 s behind · 35 events/s · 1.9 calls/s to rpc.example.org",
    );
    const slots: ProgressView = { ...view, head: 1_600, lagSeconds: undefined };
    expect(headLine(slots, { ...WORDS, blockNoun: "slot" }, endpoint)).to.contain(" · 23 slots behind · ");
  });
});

describe("formatSeconds", () => {
  it("names the two largest units", () => {
    const texts = [0, 9, 60, 130, 3_599, 3_600, 90_061, 8.05].map(formatSeconds);
    expect(texts).to.deep.equal([
      "0 s",
      "9 s",
      "1 m 0 s",
      "2 m 10 s",
      "59 m 59 s",
      "1 h 0 m",
      "25 h 1 m",
      "9 s",
    ]);
  });

  it("shows at the head how far history has grown", () => {
    const at = { ...VIEW, state: "following", share: 1, lagSeconds: 2 } as const;
    const endpoint = { callsPerSecond: 3, host: "rpc.test" };
    const history = { coveredFrom: 1_760_004_000, since: 1_750_000_000, etaSeconds: 11_100 };
    expect(headLine(at, WORDS, endpoint)).to.match(/3 calls\/s to rpc\.test$/);
    expect(headLine({ ...at, history }, WORDS, endpoint)).to.match(
      / · history back to 2025-10-09 10:00, 3 h 5 m left$/,
    );
    expect(headLine({ ...at, history: { ...history, etaSeconds: undefined } }, WORDS, endpoint)).to.match(
      / · history back to 2025-10-09 10:00, time left unknown$/,
    );
  });
});
