import { expect } from "chai";
import fc from "fast-check";
import { beforeEach, describe, it } from "mocha";
import { ANCHORS, type PricedTrade, PriceTracker, type TradeValue } from "./price-tracker.ts";

const [USDC, USDT] = ANCHORS as [string, string];
const SOL = "SOL";

let time = 0;

/** A trade of `amountIn` for `amountOut` in a pool that holds these afterwards. */
function trade(
  book: PriceTracker,
  pool: string,
  moved: {
    in: [string, number];
    out: [string, number];
    holds: [number | null, number | null];
    isDust?: true;
  },
): TradeValue {
  const [tokenIn, amountIn] = moved.in;
  const [tokenOut, amountOut] = moved.out;
  const [reserveIn, reserveOut] = moved.holds;
  const isDust = moved.isDust ?? false;
  const trade = { pool, tokenIn, amountIn, tokenOut, amountOut, reserveIn, reserveOut, isDust };
  return book.applyTrade({ ...trade, slot: time * 2, time });
}

describe("PriceTracker", () => {
  let book: PriceTracker;
  beforeEach(() => {
    book = new PriceTracker();
    time = 1_000;
    trade(book, "sol-usdc", { in: [USDC, 1_500], out: [SOL, 10], holds: [3_000_000, 20_000] });
  });

  it("prices SOL from a stable pair and a token through its pool with SOL", () => {
    expect(book.usd(SOL, time)).to.equal(150);
    const value = trade(book, "meme-sol", { in: [SOL, 2], out: ["MEME", 1_000], holds: [500, 250_000] });
    expect(value).to.deep.include({ valueUsd: 300, priceInUsd: 150, priceOutUsd: 0.3 });
    expect(book.usd("MEME", time)).to.equal(0.3);
    trade(book, "sol-usdc", { in: [USDC, 1_600], out: [SOL, 10], holds: [3_000_000, 20_000] });
    expect(book.usd("MEME", time)).to.be.closeTo(0.32, 1e-12);
  });

  it("values a trade by the side nearer to an anchor, between two anchors by the mean", () => {
    const sale = trade(book, "sol-usdc", { in: [SOL, 10], out: [USDC, 1_490], holds: [20_000, 3_000_000] });
    expect(sale).to.deep.include({ valueUsd: 1_490, priceInUsd: 149, priceOutUsd: 1 });
    const swap = trade(book, "usdc-usdt", { in: [USDC, 100], out: [USDT, 98], holds: [1e6, 1e6] });
    expect(swap.valueUsd).to.equal(99);
    expect(book.usd(USDT, time)).to.equal(1);
  });

  it("knows no value without a priced side, and no price of a token in a thin pool, whose trades have one", () => {
    expect(trade(book, "a-b", { in: ["A", 1], out: ["B", 2], holds: [1e9, 1e9] })).to.deep.equal({
      valueUsd: null,
      priceInUsd: null,
      priceOutUsd: null,
      isReliableIn: false,
      isReliableOut: false,
    });
    const early = trade(book, "curve", { in: [SOL, 1], out: ["NEW", 1_000_000], holds: [5, 9e8] });
    expect(early).to.deep.include({ valueUsd: 150, priceOutUsd: 0.00015, isReliableOut: true });
    expect(book.usd("NEW", time)).to.equal(null);
    expect(trade(book, "new-b", { in: ["NEW", 10], out: ["B", 1], holds: [1e9, 1e9] }).valueUsd).to.equal(
      null,
    );
    expect(book.usd("B", time)).to.equal(null);
  });

  it("does not let a shallow pool move a token's price or its candles", () => {
    trade(book, "deep", { in: [SOL, 2], out: ["MEME", 1_000], holds: [500, 250_000] });
    const pushed = trade(book, "shallow", { in: [SOL, 40], out: ["MEME", 10], holds: [41, 3] });
    expect(pushed).to.deep.include({
      valueUsd: 6_000,
      priceOutUsd: 600,
      isReliableOut: false,
      isReliableIn: true,
    });
    expect(book.usd("MEME", time)).to.equal(0.3);
  });

  it("does not follow a jump of the deepest pool before it has held", () => {
    for (let i = 0; i < 10; i++) {
      time += 20;
      trade(book, "deep", { in: [SOL, 2], out: ["MEME", 1_000], holds: [500, 250_000] });
    }
    time += 1;
    trade(book, "deep", { in: [SOL, 300], out: ["MEME", 1_000], holds: [800, 249_000] });
    expect(book.usd("MEME", time)).to.equal(0.3);
    expect(book.usd("MEME", time + 400)).to.equal(45);
  });

  it("switches to a deeper pool, and from one that stopped trading to the next", () => {
    trade(book, "curve", { in: [SOL, 1], out: ["MEME", 1_000], holds: [90, 1e8] });
    expect(book.entry("MEME")?.pool).to.equal("curve");
    time += 30;
    trade(book, "amm", { in: [SOL, 1], out: ["MEME", 900], holds: [85, 1e8] });
    expect(book.entry("MEME")?.pool).to.equal("curve");
    time += 90;
    trade(book, "amm", { in: [SOL, 1], out: ["MEME", 900], holds: [85, 1e8] });
    expect(book.entry("MEME")?.pool).to.equal("amm");
    trade(book, "clmm", { in: [SOL, 1], out: ["MEME", 800], holds: [86, 1e8] });
    expect(book.entry("MEME")?.pool).to.equal("clmm");
    expect(book.drainChanged()).to.include.members([SOL, "MEME"]);
    expect(book.drainChanged()).to.deep.equal([]);
  });

  it("sets no price by dust or by a pool whose holdings are not known", () => {
    expect(
      trade(book, "meme-sol", { in: [SOL, 2], out: ["MEME", 1e-9], holds: [500, 1], isDust: true })
        .isReliableOut,
    ).to.equal(false);
    expect(book.entry("MEME")).to.equal(undefined);
    const unknown = trade(book, "meme-sol", { in: [SOL, 2], out: ["MEME", 1_000], holds: [null, null] });
    expect(unknown.valueUsd).to.equal(300);
    expect(book.usd("MEME", time)).to.equal(null);
  });

  it("never derives a price from itself, and continues from stored entries as without a break", () => {
    const mints = [USDC, SOL, "A", "B", "C", "D", "E", "F"];
    const amount = fc.double({ min: 1e-3, max: 1e6, noNaN: true });
    const anyTrade = fc
      .record({
        pair: fc.shuffledSubarray(mints, { minLength: 2, maxLength: 2 }),
        amounts: fc.tuple(amount, amount),
        reserves: fc.tuple(fc.option(amount), fc.option(amount)),
        wait: fc.nat(200),
      })
      .map(({ pair, amounts, reserves, wait }): Omit<PricedTrade, "slot" | "time"> & { wait: number } => ({
        pool: [...pair].sort().join("-"),
        tokenIn: pair[0] as string,
        tokenOut: pair[1] as string,
        amountIn: amounts[0],
        amountOut: amounts[1],
        reserveIn: reserves[0],
        reserveOut: reserves[1],
        isDust: false,
        wait,
      }));
    fc.assert(
      fc.property(fc.array(anyTrade, { maxLength: 60 }), fc.nat(60), (trades, breakAt) => {
        const whole = new PriceTracker({ minDepthUsd: 1 });
        let broken = new PriceTracker({ minDepthUsd: 1 });
        let now = 0;
        trades.forEach(({ wait, ...each }, i) => {
          now += wait;
          if (i === breakAt) {
            const stored = mints.flatMap((mint) => broken.entry(mint) ?? []);
            broken = new PriceTracker({ minDepthUsd: 1 });
            broken.load(JSON.parse(JSON.stringify(stored)));
          }
          const value = whole.applyTrade({ ...each, slot: i, time: now });
          expect(broken.applyTrade({ ...each, slot: i, time: now })).to.deep.equal(value);
          if (value.valueUsd !== null) expect(value.valueUsd).to.be.at.least(0);
        });
        for (const mint of mints) {
          const seen = new Set<string>();
          for (let at: string | undefined = mint; at !== undefined; at = whole.entry(at)?.parent) {
            expect(seen.has(at)).to.equal(false);
            seen.add(at);
          }
        }
      }),
    );
  });
});
