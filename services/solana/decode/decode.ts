/**
 * What transactions tell of the four exchanges: pure, without I/O.
 *
 * Amounts are the pool's: what its vaults received and what left them, by the token transfers beneath the exchange's
 * instruction. They are the ledger, so that an exchange's event that tells otherwise is reported and the transfers are
 * taken. Only lamports that a bonding curve pays are taken from its event: no transfer tells them.
 */
import type { SolanaBlock, SolanaTransaction } from "../chain/port.ts";
import { balanceChanges, decimalsOf } from "./balances.ts";
import { BrokenTransactionError } from "./errors.ts";
import { type Laid, lay } from "./lay.ts";
import type { DecodedTransaction, SupplyChange } from "./model.ts";
import { type Told, tellInstruction } from "./rows.ts";
import type { SupplyOp } from "./token-ops.ts";
import { findTransferFees } from "./transfer-fees.ts";

export interface DecodedBlock {
  /** Those that tell something, in the order of the block. */
  readonly transactions: readonly DecodedTransaction[];
  /** Transactions that no node should have sent: their rows are missing. */
  readonly broken: readonly { readonly signature: string | null; readonly reason: string }[];
}

export function decodeBlock(block: SolanaBlock): DecodedBlock {
  const transactions: DecodedTransaction[] = [];
  const broken: { signature: string | null; reason: string }[] = [];
  for (const transaction of block.transactions) {
    try {
      const decoded = decodeTransaction(transaction);
      if (decoded !== undefined) transactions.push(decoded);
    } catch (error) {
      broken.push({
        signature: signatureOf(transaction),
        reason: error instanceof Error ? error.message : String(error),
      });
    }
  }
  return { transactions, broken };
}

/** Of whatever a node sent. */
function signatureOf(transaction: SolanaTransaction | undefined | null): string | null {
  const signature: unknown = transaction?.transaction?.signatures?.[0];
  return typeof signature === "string" ? signature : null;
}

/**
 * Undefined for a transaction that failed or tells nothing. Throws (BrokenTransactionError mostly) for what is no
 * transaction of the cluster, as decodeBlock counts.
 */
export function decodeTransaction(transaction: SolanaTransaction): DecodedTransaction | undefined {
  const { meta } = transaction;
  if (meta === undefined || meta === null)
    throw new BrokenTransactionError("A transaction came without its meta.");
  if (meta.err !== undefined && meta.err !== null) return undefined;
  const laid = lay(transaction, meta);
  const told: Told = { rows: [], disagreements: [] };
  if (laid.found.length > 0) {
    findTransferFees(laid.ops, laid.balances);
    for (const found of laid.found) tellInstruction(laid, found, told);
  }
  const supply = supplyChanges(laid, told);
  const events =
    supply.length === 0
      ? told.rows
      : [...told.rows, ...supply].sort((a, b) => a.instructionIndex - b.instructionIndex);
  const balances = balanceChanges(laid.balances, laid.keys);
  if (events.length === 0 && balances.length === 0 && told.disagreements.length === 0) return undefined;
  return {
    signature: transaction.transaction.signatures[0] as string,
    feePayer: laid.keys[0] as string,
    events,
    balances,
    disagreements: told.disagreements,
  };
}

function supplyChanges(laid: Laid, told: Told): SupplyChange[] {
  const changes: SupplyChange[] = [];
  for (const op of laid.ops.supply) {
    const decimals = decimalsOfMint(laid, op);
    if (decimals === undefined) {
      told.disagreements.push({
        instructionIndex: op.at,
        program: "token",
        what: `decimals of mint ${laid.keys[op.mint]} are not told`,
      });
      continue;
    }
    const previous = changes.at(-1);
    changes.push({
      kind: op.kind,
      instructionIndex: op.at,
      leg: previous?.instructionIndex === op.at ? previous.leg + 1 : 0,
      mint: laid.keys[op.mint] as string,
      amount: op.amount,
      decimals,
      accountCount: op.accountCount,
      authority: op.authority === undefined ? null : (laid.keys[op.authority] as string),
    });
  }
  return changes;
}

function decimalsOfMint(laid: Laid, op: SupplyOp): number | undefined {
  return (
    op.decimals ??
    decimalsOf(laid.balances, laid.keys[op.mint] as string) ??
    laid.ops.newMints.find(({ mint }) => mint === op.mint)?.decimals
  );
}
