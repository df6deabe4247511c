import { expect } from "chai";
import { describe, it } from "mocha";
import type { DecodedTransaction, LiquidityChange, Trade } from "../decode/model.ts";
import { ANCHORS } from "../price/limits.ts";
import { PriceTracker } from "../price/price-tracker.ts";
import { buildBlockRows } from "./block-rows.ts";

const USDC = ANCHORS[0] as string;
const SOL = "So11111111111111111111111111111111111111112";
const at = { slot: 7, time: 1_000 };
const place = { slot: 7, time: 1_000, transactionIndex: 4, signature: "sig", leg: 0 };

function transaction(...events: DecodedTransaction["events"]): DecodedTransaction {
  return {
    ...{ transactionIndex: 4, signature: "sig", feePayer: "payer" },
    ...{ events, balances: [], disagreements: [] },
  };
}

const sale: Trade = {
  kind: "trade",
  instructionIndex: 3,
  leg: 0,
  dex: "orca",
  program: "orca-whirlpool",
  pool: "pool",
  account: "payer",
  tokenIn: SOL,
  amountIn: 2_000_000_000n,
  decimalsIn: 9,
  tokenOut: USDC,
  amountOut: 300_000_000n,
  decimalsOut: 6,
  reserveIn: 1_000_000_000_000n,
  reserveOut: 150_000_000_000n,
};

const addition: LiquidityChange = {
  kind: "add_liquidity",
  instructionIndex: 4,
  leg: 0,
  dex: "raydium",
  program: "raydium-clmm",
  pool: "other",
  account: "payer",
  tokenA: SOL,
  amountA: 1_000_000_000n,
  decimalsA: 9,
  tokenB: "MEME",
  amountB: 5_000_000n,
  decimalsB: 6,
};

describe("rows of a Solana block", () => {
  it("have a trade in the lists of both tokens, a sale for one and a purchase for the other", () => {
    const rows = buildBlockRows([transaction(sale)], { ...at, book: new PriceTracker() });
    const common = { ...place, instructionIndex: 3, dex: 1, pool: "pool", valueUsd: 300 };
    expect(rows.tokenRows).to.deep.equal([
      { ...common, mint: SOL, txType: 1, amount: 2, priceUsd: 150 },
      { ...common, mint: USDC, txType: 0, amount: 300, priceUsd: 1 },
    ]);
    expect(rows.poolRows).to.deep.equal([
      {
        ...common,
        kind: 0,
        tokenIn: SOL,
        amountIn: 2,
        priceInUsd: 150,
        tokenOut: USDC,
        amountOut: 300,
        priceOutUsd: 1,
        account: "payer",
      },
    ]);
    expect(rows.candleTrades).to.deep.equal([
      { mint: SOL, priceUsd: 150, valueUsd: 300, amount: 2, ifRefused: undefined },
      { mint: USDC, priceUsd: 1, valueUsd: 300, amount: 300, ifRefused: undefined },
    ]);
  });

  it("value liquidity at the prices before it, the pool's only where both sides have one", () => {
    const book = new PriceTracker();
    const rows = buildBlockRows([transaction(addition, sale, addition)], { ...at, book });
    const [before, , after] = rows.poolRows;
    expect(before).to.deep.include({ kind: 1, valueUsd: null, priceInUsd: null, amountOut: 5 });
    expect(after).to.deep.include({ kind: 1, valueUsd: null, priceInUsd: 150, priceOutUsd: null });
    const liquidity = rows.tokenRows.filter(({ txType }) => txType === 2);
    expect(liquidity.map(({ mint, valueUsd }) => [mint, valueUsd])).to.deep.equal([
      [SOL, null],
      ["MEME", null],
      [SOL, 150],
      ["MEME", null],
    ]);
  });

  it("leave out the side of which nothing moved, and value it at zero", () => {
    const book = new PriceTracker();
    const oneSided: LiquidityChange = { ...addition, kind: "remove_liquidity", amountB: 0n };
    const rows = buildBlockRows([transaction(sale, oneSided)], { ...at, book });
    expect(rows.tokenRows.slice(2)).to.deep.equal([
      {
        ...place,
        instructionIndex: 4,
        dex: 0,
        pool: "other",
        mint: SOL,
        txType: 3,
        amount: 1,
        priceUsd: 150,
        valueUsd: 150,
      },
    ]);
    expect(rows.poolRows[1]).to.deep.include({ kind: 2, valueUsd: 150, amountOut: 0 });
  });

  it("keep dust out of candles, though not out of the lists", () => {
    const dust: Trade = { ...sale, amountIn: 999n, amountOut: 1n };
    const rows = buildBlockRows([transaction(dust)], { ...at, book: new PriceTracker() });
    expect(rows.tokenRows).to.have.length(2);
    expect(rows.candleTrades).to.deep.equal([]);
  });

  it("have mints and burns to the raw unit", () => {
    const burn = {
      kind: "burn",
      instructionIndex: 0,
      leg: 0,
      mint: "MEME",
      amount: 2n ** 63n,
      decimals: 6,
      accountCount: 3,
      authority: "owner",
    } as const;
    const rows = buildBlockRows([transaction(burn)], { ...at, book: new PriceTracker() });
    expect(rows.supplyRows).to.deep.equal([
      {
        mint: "MEME",
        slot: 7,
        time: 1_000,
        signature: "sig",
        transactionIndex: 4,
        instructionIndex: 0,
        leg: 0,
        isMint: false,
        accountCount: 3,
        authority: "owner",
        amount: 2n ** 63n,
        decimals: 6,
      },
    ]);
  });
});
