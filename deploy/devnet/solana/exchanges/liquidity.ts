import type { ProgramFrame } from "../chain/execution.ts";
import { type Ledger, ProgramError } from "../chain/ledger.ts";
import { computeTransferFee, findTokenAccount, transferChecked } from "../chain/token-program.ts";
import { type LiquidityOrder, mapSides, type Pair, type Pool } from "./pool.ts";

/** Shares of a pool that has no mint for them: what the user holds, and all. */
export function readShares(
  ledger: Ledger,
  { pool, user }: Pick<LiquidityOrder, "pool" | "user">,
): { held: bigint; total: bigint } {
  return {
    held: ledger.numberOf(`shares/${pool.name}/${user}`),
    total: ledger.numberOf(`shares/${pool.name}`),
  };
}

export function addShares(
  ledger: Ledger,
  order: Pick<LiquidityOrder, "pool" | "user">,
  shares: bigint,
): void {
  const { held, total } = readShares(ledger, order);
  ledger.numbers.set(`shares/${order.pool.name}/${order.user}`, held + shares);
  ledger.numbers.set(`shares/${order.pool.name}`, total + shares);
}

/** Amounts and shares of an order, of the pool's holdings as they are. */
export function sizeAddition(ledger: Ledger, { pool, bps }: LiquidityOrder, totalShares: bigint) {
  const part = (whole: bigint) => (whole * BigInt(bps)) / 10_000n;
  const amounts = mapSides((side) => part(ledger.amountOf(pool.vaults[side])));
  // The sender pays the token's own fee on top.
  const sent = mapSides((side) => computeGross(ledger, pool.mints[side], amounts[side]));
  return { shares: part(totalShares), sent };
}

export function sizeRemoval(
  ledger: Ledger,
  { pool, bps }: LiquidityOrder,
  { held, total }: { held: bigint; total: bigint },
) {
  const shares = (held * BigInt(bps)) / 10_000n;
  if (shares === 0n || total === 0n) throw new ProgramError(6_002, "nothing to remove");
  const amounts = mapSides((side) => (ledger.amountOf(pool.vaults[side]) * shares) / total);
  return { shares, amounts };
}

/** What has to be sent so that at least this much arrives. */
function computeGross(ledger: Ledger, mint: string, amount: bigint): bigint {
  const { transferFee } = ledger.mint(mint);
  return transferFee === undefined ? amount : (amount * 10_000n) / BigInt(10_000 - transferFee.bps);
}

type Move = typeof transferChecked;

interface Parties extends Pick<LiquidityOrder, "pool" | "user"> {
  /** How tokens are moved; default TransferChecked. */
  readonly move?: Move;
}

/** Both tokens go into the vaults; returns what arrives. */
export function payIn(
  frame: ProgramFrame,
  { pool, user, move = transferChecked }: Parties,
  sent: Pair<bigint>,
): Pair<bigint> {
  return mapSides((side) =>
    move(frame, {
      from: findTokenAccount(frame.ledger, user, pool.mints[side]),
      to: pool.vaults[side],
      authority: user,
      amount: sent[side],
    }),
  );
}

/** Both tokens leave the vaults. */
export function payOut(
  frame: ProgramFrame,
  { pool, user, move = transferChecked }: Parties,
  amounts: Pair<bigint>,
): void {
  mapSides((side) =>
    move(frame, {
      from: pool.vaults[side],
      to: findTokenAccount(frame.ledger, user, pool.mints[side]),
      authority: pool.authority,
      amount: amounts[side],
    }),
  );
}

/** What the tokens themselves take of a transfer. */
export function transferFees(ledger: Ledger, { mints }: Pool, amounts: Pair<bigint>): Pair<bigint> {
  return mapSides((side) => computeTransferFee(ledger.mint(mints[side]), amounts[side]));
}
