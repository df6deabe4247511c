import { availableParallelism } from "node:os";
import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { BlockHeader } from "../../../shared/evm/port.ts";
import { chunkStart, detailOf, hasDetail, planChunk } from "./chunk.ts";
import { chunksAtATime } from "./chunk-thread.ts";

const DAY = 86_400;
const HOUR = 3_600;
const ALL_KEPT = { rows: 0, minutes: 0, tvlHours: 0 };

/** A chain whose blocks have these times. */
function chainOf(times: readonly number[]) {
  const asked: number[] = [];
  const headers = async (numbers: readonly number[]) =>
    numbers.map((number) => {
      asked.push(number);
      const timestamp = times[number];
      return timestamp === undefined ? null : ({ number, timestamp } as BlockHeader);
    });
  return { source: { chainId: 1, headers }, asked };
}

describe("history chunk", () => {
  it("begins an hour, then six hours, then at midnight before the index", () => {
    const noon = 20_000 * DAY + 12 * HOUR + 90;
    expect(chunkStart(noon, 0)).to.equal(20_000 * DAY + 11 * HOUR);
    expect(chunkStart(noon, HOUR)).to.equal(20_000 * DAY + 6 * HOUR);
    expect(chunkStart(noon, 6 * HOUR)).to.equal(20_000 * DAY);
    expect(chunkStart(20_000 * DAY - 1, 6 * HOUR)).to.equal(19_999 * DAY);
  });

  it("covers every block once, from the first index down to the first block, whatever the times of blocks", async () => {
    const gaps = fc.array(
      fc.oneof(
        { weight: 8, arbitrary: fc.integer({ min: 1, max: 900 }) },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 * DAY }) },
      ),
      { minLength: 5, maxLength: 300, size: "max" },
    );
    await fc.assert(
      fc.asyncProperty(gaps, fc.nat({ max: 100 }), async (list, share) => {
        let time = 1_760_000_000;
        const times = list.map((gap) => (time += gap));
        const { source } = chainOf(times);
        const headTime = times.at(-1) as number;
        let from = Math.max(1, Math.floor((times.length * share) / 100) - 1);
        for (let rounds = 0; ; rounds++) {
          expect(rounds).to.be.at.most(times.length);
          const edge = { chainId: 1, fromBlock: from, fromTime: times[from] as number };
          const wanted = { edge, headTime, since: 0, oldest: 0, warmUpSeconds: 600, keptFrom: ALL_KEPT };
          const chunk = await planChunk(source, wanted);
          if (chunk === undefined) break;
          expect(chunk.to).to.equal(from - 1);
          expect(chunk.from.number).to.be.at.most(chunk.to);
          expect(times[chunk.from.number]).to.equal(chunk.from.time);
          expect(chunk.start % HOUR).to.equal(0);
          expect(chunk.from.time >= chunk.start).to.equal(true);
          if (chunk.from.number > 0) expect(times[chunk.from.number - 1]).to.be.lessThan(chunk.start);
          if (chunk.warmFrom > 0) expect(times[chunk.warmFrom - 1]).to.be.lessThan(chunk.start - 600);
          expect(times[chunk.warmFrom]).to.be.at.least(
            Math.min(chunk.start - 600, times[chunk.warmFrom] as number),
          );
          from = chunk.from.number;
        }
        expect(from).to.equal(0);
      }),
      { numRuns: 60 },
    );
  });

  it("ends where history is to begin, or before the first factory", async () => {
    const times = Array.from({ length: 2_000 }, (_, i) => 1_760_000_000 + i * 600);
    const { source, asked } = chainOf(times);
    const edge = { chainId: 1, fromBlock: 1_500, fromTime: times[1_500] as number };
    const wanted = {
      ...{ edge, headTime: times[1_999] as number, oldest: 0, warmUpSeconds: 600 },
      keptFrom: ALL_KEPT,
    };
    expect(await planChunk(source, { ...wanted, since: edge.fromTime })).to.equal(undefined);
    expect(await planChunk(source, { ...wanted, since: (times[1_499] as number) + 1 })).to.equal(undefined);
    expect(await planChunk(source, { ...wanted, since: 0, oldest: 1_500 })).to.equal(undefined);
    asked.length = 0;
    const chunk = await planChunk(source, { ...wanted, since: 0, oldest: 1_490 });
    expect(chunk?.from.number).to.equal(1_490);
    expect(asked.length).to.be.lessThan(30);
  });
});

describe("what is written of a chunk", () => {
  const MIDNIGHT = 20_000 * DAY;
  const kept = (rows: number, minutes: number) => ({ rows, minutes, tvlHours: minutes });

  it("are all events from the day on of which some are kept", () => {
    const day = { last: MIDNIGHT - 2, begin: MIDNIGHT };
    expect(detailOf(day, ALL_KEPT)).to.equal("events");
    expect(detailOf(day, kept(MIDNIGHT - DAY, 0))).to.equal("events");
    expect(detailOf(day, kept(MIDNIGHT, 0))).to.equal("minutes");
    expect(detailOf(day, kept(MIDNIGHT + 9 * DAY, 0))).to.equal("minutes");
  });

  it("are all events where it shares its last day with the index: rows of a day go together", () => {
    const gone = kept(MIDNIGHT + 9 * DAY, 0);
    expect(detailOf({ last: MIDNIGHT + HOUR - 2, begin: MIDNIGHT + HOUR }, gone)).to.equal("events");
    // No block in the last hours of the day.
    expect(detailOf({ last: MIDNIGHT - 5 * HOUR, begin: MIDNIGHT + HOUR }, gone)).to.equal("minutes");
  });

  it("are no minutes where none of them is kept", () => {
    const day = { last: MIDNIGHT - 2, begin: MIDNIGHT };
    expect(detailOf(day, kept(MIDNIGHT + 32 * DAY, MIDNIGHT))).to.equal("hours");
    expect(detailOf(day, kept(MIDNIGHT + 31 * DAY, MIDNIGHT - DAY))).to.equal("minutes");
  });

  it("is told by its plan", async () => {
    const times = Array.from({ length: 300 }, (_, i) => MIDNIGHT + i * 600);
    const { source } = chainOf(times);
    const edge = { chainId: 1, fromBlock: 144, fromTime: MIDNIGHT + DAY };
    const wanted = { edge, headTime: times[299] as number, since: 0, oldest: 0, warmUpSeconds: 600 };
    const keptFrom = kept(MIDNIGHT + 2 * DAY, MIDNIGHT);
    expect((await planChunk(source, { ...wanted, keptFrom }))?.detail).to.equal("minutes");
    expect((await planChunk(source, { ...wanted, keptFrom: ALL_KEPT }))?.detail).to.equal("events");
  });

  it("may be more than is wanted by now, not less", () => {
    expect(hasDetail("events", "hours")).to.equal(true);
    expect(hasDetail("minutes", "minutes")).to.equal(true);
    expect(hasDetail("minutes", "events")).to.equal(false);
    expect(hasDetail("hours", "minutes")).to.equal(false);
  });
});

describe("chunksAtATime", () => {
  it("leaves a core to the head, and three quarters of the memory to all else", () => {
    const GB = 2 ** 30;
    const chunks = (cores: number, gigabytes: number) =>
      chunksAtATime({ cores, memoryBytes: gigabytes * GB });
    expect([chunks(1, 64), chunks(2, 64), chunks(3, 64), chunks(64, 64)]).to.deep.equal([1, 1, 2, 4]);
    expect([chunks(8, 1.5), chunks(8, 4), chunks(8, 7.8), chunks(8, 8)]).to.deep.equal([1, 2, 3, 4]);
  });

  it("knows the machine's own", () => {
    expect(chunksAtATime()).to.be.within(1, Math.max(1, availableParallelism() - 1));
  });
});
