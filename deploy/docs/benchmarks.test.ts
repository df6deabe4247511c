import { expect } from "chai";
import { describe, it } from "mocha";
import type { BenchResult } from "../../services/shared/testkit/bench-record.ts";
import { renderBenchmarks } from "./benchmarks.ts";

const RESULT: BenchResult = {
  bench: "window",
  command: "BENCH_SWAPS=5000000 npm run bench:window",
  commit: "0123abc",
  date: "2026-11-23",
  machine: "2 cores",
  loadBefore: 0.4,
  figures: [
    { name: "one pool", value: 1.55, unit: "ms", goal: { atMost: 5 } },
    { name: "swaps", value: 12_345, unit: "events/s", goal: { atLeast: 20_000 } },
    { name: "beside it", value: 2, unit: "" },
  ],
};

describe("docs/benchmarks.md", () => {
  it("has a row for each figure, with its goal and whether it was reached", () =>
    expect(renderBenchmarks([RESULT]).split("\n").slice(-3)).to.deep.equal([
      "| one pool | 1.55 ms | ≤ 5 |  |",
      "| swaps | 12,345 events/s | ≥ 20,000 | **not reached** |",
      "| beside it | 2 |  |  |",
    ]));

  it("says with which command, at which commit, on which machine and under which load", () =>
    expect(renderBenchmarks([RESULT])).to.contain(
      "`BENCH_SWAPS=5000000 npm run bench:window` at 0123abc, 2026-11-23, 2 cores, load 0.4 before it.",
    ));

  it("says how fast the machine was, where that was measured", () =>
    expect(renderBenchmarks([{ ...RESULT, referenceMs: 31 }])).to.contain(
      "load 0.4 before it, reference 31 ms.",
    ));
});
