/**
 * What an observer should find in a generated block, from the programs that made it, independent of the decoder.
 * Amounts are raw units, addresses base58.
 */
import type { ExpectedBase } from "./chain/execution.ts";

export type ExchangeName = "raydium" | "orca" | "meteora" | "pumpfun";

interface ExpectedPoolEvent extends ExpectedBase {
  readonly leg: number;
  readonly dex: ExchangeName;
  /** Name of the program in facts. */
  readonly program: string;
  readonly pool: string;
  readonly account: string;
}

/** `amountIn` is what the pool's vault received, `amountOut` what left it, both including what becomes fees. */
export interface ExpectedTrade extends ExpectedPoolEvent {
  readonly kind: "trade";
  readonly tokenIn: string;
  readonly amountIn: bigint;
  readonly decimalsIn: number;
  readonly tokenOut: string;
  readonly amountOut: bigint;
  readonly decimalsOut: number;
  /** After the transaction: the vaults' balances, a bonding curve's real reserves. */
  readonly reserveIn: bigint;
  readonly reserveOut: bigint;
}

export interface ExpectedLiquidity extends ExpectedPoolEvent {
  readonly kind: "add_liquidity" | "remove_liquidity";
  readonly tokenA: string;
  readonly amountA: bigint;
  readonly decimalsA: number;
  readonly tokenB: string;
  readonly amountB: bigint;
  readonly decimalsB: number;
}

export interface ExpectedSupply extends ExpectedBase {
  readonly kind: "mint" | "burn";
  readonly leg: 0;
  readonly mint: string;
  readonly amount: bigint;
  readonly decimals: number;
  readonly accountCount: number;
  readonly authority: string;
}

export type ExpectedEvent = (ExpectedTrade | ExpectedLiquidity | ExpectedSupply) & {
  readonly instructionIndex: number;
};

export interface ExpectedBalance {
  readonly tokenAccount: string;
  readonly mint: string;
  readonly owner: string;
  readonly decimals: number;
  readonly isToken2022: boolean;
  readonly before: bigint;
  readonly after: bigint;
}

/** Of a transaction that succeeded; in the order of execution, balances in the order of the transaction's accounts. */
export interface ExpectedTransaction {
  /** Place in the block, votes counted. */
  readonly transactionIndex: number;
  readonly signature: string;
  readonly feePayer: string;
  readonly events: readonly ExpectedEvent[];
  readonly balances: readonly ExpectedBalance[];
}
