import { rpow } from "./rpow.ts";

/** An EVK vault's balances at one moment, and its interest parameters. Raw units of the asset unless stated. */
export type Books = {
  readonly cash: bigint;
  /** All shares, fee shares included. */
  readonly shares: bigint;
  /** Shares accumulated for governor and protocol. */
  readonly fees: bigint;
  /** In 2^-31 of the asset's unit. */
  readonly debt: bigint;
  /** 27 decimals. */
  readonly accumulator: bigint;
  /** Per second, 27 decimals. Constant until the vault's next status check, which emits an event. */
  readonly rate: bigint;
  /** Part of the interest, in ten-thousandths. */
  readonly interestFee: number;
};

const ONE = 10n ** 27n;
const DEBT_SHIFT = 31n;
const FEE_SCALE = 10_000n;
const LIMIT = 1n << 256n;
/** The EVK's maximum of any amount (MAX_SANE_AMOUNT). */
export const MAX_AMOUNT = (1n << 112n) - 1n;
const MAX_DEBT = MAX_AMOUNT << DEBT_SHIFT;
/** Added to assets and shares in every conversion. */
const VIRTUAL_DEPOSIT = 1_000_000n;

/**
 * The books some seconds later, in the contract's own integer steps: interest compounds every second, debts have 31 more
 * bits, the fee in whole units becomes new shares. A value that would leave the contract's range does not grow.
 * Source: Euler Vault Kit, Cache.
 *
 * The contract accrues from its last update, which no getter returns; this accrues from the block of the reading. If that
 * is later, debt is rounded once more (some 10^-20 of it after a year), and fee shares minted up to it earn the interest
 * after it: other shares are then worth less by fee × (1 − fee) × yield before × yield after; by nothing where the block of
 * the reading is the vault's last update. Supply and debt are exact.
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

/** The assets of shares, rounded down (convertToAssets, previewRedeem). */
export function toAssets(books: Pick<Books, "cash" | "debt" | "shares">, shares: bigint): bigint {
  return (shares * (totalAssets(books) + VIRTUAL_DEPOSIT)) / (books.shares + VIRTUAL_DEPOSIT);
}
