import type { Entity } from "../protocol.ts";
import { accrue, type Books, MAX_AMOUNT, totalAssets, totalBorrows } from "./accrual.ts";
import { min, subtractToZero } from "./bigints.ts";
import type { Collateral, EvkState } from "./evk-state.ts";
import { isRefused } from "./hooks.ts";

/** An EVK vault at one moment. Amounts are raw. */
export interface EvkView {
  readonly address: string;
  readonly state: EvkState;
  readonly books: Books;
  readonly supplied: bigint;
  readonly borrowed: bigint;
  /** What depositors could withdraw now: its cash, nothing while withdrawing is refused. */
  readonly available: bigint;
  /** The contract's maxDeposit(), but 0 as well where a hook refuses deposits. */
  readonly depositable: bigint;
  /** Null = uncapped. */
  readonly supplyCap: bigint | null;
  readonly borrowCap: bigint | null;
  readonly supplyApy: number;
  readonly borrowApy: number;
  readonly utilization: number;
  /** Collaterals with a borrow LTV above 0: a lowered LTV holds at once for new debt, only the liquidation LTV is ramped. */
  readonly collaterals: readonly Collateral[];
  /** Highest borrow LTV as a fraction; null without collaterals. */
  readonly ltv: number | null;
  readonly borrowable: boolean;
}

/** A year of 365.2425 days, as in Euler's lenses. */
const YEAR_SECONDS = 31_556_952;
const LTV_SCALE = 10_000;

/** The vault with interest accrued to `time` (Unix seconds) from the block of the reading: see accrue. */
export function viewEvk({ id, state, time: since }: Entity<EvkState>, time: number): EvkView {
  const books = accrue(state.books, time - since);
  const supplied = totalAssets(books);
  const borrowed = totalBorrows(books);
  const supplyCap = decodeAmountCap(state.supplyCap);
  const borrowCap = decodeAmountCap(state.borrowCap);
  const capacity = supplyCap === null ? MAX_AMOUNT : subtractToZero(supplyCap, supplied);
  const utilization = supplied === 0n ? 0 : Number(borrowed) / Number(supplied);
  const borrowApy = apyOf(books.rate);
  const lendable = borrowCap === null ? books.cash : min(books.cash, subtractToZero(borrowCap, borrowed));
  const collaterals = state.collaterals.filter(({ borrowLtv }) => borrowLtv > 0);
  return {
    address: id,
    state,
    books,
    supplied,
    borrowed,
    available: isRefused(state, "withdraw") ? 0n : books.cash,
    depositable: isRefused(state, "deposit") ? 0n : min(capacity, MAX_AMOUNT - books.cash),
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
      !isRefused(state, "borrow") &&
      lendable > 0n &&
      collaterals.length > 0 &&
      // Without an oracle the vault rejects every loan.
      BigInt(state.oracle) !== 0n,
  };
}

/** (1 + rate / 1e27)^year − 1 for a rate per second with 27 decimals. */
export function apyOf(rate: bigint): number {
  return Math.expm1(YEAR_SECONDS * Math.log1p(Number(rate) / 1e27));
}

export function ltvOf({ borrowLtv }: Collateral): number {
  return borrowLtv / LTV_SCALE;
}

/**
 * The raw amount of an Euler AmountCap (uint16); null = uncapped. The low 6 bits are a decimal exponent, the high 10 a
 * mantissa in hundredths; an amount of zero has mantissa 0 and a nonzero exponent. Source: Euler Vault Kit, AmountCap.
 */
export function decodeAmountCap(raw: number): bigint | null {
  if (!Number.isInteger(raw) || raw < 0 || raw > 0xffff)
    throw new RangeError(`Cannot read cap ${raw}: it is not a uint16`);
  return raw === 0 ? null : (10n ** BigInt(raw & 63) * BigInt(raw >> 6)) / 100n;
}
