import type { ProgramFrame } from "../chain/execution.ts";
import type { ExpectedLiquidity, ExpectedTrade } from "../expected.ts";
import { type Exchange, findSides, type Pair, type Pool, type SwapOrder } from "./pool.ts";

/** Adds an expected swap; reserves are those after the whole transaction. */
export function expectTrade(
  frame: ProgramFrame,
  { program, dex }: Pick<Exchange, "program" | "dex">,
  trade: Pick<SwapOrder, "pool" | "user" | "aToB"> & {
    readonly amountIn: bigint;
    readonly amountOut: bigint;
    readonly leg?: 0 | 1;
    /** Those of the token that goes in and the one that comes out; default the vaults. */
    readonly reserves?: () => Pair<bigint>;
  },
): void {
  const { ledger } = frame;
  const { pool, user, amountIn, amountOut, leg = 0 } = trade;
  const { mintIn, mintOut, vaultIn, vaultOut } = findSides(ledger, trade);
  frame.expect(() => {
    const [reserveIn, reserveOut] = trade.reserves?.() ?? [
      ledger.amountOf(vaultIn),
      ledger.amountOf(vaultOut),
    ];
    const expected: ExpectedTrade = {
      kind: "trade",
      leg,
      dex,
      program,
      pool: pool.address,
      account: user,
      tokenIn: mintIn,
      amountIn,
      decimalsIn: ledger.mint(mintIn).decimals,
      tokenOut: mintOut,
      amountOut,
      decimalsOut: ledger.mint(mintOut).decimals,
      reserveIn,
      reserveOut,
    };
    return [expected];
  });
}

/** Adds an expected liquidity change; amounts by the vaults. */
export function expectLiquidity(
  frame: ProgramFrame,
  { program, dex }: Pick<Exchange, "program" | "dex">,
  change: {
    readonly kind: ExpectedLiquidity["kind"];
    readonly pool: Pool;
    readonly user: string;
    readonly amounts: Pair<bigint>;
  },
): void {
  const { kind, pool, user, amounts } = change;
  const [tokenA, tokenB] = pool.mints;
  const expected: ExpectedLiquidity = {
    kind,
    leg: 0,
    dex,
    program,
    pool: pool.address,
    account: user,
    tokenA,
    amountA: amounts[0],
    decimalsA: frame.ledger.mint(tokenA).decimals,
    tokenB,
    amountB: amounts[1],
    decimalsB: frame.ledger.mint(tokenB).decimals,
  };
  frame.expect(() => [expected]);
}
