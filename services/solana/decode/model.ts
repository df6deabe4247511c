/** Decoded transactions: pure data, amounts in raw units. Addresses and mints are base58 texts. */

/** The exchanges, as the `dex` column spells them. */
export type Dex = "raydium" | "orca" | "meteora" | "pumpfun";

/** Native SOL counts as this mint wherever a program moves lamports in place of tokens. */
export const WRAPPED_SOL = "So11111111111111111111111111111111111111112";

interface InstructionPosition {
  /**
   * Index of the instruction in the order of execution: top-level and inner instructions counted together from 0. Every
   * decoding gives the same, so that slot, transactionIndex, instructionIndex and leg identify a row for ever.
   */
  readonly instructionIndex: number;
  /** 0; counts on where an instruction touches several pools, or takes liquidity out and puts it in again. */
  readonly leg: number;
}

interface PoolEventBase extends InstructionPosition {
  readonly dex: Dex;
  /** raydium-clmm, pumpswap … */
  readonly program: string;
  readonly pool: string;
  /** The trader or provider that the instruction names, if it signed the transaction; else (routers) the fee payer. */
  readonly account: string;
}

/**
 * Tokens that moved, by the pool's own vaults: `in` is what the pool received (less a Token-2022 transfer fee), `out`
 * what left it. Fees that lie in the vaults or are paid out of them are within, fees paid past the pool are not. One of
 * the amounts can be 0.
 */
export interface Trade extends PoolEventBase {
  readonly kind: "trade";
  readonly tokenIn: string;
  readonly amountIn: bigint;
  readonly decimalsIn: number;
  readonly tokenOut: string;
  readonly amountOut: bigint;
  readonly decimalsOut: number;
  /**
   * What the pool holds of each token after the transaction: balances of its vaults, a bonding curve's real reserves;
   * null if unknown. Prices weigh pools by it.
   */
  readonly reserveIn: bigint | null;
  readonly reserveOut: bigint | null;
}

/**
 * Tokens that were added to or removed from a pool, by its vaults: a removal includes fees paid with it. One side may
 * be 0. A and B are the pool's first and second token, except where the instruction names only the token that moved:
 * that is then A, and tokenB is empty.
 */
export interface LiquidityChange extends PoolEventBase {
  readonly kind: "add_liquidity" | "remove_liquidity";
  readonly tokenA: string;
  readonly amountA: bigint;
  readonly decimalsA: number;
  readonly tokenB: string;
  readonly amountB: bigint;
  readonly decimalsB: number;
}

/** A mint or burn of a token by its token program, at any depth. */
export interface SupplyChange extends InstructionPosition {
  readonly kind: "mint" | "burn";
  readonly mint: string;
  readonly amount: bigint;
  readonly decimals: number;
  readonly accountCount: number;
  readonly authority: string | null;
}

/** A token account's balance after the transaction, where that or its owner differs from before. */
export interface BalanceChange {
  readonly tokenAccount: string;
  readonly mint: string;
  /** Wallet; null in blocks before 2021. */
  readonly owner: string | null;
  readonly decimals: number;
  readonly isToken2022: boolean;
  readonly before: bigint;
  /** 0 also where the account was closed. */
  readonly after: bigint;
}

/**
 * The amounts moved disagree with the exchange's own event, or an instruction that should give a row gives none: counted,
 * and logged with the signature.
 */
export interface Disagreement {
  readonly instructionIndex: number;
  /** As in AtPool; "token" for the token programs. */
  readonly program: string;
  readonly reason: string;
}

/** A transaction that succeeded and has rows, balances or disagreements. */
export interface DecodedTransaction {
  /** Place in the block, votes counted: the same whatever the block was read from. */
  readonly transactionIndex: number;
  readonly signature: string;
  readonly feePayer: string;
  readonly events: readonly (Trade | LiquidityChange | SupplyChange)[];
  readonly balances: readonly BalanceChange[];
  /** Swaps by programs without a layout, as far as balances show them; absent = none. */
  readonly otherSwaps?: number;
  readonly disagreements: readonly Disagreement[];
}
