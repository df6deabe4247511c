import fc from "fast-check";
import type { BalanceChange, DecodedTransaction } from "../decode/model.ts";
import { ANCHORS } from "../price/limits.ts";

const MINTS = [ANCHORS[0] as string, "SOL", "A", "B"];

const amount = fc.bigInt({ min: 1n, max: 10n ** 13n });

const trade = fc
  .record({
    pair: fc.shuffledSubarray(MINTS, { minLength: 2, maxLength: 2 }),
    amounts: fc.tuple(amount, amount),
    reserves: fc.tuple(fc.option(amount), fc.option(amount)),
    instructionIndex: fc.nat(3),
    account: fc.constantFrom("x", "y", "z"),
  })
  .map(({ pair: [tokenIn = "", tokenOut = ""], amounts, reserves, instructionIndex, account }) => ({
    kind: "trade" as const,
    instructionIndex,
    leg: 0,
    dex: "orca" as const,
    program: "orca-whirlpool",
    pool: [tokenIn, tokenOut].sort().join("-"),
    account,
    tokenIn,
    amountIn: amounts[0],
    decimalsIn: 6,
    tokenOut,
    amountOut: amounts[1],
    decimalsOut: 6,
    reserveIn: reserves[0],
    reserveOut: reserves[1],
  }));

const supply = fc.record({
  kind: fc.constantFrom("mint" as const, "burn" as const),
  instructionIndex: fc.integer({ min: 4, max: 6 }),
  leg: fc.constant(0),
  mint: fc.constantFrom("A", "B"),
  amount,
  decimals: fc.constant(6),
  accountCount: fc.constant(3),
  authority: fc.constant(null),
});

const balance: fc.Arbitrary<BalanceChange> = fc.record({
  tokenAccount: fc.constantFrom("t1", "t2", "t3"),
  mint: fc.constantFrom("A", "B"),
  owner: fc.constantFrom("x", "y", null),
  decimals: fc.constant(6),
  isToken2022: fc.boolean(),
  before: amount,
  after: fc.oneof(fc.constant(0n), amount),
});

/** What the transactions of a block may contain, of few tokens, pools and wallets, so that they meet. */
export const transactions: fc.Arbitrary<DecodedTransaction[]> = fc
  .array(
    fc.record({
      feePayer: fc.constantFrom("x", "y", "z"),
      events: fc.uniqueArray(fc.oneof(trade, supply), {
        selector: (event) => event.instructionIndex,
        maxLength: 3,
      }),
      balances: fc.array(balance, { maxLength: 3 }),
    }),
    { maxLength: 3 },
  )
  .map((found) =>
    found.map((each, i) => ({ ...each, transactionIndex: i, signature: `s${i}`, disagreements: [] })),
  );
