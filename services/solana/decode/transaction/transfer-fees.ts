/**
 * Token-2022 withholds a transfer fee from what arrives, and a plain TransferChecked does not have its amount. The fee is
 * the difference between the account's transfers and the gain of its balance.
 */
import { balanceGain, findToken, type TokenBalances } from "./balances.ts";
import type { TokenOps, Transfer } from "./token-ops.ts";

/**
 * Lowers `received` of the transfers into Token-2022 accounts by what was withheld of them. Only checked transfers can
 * pay a fee.
 */
export function findTransferFees(ops: TokenOps, balances: TokenBalances): void {
  const done = new Set<number>();
  for (const { destination, mint, isFeeKnown } of ops.transfers) {
    if (isFeeKnown || mint === undefined || done.has(destination)) continue;
    done.add(destination);
    // A closed account has no balance to compare with.
    if (balances.after[destination] === undefined || !findToken(balances, destination)?.isToken2022) continue;
    applyWithheldFees(destination, ops, balances);
  }
}

function applyWithheldFees(account: number, ops: TokenOps, balances: TokenBalances): void {
  let withheld = -balanceGain(balances, account);
  for (const transfer of ops.transfers) {
    if (transfer.destination === account) withheld += transfer.received;
    if (transfer.source === account) withheld -= transfer.amount;
  }
  for (const { kind, tokenAccount, amount } of ops.supply) {
    if (tokenAccount === account) withheld += kind === "mint" ? amount : -amount;
  }
  if (withheld <= 0n) return;
  spreadFees(
    ops.transfers.filter(
      (transfer) => transfer.destination === account && !transfer.isFeeKnown && transfer.mint !== undefined,
    ),
    withheld,
  );
}

const BASIS_POINTS = 10_000n;

/**
 * Spreads a sum of fees over several transfers into one account: at the one rate, in whole basis points and rounded up
 * as the program does, that gives the sum; where there is none (a fee at its maximum), by amount.
 */
function spreadFees(transfers: readonly Transfer[], withheld: bigint): void {
  const total = transfers.reduce((sum, transfer) => sum + transfer.amount, 0n);
  if (total < withheld) return;
  const guess = (withheld * BASIS_POINTS) / total;
  for (const rate of [guess, guess + 1n, guess - 1n]) {
    const fees = transfers.map(({ amount }) => (amount * rate + BASIS_POINTS - 1n) / BASIS_POINTS);
    if (fees.reduce((sum, fee) => sum + fee, 0n) !== withheld) continue;
    transfers.forEach((transfer, i) => {
      transfer.received = transfer.amount - (fees[i] as bigint);
    });
    return;
  }
  let left = withheld;
  transfers.forEach((transfer, i) => {
    const fee = i === transfers.length - 1 ? left : (withheld * transfer.amount) / total;
    transfer.received = transfer.amount - fee;
    left -= fee;
  });
}
