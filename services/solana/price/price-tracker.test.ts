import { expect } from "chai";
import fc from "fast-check";
import { beforeEach, describe, it } from "mocha";
import type { PriceRow } from "../store/collections.ts";
import { toPriceEntry, toPriceRow } from "../store/price-row.ts";
import { ANCHORS } from "./limits.ts";
import { type PricedTrade, PriceTracker, type TradeValue } from "./price-tracker.ts";

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
      candle: { priceInUsd: null, priceOutUsd: null },
      ifRefused: undefined,
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

  /** A minute's trade of MEME at so many SOL in each pool that holds 90 SOL. */
  function minutes(count: number, ratios: Record<string, number>): void {
    for (let i = 0; i < count; i++) {
      time += 60;
      for (const [pool, ratio] of Object.entries(ratios))
        trade(book, pool, { in: [SOL, ratio * 1_000], out: ["MEME", 1_000], holds: [90, 90 / ratio] });
    }
  }

  it("leaves a curve for the pool after it: at once where it is sold out, else once it has rested", () => {
    minutes(10, { curve: 0.001 });
    trade(book, "curve", { in: [SOL, 1], out: ["MEME", 1_000], holds: [90, 0] });
    expect(book.usd("MEME", time)).to.equal(null);
    minutes(1, { amm: 0.002 });
    expect(book.usd("MEME", time)).to.equal(0.3);
    minutes(10, { other: 0.004 });
    expect(book.usd("MEME", time)).to.equal(0.3);
    minutes(30, { other: 0.004 });
    expect(book.usd("MEME", time)).to.equal(0.6);
    expect(book.entry("MEME")?.source.pool).to.equal("other");
    expect(book.drainChanged()).to.have.members([SOL, "MEME"]);
    expect(book.drainChanged()).to.deep.equal([]);
  });

  it("does not leave a pool of a day that rests for hours for a fresh one that trades", () => {
    minutes(1_440, { old: 0.001 });
    minutes(180, { fresh: 0.003 });
    expect(book.usd("MEME", time)).to.equal(0.15);
  });

  it("is as deep as the thinnest side of its path, and prices nothing below the least depth", () => {
    trade(book, "far", { in: [SOL, 1], out: ["MEME", 1_000], holds: [1_000, 60_000] });
    expect(book.usd("MEME", time)).to.equal(null);
    trade(book, "far", { in: [SOL, 1], out: ["MEME", 1_000], holds: [1_000, 80_000] });
    expect(book.price("MEME", time)?.widthUsd).to.equal(12_000);
    trade(book, "next", { in: ["MEME", 1], out: ["RARE", 1], holds: [1e9, 1e9] });
    expect(book.price("RARE", time)?.widthUsd).to.equal(12_000);
  });

  it("keeps a pool's history when its direction turns", () => {
    trade(book, "rare-usdc", { in: [USDC, 1], out: ["RARE", 1], holds: [20_000, 20_000] });
    trade(book, "meme-rare", { in: ["RARE", 1], out: ["MEME", 10], holds: [10_000, 100_000] });
    expect(book.quote("MEME", "meme-rare")).to.deep.include({ parent: "RARE", since: 1_000 });
    time += 100;
    trade(book, "meme-usdc", { in: [USDC, 1], out: ["MEME", 10], holds: [90_000, 900_000] });
    trade(book, "meme-rare", { in: ["RARE", 1], out: ["MEME", 10], holds: [10_000, 100_000] });
    expect(book.quote("MEME", "meme-rare")).to.equal(undefined);
    expect(book.quote("RARE", "meme-rare")).to.deep.include({ parent: "MEME", since: 1_000, ratio: 10 });
    expect(book.usd("RARE", time)).to.equal(1);
  });

  it("keeps of many pools those with the most weight, and room for new ones", () => {
    const old = Array.from({ length: 14 }, (_, i) => [`old ${i}`, 0.001] as const);
    minutes(60, Object.fromEntries(old));
    minutes(1, Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`new ${i}`, 0.003])));
    const kept = (book.entry("MEME")?.quotes ?? []).map(({ pool }) => pool);
    expect(kept).to.have.length(16);
    expect(kept.filter((pool) => pool.startsWith("old"))).to.have.length.at.least(12);
    expect(book.usd("MEME", time)).to.equal(0.15);
  });

  it("forgets what a pool holds no more", () => {
    minutes(10, { meme: 0.001 });
    const move = { pool: "meme", tokenA: "MEME", tokenB: SOL, amountA: 89_000, amountB: 89 };
    book.applyLiquidity({ ...move, isAdded: false, slot: 1, time });
    expect(book.usd("MEME", time)).to.equal(null);
    book.applyLiquidity({ ...move, isAdded: true, slot: 2, time });
    expect(book.usd("MEME", time)).to.equal(0.15);
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
            const stored = mints.flatMap((mint) => broken.entry(mint) ?? []).map(toPriceRow);
            broken = new PriceTracker({ minDepthUsd: 1 });
            broken.load((JSON.parse(JSON.stringify(stored)) as PriceRow[]).map(toPriceEntry));
          }
          const value = whole.applyTrade({ ...each, slot: i, time: now });
          expect(broken.applyTrade({ ...each, slot: i, time: now })).to.deep.equal(value);
          if (value.valueUsd !== null) expect(value.valueUsd).to.be.at.least(0);
        });
        for (const mint of mints) {
          for (const { parent } of whole.entry(mint)?.quotes ?? [])
            expect(whole.restsOn(parent, mint), `${parent} on ${mint}`).to.equal(false);
        }
      }),
    );
  });
});
