import fc from "fast-check";
import type { PriceEdge } from "../../price/edges.ts";
import { balanced } from "./walk-prices.ts";

/** Full five minutes. */
export const STEPS_START = 1_700_000_100;

/** What the pools of one token do, block by block. */
export interface Steps {
  readonly shares: readonly number[];
  readonly blocks: readonly {
    readonly seconds: number;
    /** Of each pool: thousandths that its price moves by; null: it does not trade. */
    readonly moves: readonly (number | null)[];
    /** Whether all pools are emptied, so that the token has no price until the next block. */
    readonly isEmptied: boolean;
  }[];
}

/** A departure goes on up to a tenth from where it began: at a tenth to the last bit only rounding would decide. */
const LIMIT = 100;

/** Two to six pools that agree at first: then they walk, jump, trade where they are or rest. */
export const anySteps: fc.Arbitrary<Steps> = fc.record({
  // None is a tenth or half of others together to the last bit, where only rounding would decide.
  shares: fc.array(fc.constantFrom(1.03, 1.51, 2.11, 3.37, 4.71, 6.29, 9.77), { minLength: 2, maxLength: 6 }),
  blocks: fc.array(
    fc.record({
      seconds: fc.constantFrom(0, 2, 12, 60, 150, 400),
      moves: fc.array(
        fc.oneof(
          { weight: 3, arbitrary: fc.constant(null) },
          { weight: 2, arbitrary: fc.constant(0) },
          { weight: 4, arbitrary: fc.integer({ min: -9, max: 9 }) },
          { weight: 1, arbitrary: fc.integer({ min: -200, max: 200 }).filter((move) => move !== LIMIT) },
        ),
        { minLength: 6, maxLength: 6 },
      ),
      isEmptied: fc.integer({ min: 0, max: 15 }).map((each) => each === 15),
    }),
    { minLength: 10, maxLength: 40 },
  ),
});

/** The pools of token t with the anchor that trade in each block, as edges; in the first one all. */
export function* edgesInSteps({ shares, blocks }: Steps): Generator<{ time: number; edges: PriceEdge[] }> {
  const usdOf = shares.map(() => 100);
  let time = STEPS_START;
  let wasEmptied = true;
  for (const [number, { seconds, moves, isEmptied }] of blocks.entries()) {
    time += seconds;
    const edges = shares.flatMap((share, i) => {
      const move = number === 0 ? 0 : (moves[i] ?? null);
      if (move === null && !isEmptied && !wasEmptied) return [];
      usdOf[i] = (usdOf[i] as number) * (1 + (move ?? 0) / 1_000);
      const usd: [number, number] = [1, usdOf[i] as number];
      const depthUsd = isEmptied ? 1 : share * 1e5;
      return [balanced(`p${i}`, { tokens: ["usdc", "t"], usd, depthUsd, lastTime: time })];
    });
    wasEmptied = isEmptied;
    yield { time, edges };
  }
}
