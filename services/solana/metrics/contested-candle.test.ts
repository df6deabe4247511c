import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type CandleTrade, type joinCandles, withTrade } from "./candle.ts";
import {
  type ContestedCandle,
  type ContestedTrade,
  joinContested,
  NO_CANDLE,
  settleCandle,
  withContestedTrade,
} from "./contested-candle.ts";

const contest = { mint: "SOL", since: 7 };
const trade = (priceUsd: number): CandleTrade => ({ priceUsd, valueUsd: 2 * priceUsd, amount: 2 });
const plain = (priceUsd: number): ContestedTrade => ({ ...trade(priceUsd), ifRefused: undefined });
const contested = (priceUsd: number, refusedUsd: number | null): ContestedTrade => ({
  ...trade(priceUsd),
  ifRefused: { contest, trade: refusedUsd === null ? null : trade(refusedUsd) },
});
const candleOf = (trades: readonly CandleTrade[]) =>
  trades.reduce<ReturnType<typeof joinCandles>>((candle, each) => withTrade(candle, each), undefined);
const fold = (trades: readonly ContestedTrade[]) => trades.reduce(withContestedTrade, NO_CANDLE);

describe("candles of prices that may be taken back", () => {
  const anyTrade = fc
    .record({
      usd: fc.integer({ min: 1, max: 1_000 }),
      refused: fc.option(fc.integer({ min: 1, max: 1_000 })),
      isContested: fc.boolean(),
    })
    .map(({ usd, refused, isContested }) => (isContested ? contested(usd, refused) : plain(usd)));
  const asRefused = ({ ifRefused, ...main }: ContestedTrade) =>
    ifRefused === undefined ? [main] : ifRefused.trade === null ? [] : [ifRefused.trade];

  it("have both readings, however the trades are cut into blocks", () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyTrade, { maxLength: 5 }), { maxLength: 6 }), (blocks) => {
        const trades = blocks.flat();
        const joined = blocks.map(fold).reduce(joinContested, NO_CANDLE);
        expect(joined).to.deep.equal(fold(trades));
        expect(settleCandle(joined, () => false).candle).to.deep.equal(candleOf(trades));
        expect(settleCandle(joined, () => true).candle).to.deep.equal(candleOf(trades.flatMap(asRefused)));
        expect(settleCandle(joined, () => undefined)).to.equal(joined);
      }),
    );
  });

  it("ask for the verdict of the first contest, and wait for none without one", () => {
    const other = { contest: { mint: "X", since: 9 }, trade: null };
    const known: ContestedCandle = fold([contested(10, 5), { ...trade(8), ifRefused: other }]);
    expect(known.ifRefused?.contest).to.equal(contest);
    expect(settleCandle(known, ({ mint }) => mint === "SOL").candle).to.deep.include({ high: 5, trades: 1 });
    const settled = fold([plain(3)]);
    expect(settleCandle(settled, () => true)).to.equal(settled);
    expect(joinContested(settled, known).ifRefused?.candle).to.deep.include({ open: 3, high: 5, close: 5 });
  });
});
