import { rpow } from "./rpow.ts";

/** What an EVK vault has and owes at one moment, and what lets it grow. Raw units of the asset, but for what is said. */
export type Books = {
  readonly cash: bigint;
  /** All shares, those of the fees included. */
  readonly shares: bigint;
  /** Shares that are kept for governor and protocol. */
  readonly fees: bigint;
  /** In 2^-31 of the asset's unit. */
  readonly debt: bigint;
  /** 27 decimals. */
  readonly accumulator: bigint;
  /** Per second, 27 decimals. Constant until the vault's status is checked again, which its events tell. */
  readonly rate: bigint;
  /** Part of the interest, in ten-thousandths. */
  readonly interestFee: number;
};

const ONE = 10n ** 27n;
const DEBT_SHIFT = 31n;
const FEE_SCALE = 10_000n;
const LIMIT = 1n << 256n;
/** Most of anything that a vault counts. */
export const MAX_AMOUNT = (1n << 112n) - 1n;
const MAX_DEBT = MAX_AMOUNT << DEBT_SHIFT;
/** Counted in on both sides wherever shares become assets. */
const VIRTUAL_DEPOSIT = 1_000_000n;

/**
 * The books some seconds later, in the contract's own integer steps: interest compounds every second, debts are kept
 * with 31 more bits, the fee is whole units turned into new shares. What would leave the contract's range does not grow.
 * Source: Euler Vault Kit, Cache.
 *
 * The contract accrues from its last update, which no getter tells, we from the block that was read. Where that is a later
 * one, debt is rounded once more (some 10^-20 of it after a year), and fee shares made up to it share in the interest
 * after it: other shares are then worth less by fee × (1 − fee) × yield before × yield after. Supply and debt are not.
 */
export function accrue(books: Books, seconds: number): Books {
  if (seconds === 0) return books;
  const growth = rpow(books.rate + ONE, { n: BigInt(seconds), scale: ONE });
  const grown = growth === null ? LIMIT : books.accumulator * growth;
  const accumulator = grown < LIMIT ? grown / ONE : books.accumulator;
  const owed = books.debt * accumulator;
  const debt = owed < LIMIT ? owed / books.accumulator : books.debt;
  if (debt > MAX_DEBT) return books;

  const feeAssets = ((debt - books.debt) * BigInt(books.interestFee)) / (FEE_SCALE << DEBT_SHIFT);
  const later = { ...books, accumulator, debt };
  if (feeAssets === 0n) return later;
  const assets = totalAssets(later);
  const shares = (assets * books.shares) / (assets - feeAssets);
  if (shares > MAX_AMOUNT) return later;
  return { ...later, shares, fees: books.fees + shares - books.shares };
}

/** Debt in whole units, rounded up as the contract does. */
export function totalBorrows({ debt }: Pick<Books, "debt">): bigint {
  return (debt + (1n << DEBT_SHIFT) - 1n) >> DEBT_SHIFT;
}

export function totalAssets(books: Pick<Books, "cash" | "debt">): bigint {
  return books.cash + totalBorrows(books);
}

/** What shares are worth, rounded down (convertToAssets, previewRedeem). */
export function toAssets(books: Pick<Books, "cash" | "debt" | "shares">, shares: bigint): bigint {
  return (shares * (totalAssets(books) + VIRTUAL_DEPOSIT)) / (books.shares + VIRTUAL_DEPOSIT);
}
