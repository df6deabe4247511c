import { namedIntegers } from "../protocols/integers.ts";
import { INDEX_SCALE } from "./v2-bucket.ts";

/** A wallet's position in a v2 pool. Immutable: every event creates a new one. */
export interface LpPosition {
  /** LP tokens in the wallet, raw units. They earn swap fees. */
  readonly balance: bigint;
  /** LP tokens in the pool's gauge, raw units. They earn emissions; their swap fees go to the gauge's voters. */
  readonly staked: bigint;
  /** index0 and index1 of the pool when the wallet was last settled. */
  readonly index0: bigint;
  readonly index1: bigint;
  /** Swap fees earned up to then since the first indexed block, claimed or not, raw units. */
  readonly earned0: bigint;
  readonly earned1: bigint;
}

/** The pool's cumulative fees per LP token × 1e18: index0() and index1() of the contract. */
export interface FeeIndex {
  readonly index0: bigint;
  readonly index1: bigint;
}

export const EMPTY_POSITION: LpPosition = {
  balance: 0n,
  staked: 0n,
  index0: 0n,
  index1: 0n,
  earned0: 0n,
  earned1: 0n,
};

/**
 * The position with the fees of its balance up to an index: balance × (index − index then) / 1e18, rounded down. The
 * contract settles like this before every transfer and claim: with the same events, earned0 equals, to the wei, what
 * a wallet has claimed and can claim. (A claim of nothing settles without an event; it can lose less than one raw
 * unit.) Source: Aerodrome Pool._updateFor.
 */
export function settle(position: LpPosition, index: FeeIndex): LpPosition {
  return {
    balance: position.balance,
    staked: position.staked,
    index0: index.index0,
    index1: index.index1,
    earned0: position.earned0 + (position.balance * (index.index0 - position.index0)) / INDEX_SCALE,
    earned1: position.earned1 + (position.balance * (index.index1 - position.index1)) / INDEX_SCALE,
  };
}

/** After a Transfer of LP tokens; `amount` is negative for the sender. */
export function applyTransfer(position: LpPosition, options: FeeIndex & { amount: bigint }): LpPosition {
  const settled = settle(position, options);
  return { ...settled, balance: settled.balance + options.amount };
}

/** After a gauge's Deposit, or with a negative amount its Withdraw. The LP tokens move by a Transfer of their own. */
export function applyStake(position: LpPosition, amount: bigint): LpPosition {
  return { ...position, staked: position.staked + amount };
}

/** A position as text. */
export const positionText = namedIntegers(["balance", "staked", "index0", "index1", "earned0", "earned1"]);
