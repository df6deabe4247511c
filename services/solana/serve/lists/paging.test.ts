import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type CountedRange, type PagedList, readPage, type SlotInterval } from "./paging.ts";

interface Row {
  readonly slot: number;
  readonly matches: boolean;
}

/** Rows oldest first; cut into runs after some of them, the last ones never counted. */
function listOf(parts: { rows: readonly Row[]; cuts: readonly boolean[]; uncertain: readonly boolean[] }) {
  const { rows, cuts, uncertain } = parts;
  const runs: CountedRange[] = [];
  let held: Row[] = [];
  rows.forEach((row, i) => {
    held.push(row);
    const isSlotEnd = rows[i + 1]?.slot !== row.slot;
    if (!isSlotEnd || !cuts[i] || i > rows.length - 3) return;
    const matching = held.filter(({ matches }) => matches).length;
    const isUnsure = uncertain[i] === true;
    runs.push({
      fromSlot: held[0]?.slot ?? 0,
      toSlot: row.slot,
      certain: isUnsure ? 0 : matching,
      uncertain: isUnsure ? held.length : 0,
    });
    held = [];
  });
  const within = ({ fromSlot, toSlot }: SlotInterval) =>
    rows.filter((row) => row.matches && row.slot >= fromSlot && row.slot <= toSlot).reverse();
  const walked = { rows: 0 };
  const list: PagedList<Row> = {
    findCounted: async (toSlot, limit) =>
      runs
        .filter((run) => run.toSlot <= toSlot)
        .reverse()
        .slice(0, limit),
    async find(range, { skip, limit }) {
      walked.rows += skip + limit;
      return within(range).slice(skip, skip + limit);
    },
    count: async (range) => within(range).length,
    recount: async (run) => within(run).length,
  };
  return { list, within, walked };
}

const chain = fc
  .array(fc.record({ step: fc.nat(2), matches: fc.boolean() }), { maxLength: 60 })
  .map((found) => {
    let slot = 10;
    return found.map(({ step, matches }): Row => {
      slot += step;
      return { slot, matches };
    });
  });

describe("pages of a list", () => {
  it("are those of the whole list, whatever is counted", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ rows: chain, cuts: fc.array(fc.boolean()), uncertain: fc.array(fc.boolean()) }),
        fc.record({
          fromSlot: fc.nat(60),
          length: fc.nat(120),
          skip: fc.nat(50),
          limit: fc.integer({ min: 1, max: 20 }),
        }),
        async (parts, { fromSlot, length, skip, limit }) => {
          const range = { fromSlot, toSlot: fromSlot + length };
          const { list, within } = listOf(parts);
          const page = await readPage(list, { range, skip, limit });
          expect(page).to.deep.equal(within(range).slice(skip, skip + limit));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("skip counted runs: a deep page reads no more rows than a run and itself", async () => {
    const rows = Array.from({ length: 10_000 }, (_, slot) => ({ slot, matches: slot % 2 === 0 }));
    const cuts = rows.map((_, i) => i % 100 === 99);
    const { list, walked } = listOf({ rows, cuts, uncertain: [] });
    const page = await readPage(list, { range: { fromSlot: 0, toSlot: 9_999 }, skip: 4_000, limit: 10 });
    expect(page.map(({ slot }) => slot)).to.deep.equal(
      Array.from({ length: 10 }, (_, i) => 9_998 - 2 * (4_000 + i)),
    );
    expect(walked.rows).to.be.at.most(110);
  });
});
