import { expect } from "chai";
import { describe, it } from "mocha";
import { createProgress, formatProgress, type ProgressStep } from "./progress.ts";

const HALF: ProgressStep = { stage: "backfill", from: 0, at: 1_049_999, to: 2_999_999, events: 0 };
const RUN = { chain: "Base", seconds: 100, blocks: 120_000, events: 1_500_000 };

const leftOf = (line: string) => /([^·]+) left$/.exec(line)?.[1]?.trim();

describe("formatProgress", () => {
  it("shows bar, share, place, rates and the time left", () => {
    expect(formatProgress(HALF, RUN)).to.equal(
      "Base backfill ███████░░░░░░░░░░░░░ 35 % · block 1,049,999 of 2,999,999 · 1,200 blocks/s · 15,000 events/s · 27 m 5 s left",
    );
  });

  it("counts pools in discovery", () => {
    const line = formatProgress({ ...HALF, stage: "discovery" }, { ...RUN, events: 210 });
    expect(line).to.contain("Base discovery ").and.contain(" · 2 pools/s · ");
  });

  it("counts what it is told that discovery finds, and units while these are read", () => {
    const found = formatProgress({ ...HALF, stage: "discovery" }, { ...RUN, finds: "vaults", events: 210 });
    expect(found).to.contain(" · 2 vaults/s · ");
    const step = { stage: "reading", from: 1, at: 500, to: 2_000, events: 0 } as const;
    expect(formatProgress(step, { ...RUN, chain: "Base lending", seconds: 10, blocks: 500 })).to.equal(
      "Base lending reading █████░░░░░░░░░░░░░░░ 25 % · unit 500 of 2,000 · 50 units/s · 30 s left",
    );
  });

  it("is full at the end, and only there", () => {
    const full = "█".repeat(20);
    const at = (block: number) => formatProgress({ ...HALF, from: 1_000_000, at: block }, RUN);
    expect(at(2_999_999))
      .to.contain(`${full} 100 % · block 2,999,999 of 2,999,999`)
      .and.contain(" · 0 s left");
    expect(at(2_999_998)).to.contain(" 99 % ");
    expect(at(1_000_000)).to.contain(`${"░".repeat(20)} 0 % `);
    expect(formatProgress({ ...HALF, from: 7, at: 7, to: 7 }, RUN)).to.contain(`${full} 100 %`);
  });

  it("names the two largest units of the time left", () => {
    const left = (seconds: number) =>
      leftOf(formatProgress({ ...HALF, at: 0, to: seconds * 10 }, { ...RUN, seconds: 1, blocks: 10 }));
    expect(left(9)).to.equal("9 s");
    expect(left(60)).to.equal("1 m 0 s");
    expect(left(130)).to.equal("2 m 10 s");
    expect(left(3_599)).to.equal("59 m 59 s");
    expect(left(3_600)).to.equal("1 h 0 m");
    expect(left(90_061)).to.equal("25 h 1 m");
    expect(left(8.05)).to.equal("9 s");
  });
});

describe("createProgress", () => {
  function start() {
    const lines: string[] = [];
    let nowMs = 50_000;
    const report = createProgress((line) => lines.push(line), { chain: "Base", now: () => nowMs });
    return {
      lines,
      at(ms: number, step: Partial<ProgressStep>) {
        nowMs = 50_000 + ms;
        const before = lines.length;
        report({ stage: "backfill", from: 0, at: 0, to: 9_999, events: 10, ...step });
        return lines.slice(before);
      },
    };
  }

  it("says at most one line a second", () => {
    const { at } = start();
    expect(at(0, { at: 99 })).to.have.length(0);
    expect(at(500, { at: 199 })).to.have.length(0);
    expect(at(999, { at: 299 })).to.have.length(0);
    expect(at(1_000, { at: 399 })).to.have.length(1);
    expect(at(1_999, { at: 499 })).to.have.length(0);
    expect(at(2_000, { at: 599 })).to.have.length(1);
    expect(at(60_000, { at: 699 })).to.have.length(1);
  });

  it("says the last line always", () => {
    const { at } = start();
    at(0, { at: 4_999 });
    const [line] = at(10, { at: 9_999 });
    expect(line).to.contain(" 100 % · block 9,999 of 9,999").and.contain(" 0 s left");
    expect(start().at(0, { at: 9_999 }), "even if it is the first").to.have.length(1);
  });

  it("tells the rates of its stage over all of its steps", () => {
    const { at } = start();
    for (let second = 0; second < 100; second++) at(second * 1_000, { at: second * 10 + 9, events: 40 });
    const [line] = at(100_000, { at: 1_009, events: 40 });
    const [, blocks, events] = /· ([\d,]+) blocks\/s · ([\d,]+) events\/s/.exec(line ?? "") ?? [];
    expect(Number(blocks)).to.be.within(10, 11);
    expect(Number(events)).to.be.within(40, 41);
  });

  it("starts anew with each stage, and with each run of one", () => {
    const { at } = start();
    at(0, { stage: "discovery", at: 9_999, events: 1_000_000 });
    at(5_000, { at: 99, events: 0 });
    expect(at(5_900, { at: 199, events: 0 }), "the second starts with the stage").to.have.length(0);
    const [line] = at(6_000, { at: 299, events: 0 });
    expect(line).to.contain("Base backfill ").and.contain(" · 0 events/s · ");
    at(7_000, { at: 9_999 });
    at(20_000, { from: 10_000, at: 10_099, to: 20_000, events: 0 });
    const [second] = at(21_000, { from: 10_000, at: 10_199, to: 20_000, events: 0 });
    expect(second).to.contain(" · 0 events/s · ").and.contain("block 10,199 of 20,000");
  });
});
