import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { randomRuns } from "../../testkit/describe.ts";
import { put } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { type Sample, sample, samples } from "./sample.ts";

const LATER = ["tick", "tvlUsd"] as const;
type Told = Pick<Sample, (typeof LATER)[number]>;

/** More than a list keeps together. */
const MANY = 2_600;

const anyRows = fc.array(
  fc.record({
    dex: fc.constantFrom("a", "b", ""),
    /** What is told of the row, and when; null: nothing. */
    told: fc.option(
      fc.record({
        turn: fc.nat(),
        tick: fc.option(fc.integer({ min: -(2 ** 40), max: 2 ** 40 })),
        tvlUsd: fc.option(fc.double({ min: 1e-9, max: 1e9, noNaN: true })),
      }),
    ),
  }),
  { maxLength: 20 },
);

export function describeLaterFields(options: SuiteOptions): void {
  describe("lists of rows with fields that are told later", () => {
    const fixture = useStore(options, [samples]);
    const storedRows = () => fixture.store.find(samples, {});

    it("are put with what was told of their numbers, in any order, and those without one as they are", async () => {
      const list = fixture.store.openRows(samples, "dex", LATER);
      await fc.assert(
        fc.asyncProperty(anyRows, async (rows) => {
          const expected: Sample[] = [];
          const turns: { turn: number; number: number; values: Told }[] = [];
          for (const [i, { dex, told }] of rows.entries()) {
            const plain = sample(i, { dex, tick: null, tvlUsd: null });
            list.add({ ...plain, tick: told === null ? null : i });
            const { turn = 0, ...values } = told ?? {};
            if (told !== null) turns.push({ turn, number: i, values: values as Told });
            expected.push({ ...plain, ...values });
          }
          const taken = list.take();
          for (const { number, values } of turns.sort((a, b) => a.turn - b.turn)) taken.tell(number, values);
          taken.tell(10_000, { tick: 1, tvlUsd: 1 });
          await fixture.store.write([put(samples, taken)]);
          expect((await storedRows()).slice(0, rows.length)).to.deep.equal(expected);
        }),
        { numRuns: randomRuns(40) },
      );
    });

    it("hold thousands, time and again", async () => {
      const list = fixture.store.openRows(samples, "dex", LATER);
      for (const factor of [1, 2]) {
        for (let i = 0; i < MANY; i++) list.add(sample(i, { tick: i, dex: `dex ${(i * 7) % 11}` }));
        const taken = list.take();
        for (let i = MANY - 1; i >= 0; i--) taken.tell(i, { tick: factor * i, tvlUsd: i });
        await fixture.store.write([put(samples, taken)]);
        const told = (await storedRows()).map(({ tick, tvlUsd }) => [tick, tvlUsd]);
        expect(told).to.deep.equal(Array.from({ length: MANY }, (_, i) => [factor * i, i]));
      }
    });

    it("are not put before all is told", async () => {
      const list = fixture.store.openRows(samples, "dex", LATER);
      for (let i = 0; i < 2; i++) list.add(sample(i, { tick: i }));
      const taken = list.take();
      taken.tell(1, { tick: null, tvlUsd: null });
      const failure = await fixture.store.write([put(samples, taken)]).catch(String);
      expect(failure).to.include("Row 0 waits for its later fields");
      expect(await fixture.store.count(samples, {})).to.equal(0);
    });
  });
}
