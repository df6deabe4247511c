import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { randomRuns } from "../../testkit/describe.ts";
import { put } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { anySample, type Sample, sample, samples } from "./sample.ts";

/** More than a list keeps together. */
const MANY = 2_600;

const byKey = fc.uniqueArray(anySample, {
  selector: ({ chainId, address }) => JSON.stringify([chainId, address]),
  maxLength: 20,
});

/** What may be added, in parts that are written one after the other. */
const parts = fc.array(byKey, { minLength: 1, maxLength: 3 });

function keyOf({ chainId, address }: Sample): string {
  return JSON.stringify([chainId, address]);
}

export function describeRowLists(options: SuiteOptions): void {
  describe("lists of rows", () => {
    const fixture = useStore(options, [samples]);
    const storedByKey = async () =>
      new Map((await fixture.store.find(samples, { filter: {} })).map((row) => [keyOf(row), row]));
    const rowsOf = (byKey: ReadonlyMap<string, Sample>) =>
      [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);

    it("are put as their rows would be, time and again, in the order of their field", async () => {
      const list = fixture.store.openRows(samples, "dex");
      const expected = new Map<string, Sample>();
      await fc.assert(
        fc.asyncProperty(parts, async (writes) => {
          for (const rows of writes) {
            for (const row of rows) list.add(row);
            expect(list.length).to.equal(rows.length);
            const taken = list.take();
            expect([taken.length, list.length]).to.deep.equal([rows.length, 0]);
            // The sort is stable: rows of one text stay in order.
            const ordered = [...rows].sort((a, b) => (a.dex < b.dex ? -1 : a.dex > b.dex ? 1 : 0));
            expect([...taken]).to.deep.equal(ordered);
            await fixture.store.write([put(samples, taken)]);
            for (const row of rows) expected.set(keyOf(row), row);
          }
          expect(rowsOf(await storedByKey())).to.deep.equal(rowsOf(expected));
        }),
        { numRuns: randomRuns(40) },
      );
    });

    it("hold thousands, of texts of any length", async () => {
      const list = fixture.store.openRows(samples, "dex");
      // Longer texts than those before, and back; of some parts only plain ones.
      for (const [round, symbol] of ["é", "日本".repeat(40), "plain", "\u{1F680}"].entries()) {
        const rows = Array.from({ length: MANY }, (_, i) =>
          sample(i, { symbol: i % 7 === 0 ? symbol : `T${i}`, dex: `dex ${i % (3 + round)}` }),
        );
        for (const row of rows) list.add(row);
        await fixture.store.write([put(samples, list.take())]);
        const stored = await storedByKey();
        expect(stored.size).to.equal(MANY);
        expect(rows.every((row) => stored.get(keyOf(row))?.symbol === row.symbol)).to.equal(true);
        expect(stored.get(keyOf(sample(MANY - 1)))).to.deep.equal(rows.at(-1));
      }
    });

    it("come in the order of writing where they have no field to be ordered by", async () => {
      const list = fixture.store.openRows(samples, null);
      const rows = Array.from({ length: MANY }, (_, i) => sample((i * 7) % MANY, { symbol: `T${i}` }));
      for (let round = 0; round < 2; round++) {
        for (const row of rows) list.add(row);
        const taken = list.take();
        expect([...taken].map(({ symbol }) => symbol)).to.deep.equal(rows.map(({ symbol }) => symbol));
        await fixture.store.write([put(samples, taken)]);
        const stored = await storedByKey();
        expect(rows.every((row) => stored.get(keyOf(row))?.symbol === row.symbol)).to.equal(true);
      }
    });
  });
}
