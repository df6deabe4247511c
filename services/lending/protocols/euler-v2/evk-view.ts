import type { Unit } from "../protocol.ts";
import { accrue, type Books, MAX_AMOUNT, totalAssets, totalBorrows } from "./accrual.ts";
import { decodeAmountCap } from "./amount-cap.ts";
import { less, min } from "./bigints.ts";
import type { Collateral, EvkState } from "./evk-state.ts";

/** An EVK vault at one moment. Amounts are raw. */
export interface EvkView {
  readonly address: string;
  readonly state: EvkState;
  readonly books: Books;
  readonly supplied: bigint;
  readonly borrowed: bigint;
  readonly available: bigint;
  /** The contract's maxDeposit(). */
  readonly depositable: bigint;
  /** Null = none. */
  readonly supplyCap: bigint | null;
  readonly borrowCap: bigint | null;
  readonly supplyApy: number;
  readonly borrowApy: number;
  readonly utilization: number;
  /** Collaterals that new debt may be taken on. */
  readonly collaterals: readonly Collateral[];
  /** Highest borrow LTV as a fraction; null without collaterals. */
  readonly ltv: number | null;
  readonly borrowable: boolean;
}

/** Operations that a vault's governor can hook. Source: Euler Vault Kit, Constants. */
const OP_DEPOSIT = 1 << 0;
const OP_BORROW = 1 << 6;

/** 365.2425 days, as Euler's lenses count a year. */
const YEAR_SECONDS = 31_556_952;
const LTV_SCALE = 10_000;

/** The vault with interest up to `time` (Unix seconds). */
export function viewEvk({ id, state, time: since }: Unit<EvkState>, time: number): EvkView {
  const books = accrue(state.books, time - since);
  const supplied = totalAssets(books);
  const borrowed = totalBorrows(books);
  const supplyCap = decodeAmountCap(state.supplyCap);
  const borrowCap = decodeAmountCap(state.borrowCap);
  const supplyRoom = supplyCap === null ? MAX_AMOUNT : less(supplyCap, supplied);
  const utilization = supplied === 0n ? 0 : Number(borrowed) / Number(supplied);
  const borrowApy = apyOf(books.rate);
  const collaterals = state.collaterals.filter(({ borrowLtv }) => borrowLtv > 0);
  return {
    address: id,
    state,
    books,
    supplied,
    borrowed,
    available: borrowCap === null ? books.cash : min(books.cash, less(borrowCap, borrowed)),
    depositable: isDisabled(state, OP_DEPOSIT) ? 0n : min(supplyRoom, MAX_AMOUNT - books.cash),
    supplyCap,
    borrowCap,
    supplyApy: (borrowApy * utilization * (LTV_SCALE - books.interestFee)) / LTV_SCALE,
    borrowApy,
    utilization,
    collaterals,
    ltv:
      collaterals.length === 0
        ? null
        : Math.max(...collaterals.map(({ borrowLtv }) => borrowLtv)) / LTV_SCALE,
    borrowable:
      !isDisabled(state, OP_BORROW) &&
      borrowCap !== 0n &&
      collaterals.length > 0 &&
      // Without an oracle the vault refuses every loan.
      BigInt(state.oracle) !== 0n,
  };
}

/** (1 + rate / 1e27)^year − 1 of a rate per second with 27 decimals. */
export function apyOf(rate: bigint): number {
  return Math.expm1(YEAR_SECONDS * Math.log1p(Number(rate) / 1e27));
}

export function ltvOf({ borrowLtv }: Collateral): number {
  return borrowLtv / LTV_SCALE;
}

/** A hooked operation fails where there is no target to ask; what a target would say is not known. */
function isDisabled({ hookedOps, hookTarget }: EvkState, operation: number): boolean {
  return (hookedOps & operation) !== 0 && BigInt(hookTarget) === 0n;
}
