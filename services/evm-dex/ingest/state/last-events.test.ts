import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { MEDIAN_WINDOW_SECONDS } from "../../../shared/pricing/median.ts";
import { ObjectRowList } from "../../../shared/storage/row-list.ts";
import { randomRuns } from "../../../shared/testkit/describe.ts";
import { HOUR, startOf } from "../../metrics/bucket.ts";
import type { PoolEventRow } from "../../store/collections.ts";
import { address, eventRow, lastOf } from "../../test/kit/rows.ts";
import { LastEvents } from "./last-events.ts";

const openList = () => new LastEvents(new ObjectRowList<PoolEventRow>("poolAddress"));
const eventAt = (time: number, pool = 1) => eventRow({ poolAddress: address(pool), time, blockNumber: time });
const timesOf = (rows: Iterable<PoolEventRow>) => [...rows].map(({ time }) => time);
const START = startOf(1_790_000_000, HOUR);

/** Events in the order of time, each with its pool, and after some of them a write. */
const anyEvents = fc
  .array(
    fc.record({
      // Some within the five minutes of the one before, some at their end, some hours later.
      gap: fc.oneof(fc.nat(120), fc.constantFrom(299, 300, 301), fc.nat(3 * HOUR)),
      pool: fc.integer({ min: 1, max: 4 }),
      isWritten: fc.boolean(),
    }),
    { maxLength: 60 },
  )
  .map((list) => {
    let time = START;
    return list.map(({ gap, pool, isWritten }) => {
      time += gap;
      return { row: eventAt(time, pool), isWritten };
    });
  });

describe("LastEvents", () => {
  it("keeps a pool's last event of an hour, and all of the last five minutes with the one before them", () => {
    const list = openList();
    const times = [0, 10, 20, 3_599, 3_600, 3_700, 7_000, 7_300, 7_599, 7_600];
    for (const time of times) list.add(eventAt(START + time));
    expect(list.length).to.equal(5);
    // 7_300 is five minutes before the last: the one before them. Before it, the last events of two hours.
    expect(timesOf(list.take()).map((time) => time - START)).to.deep.equal([
      3_599, 7_000, 7_300, 7_599, 7_600,
    ]);
    expect(list.length).to.equal(0);
    expect(timesOf(list.take())).to.deep.equal([]);
  });

  it("has written at each write what medians go on from, and in the end each pool's last event of every hour", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const list = openList();
        const added: PoolEventRow[] = [];
        const written = new Set<PoolEventRow>();
        const write = () => {
          const { length } = list;
          const rows = [...list.take()];
          expect(rows.length).to.equal(length);
          for (const row of rows) {
            expect(written.has(row), "once").to.equal(false);
            written.add(row);
          }
          const now = added.at(-1)?.time ?? 0;
          for (const row of readAfter(added, now)) expect(written.has(row)).to.equal(true);
        };
        for (const { row, isWritten } of events) {
          list.add(row);
          added.push(row);
          if (isWritten) write();
        }
        write();
        for (const row of lastOf(added, ({ poolAddress, time }) => `${poolAddress} ${startOf(time, HOUR)}`))
          expect(written.has(row)).to.equal(true);
      }),
      { numRuns: randomRuns(300) },
    );
  });

  it("gives a pool's events in their order", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const list = openList();
        for (const { row } of events) list.add(row);
        const rows = [...list.take()];
        const inOrder = events.map(({ row }) => row).filter((row) => rows.includes(row));
        for (const pool of [1, 2, 3, 4].map(address)) {
          const ofPool = ({ poolAddress }: PoolEventRow) => poolAddress === pool;
          expect(rows.filter(ofPool)).to.deep.equal(inOrder.filter(ofPool));
        }
      }),
      { numRuns: randomRuns(100) },
    );
  });

  it("does not grow with the events of an hour but by those of five minutes", () => {
    const list = openList();
    for (let second = 0; second < HOUR; second++) list.add(eventAt(START + second));
    expect(list.length).to.equal(MEDIAN_WINDOW_SECONDS + 1);
  });
});

/** What medians go on from: all events of the last five minutes, and each pool's last one before them. */
function readAfter(added: readonly PoolEventRow[], now: number): PoolEventRow[] {
  const from = now - MEDIAN_WINDOW_SECONDS;
  const before = added.filter(({ time }) => time <= from);
  return [...added.filter(({ time }) => time > from), ...lastOf(before, ({ poolAddress }) => poolAddress)];
}
