import { expect } from "chai";
import { describe, it } from "mocha";
import { growthOf, longestLives } from "./growth.ts";
import type { Sample } from "./samples.ts";

const MINUTE = 60_000;

function sample(minute: number, more: Partial<Sample> = {}): Sample {
  return {
    ...{ name: "solana 0", pid: 1, atMs: minute * MINUTE, memoryMb: 100, mappedMb: 10 },
    ...{ descriptors: 30, sockets: 8, logBytes: minute * 1_000_000, ...more },
  };
}

const life = (minutes: number, read: (minute: number) => Partial<Sample>) =>
  Array.from({ length: minutes + 1 }, (_, minute) => sample(minute, read(minute)));

describe("growth of a process", () => {
  it("is none where memory rises while it warms up, and goes up and down after that", () => {
    const found = growthOf(
      life(30, (minute) => ({ memoryMb: minute < 10 ? 60 + 5 * minute : 110 + (minute % 2) })),
    );
    expect(found?.memoryMb).to.deep.equal({ from: 110, to: 110 });
  });

  it("shows what is kept for ever", () => {
    const found = growthOf(life(30, (minute) => ({ memoryMb: 100 + 3 * minute, sockets: minute })));
    // Minutes 10 to 19, and 20 to 30.
    expect(found?.memoryMb).to.deep.equal({ from: 130, to: 160 });
    expect(found?.sockets).to.deep.equal({ from: 15, to: 25 });
    expect(found?.mostMb).to.equal(190);
    expect(found?.logMbAnHour).to.be.closeTo(60, 1e-9);
  });

  it("does without what a paused process did not say", () => {
    const found = growthOf(life(9, (minute) => (minute === 4 ? {} : { heapMb: minute })));
    expect(found?.heapMb).to.deep.equal({ from: 3, to: 6 });
  });

  it("tells nothing of a life of one sample", () => {
    expect(growthOf([sample(0)])).to.equal(undefined);
    expect(growthOf([])).to.equal(undefined);
  });
});

describe("longest lives", () => {
  it("begin anew where a standby leads for the first time, and not where it loses its lease", () => {
    const leads = [false, false, true, true, false, true];
    const samples = leads.map((each, minute) => sample(minute, { leads: each }));
    expect(longestLives(samples).map((each) => each.map(({ atMs }) => atMs / MINUTE))).to.deep.equal([
      [2, 3, 4, 5],
    ]);
  });

  it("are told apart by process, and by start", () => {
    const samples = [
      sample(0),
      sample(1, { pid: 2 }),
      sample(2, { pid: 2 }),
      sample(0, { name: "gateway 0" }),
    ];
    expect(
      longestLives(samples).map((each) => each.map(({ name, pid, atMs }) => [name, pid, atMs / MINUTE])),
    ).to.deep.equal([
      [
        ["solana 0", 2, 1],
        ["solana 0", 2, 2],
      ],
      [["gateway 0", 1, 0]],
    ]);
  });
});
