import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { anyHead } from "../test/kit/swap-model.ts";
import { edgeOf, firstWholeMinute, segmentsOf, TIME_RANGES, windowAt, YEAR_SECONDS } from "./window.ts";

const MIDNIGHT = 1_699_920_000;
describe("windows", () => {
  it("are the six ranges, a month of 30 days and a year of 365", () => {
    expect(TIME_RANGES.map(({ label, seconds, closeSpan }) => [label, seconds, closeSpan])).to.deep.equal([
      ["5 minute", 300, 60],
      ["1 hour", 3_600, 60],
      ["1 day", 86_400, 3_600],
      ["1 week", 604_800, 3_600],
      ["1 month", 2_592_000, 86_400],
      ["1 year", 31_536_000, 86_400],
    ]);
    expect(YEAR_SECONDS).to.equal(31_536_000);
  });

  it("end with the head's second and have their whole length", () => {
    expect(windowAt(MIDNIGHT + 59, 300)).to.deep.equal({ start: MIDNIGHT - 240, end: MIDNIGHT + 60 });
    expect(windowAt(MIDNIGHT, 300)).to.deep.equal({ start: MIDNIGHT - 299, end: MIDNIGHT + 1 });
    expect(windowAt(MIDNIGHT - 1, 300)).to.deep.equal({ start: MIDNIGHT - 300, end: MIDNIGHT });
  });

  it("have an edge where they begin within a minute", () => {
    // Head 15:37:41: the five minutes are 15:32:42 to 15:37:41.
    const at = (minutes: number, seconds: number) => MIDNIGHT + (15 * 60 + minutes) * 60 + seconds;
    const window = windowAt(at(37, 41), 300);
    expect(window).to.deep.equal({ start: at(32, 42), end: at(37, 42) });
    expect(edgeOf(window)).to.deep.equal({ minute: at(32, 0), start: at(32, 42), end: at(33, 0) });
    expect(firstWholeMinute(window)).to.equal(at(33, 0));
    expect(segmentsOf(window)).to.deep.equal([{ span: 60, start: at(33, 0), end: at(37, 42) }]);
    const whole = windowAt(at(37, 59), 300);
    expect(edgeOf(whole)).to.equal(undefined);
    expect(firstWholeMinute(whole)).to.equal(at(33, 0));
    // The minute's last second is the shortest edge.
    expect(edgeOf(windowAt(at(37, 58), 300))).to.deep.equal({
      minute: at(32, 0),
      start: at(32, 59),
      end: at(33, 0),
    });
  });

  it("are cut into minutes, hours and days", () => {
    // From 22:59 to 00:03 two days later.
    const window = { start: MIDNIGHT + 82_740, end: MIDNIGHT + 3 * 86_400 + 180 };
    expect(segmentsOf(window)).to.deep.equal([
      { span: 60, start: MIDNIGHT + 82_740, end: MIDNIGHT + 82_800 },
      { span: 3_600, start: MIDNIGHT + 82_800, end: MIDNIGHT + 86_400 },
      { span: 86_400, start: MIDNIGHT + 86_400, end: MIDNIGHT + 3 * 86_400 + 180 },
    ]);
    // Within an hour.
    const short = { start: MIDNIGHT + 60, end: MIDNIGHT + 360 };
    expect(segmentsOf(short)).to.deep.equal([{ span: 60, ...short }]);
    // Over an hour's edge: the open hour holds nothing beyond the head.
    expect(segmentsOf({ start: MIDNIGHT + 3_480, end: MIDNIGHT + 3_780 })).to.deep.equal([
      { span: 60, start: MIDNIGHT + 3_480, end: MIDNIGHT + 3_600 },
      { span: 3_600, start: MIDNIGHT + 3_600, end: MIDNIGHT + 3_780 },
    ]);
    // From a midnight on.
    const day = { start: MIDNIGHT, end: MIDNIGHT + 86_400 };
    expect(segmentsOf(day)).to.deep.equal([{ span: 86_400, ...day }]);
  });

  it("are covered by their edge and segments exactly, each aligned, with few buckets", () => {
    fc.assert(
      fc.property(anyHead, fc.constantFrom(...TIME_RANGES), (head, { seconds }) => {
        const window = windowAt(head, seconds);
        expect(window.end - window.start).to.equal(seconds);
        expect(window.end).to.equal(head + 1);
        const edge = edgeOf(window);
        if (edge !== undefined) {
          expect(edge.start).to.equal(window.start);
          expect([edge.minute % 60, edge.end]).to.deep.equal([0, edge.minute + 60]);
          expect(edge.start).to.be.above(edge.minute).and.below(edge.end);
        }
        const segments = segmentsOf(window);
        const spans = segments.map(({ span }) => span);
        expect(spans).to.deep.equal([...spans].sort((a, b) => a - b));
        expect(new Set(spans).size).to.equal(spans.length);
        expect(segments[0]?.start).to.equal(edge?.end ?? window.start);
        expect(segments.at(-1)?.end).to.equal(window.end);
        let buckets = 0;
        for (const [i, { span, start, end }] of segments.entries()) {
          expect(start).to.be.below(end);
          expect(start % span, `a start of span ${span}`).to.equal(0);
          const next = segments[i + 1];
          // Only the last segment may end within a bucket: the open one, which holds nothing beyond the head.
          if (next === undefined) expect(end - span).to.be.at.most(head);
          else expect([end, end % span]).to.deep.equal([next.start, 0]);
          buckets += Math.ceil((end - start) / span);
        }
        expect(buckets).to.be.at.most(60 + 24 + 366);
      }),
      { numRuns: 500 },
    );
  });
});
