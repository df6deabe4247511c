import { expect } from "chai";
import { describe, it } from "mocha";
import type { Cell } from "../../shared/contract/column.ts";
import type { Endpoint } from "../../shared/contract/endpoint.ts";
import { put } from "../../shared/storage/port.ts";
import {
  ohlcvToken,
  poolTransactions,
  tokenHolders,
  tokenMintBurnTransactions,
  tokenSecurity,
  tokenTransactions,
  tokenTransactionsTimeBounded,
} from "../contract.ts";
import { createHandlers } from "../handlers.ts";
import { createDeps } from "../serve/deps.ts";
import { type TokenRow, tokens } from "../store/token-collections.ts";
import { type Query, queryEndpoint } from "./ask.ts";
import { fillStore } from "./fill.ts";
import { MEME, POOLS } from "./random-chain.ts";
import { openTestStore } from "./store.ts";

const END = 1_700_000_000;
/** A power of two: products and quotients are exact. */
const MULTIPLIER = 4;
const WINDOW = { after_time: END - 7_200, before_time: END + 1 };
const OF_MEME = { token_address: MEME };

/** Columns that are multiplied (×) or divided (/); all others stay as they are. */
const CASES: readonly (readonly [Endpoint, Query, Readonly<Record<string, "×" | "/">>])[] = [
  [tokenTransactions, { ...OF_MEME, days: 30, limit: 1_000 }, { tokenAmount: "×", priceUSD: "/" }],
  [
    tokenTransactionsTimeBounded,
    { ...OF_MEME, ...WINDOW, limit: 1_000 },
    { tokenAmount: "×", priceUSD: "/" },
  ],
  [
    ohlcvToken,
    { ...OF_MEME, ...WINDOW, interval: "5m" },
    { openPrice: "/", highPrice: "/", lowPrice: "/", closePrice: "/", volumeToken: "×" },
  ],
  [tokenMintBurnTransactions, { ...OF_MEME, ...WINDOW }, { amountUI: "×" }],
  [tokenHolders, OF_MEME, { balanceUi: "×" }],
];

describe("amounts and prices of a token with a multiplier", () => {
  it("are multiplied and divided, so that values stay", async () => {
    const store = await openTestStore();
    await fillStore(store, { endTime: END, blocks: 120 });
    const ask = async (endpoint: Endpoint, query: Query) => {
      const { rows } = await queryEndpoint(createHandlers(createDeps(store)), { endpoint, query });
      return rows;
    };
    const askAll = () => Promise.all(CASES.map(([endpoint, query]) => ask(endpoint, query)));
    const pool = POOLS.map(({ address }) => ({ pool_address: address, days: 30, limit: 100 }));
    const askPools = async () =>
      (await Promise.all(pool.map((query) => ask(poolTransactions, query)))).flat();
    const [before, poolsBefore] = [await askAll(), await askPools()];
    const token = (await store.get(tokens, { mint: MEME })) as TokenRow;
    const scaledAmount = { older: MULTIPLIER, newer: 9, newerTime: END + 5 };
    await store.write([put(tokens, [{ ...token, extensions: { scaledAmount } }])]);
    const [after, poolsAfter] = [await askAll(), await askPools()];
    for (const [i, [endpoint, , scaled]] of CASES.entries()) {
      const rows = before[i] ?? [];
      expect(rows, endpoint.path).to.have.length.above(0);
      const expected = rows.map((row) =>
        row.map((cell, at) => scale(cell, scaled[endpoint.columns[at]?.name ?? ""])),
      );
      expect(after[i], endpoint.path).to.deep.equal(expected);
    }
    const [amountIn, amountOut, mintIn, mintOut] = [
      ...["amountIn", "amountOut", "tokenInAddress", "tokenOutAddress"],
    ].map((name) => poolTransactions.columns.findIndex((column) => column.name === name)) as [
      number,
      number,
      number,
      number,
    ];
    const isOf = (row: readonly Cell[], at: number) =>
      (at === amountIn && row[mintIn] === MEME) || (at === amountOut && row[mintOut] === MEME);
    expect(poolsAfter).to.deep.equal(
      poolsBefore.map((row) => row.map((cell, at) => scale(cell, isOf(row, at) ? "×" : undefined))),
    );
    const [security] = await ask(tokenSecurity, OF_MEME);
    const named = Object.fromEntries(tokenSecurity.columns.map(({ name }, at) => [name, security?.[at]]));
    expect(named).to.include({ uiAmountMultiplier: MULTIPLIER, uiAmountChanges: true });
    expect(named.totalSupply).to.equal((MULTIPLIER * Number(token.supply)) / 1e6);
    await store.close();
  });
});

function scale(cell: Cell, how: "×" | "/" | undefined): Cell {
  if (how === undefined || typeof cell !== "number") return cell;
  return how === "×" ? cell * MULTIPLIER : cell / MULTIPLIER;
}
