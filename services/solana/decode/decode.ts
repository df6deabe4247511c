/**
 * Rows of the four exchanges from transactions: pure, without I/O.
 *
 * Amounts are the pool's: what its vaults received and what left them, by the token transfers within the exchange's
 * instruction. Transfers are the ledger: an exchange's event that disagrees is reported, and the transfers count. Only
 * lamports that a bonding curve pays come from its event: no transfer has them.
 *
 * An instruction that cannot be decoded is reported and loses its own rows, a transaction that is not one loses all of
 * them, and the block goes on: one transaction must not stop the cluster.
 */
import type { SolanaBlock, SolanaTransaction } from "../chain/port.ts";
import { type DecodedRows, decodeInstruction } from "./decode-instruction.ts";
import { BrokenTransactionError } from "./errors.ts";
import type { DecodedTransaction, SupplyChange } from "./model.ts";
import { countSwapsByBalances } from "./other-swaps.ts";
import { findDecimals, listBalanceChanges } from "./transaction/balances.ts";
import {
  type ExchangeCall,
  type ParsedTransaction,
  parseTransaction,
} from "./transaction/parse-transaction.ts";
import type { SupplyOp } from "./transaction/token-ops.ts";
import { findTransferFees } from "./transaction/transfer-fees.ts";

export interface DecodedTransactions {
  /** Those with rows, balances or disagreements, in the order of the block. */
  readonly transactions: readonly DecodedTransaction[];
  /** Transactions that could not be decoded: their rows are missing. */
  readonly broken: readonly BrokenTransaction[];
}

export interface BrokenTransaction {
  readonly signature: string | null;
  readonly reason: string;
}

export function decodeBlock(block: Pick<SolanaBlock, "transactions">): DecodedTransactions {
  return joinTried(block.transactions.map(tryDecodeTransaction));
}

/** The transactions of a block, tried one by one. */
export function joinTried(tried: readonly TriedTransaction[]): DecodedTransactions {
  const transactions: DecodedTransaction[] = [];
  const broken: BrokenTransaction[] = [];
  for (const { decoded, brokenBy } of tried) {
    if (decoded !== undefined) transactions.push(decoded);
    if (brokenBy !== undefined) broken.push(brokenBy);
  }
  return { transactions, broken };
}

/** A transaction's rows, or why it could not be decoded. */
export interface TriedTransaction {
  readonly decoded?: DecodedTransaction | undefined;
  readonly brokenBy?: BrokenTransaction | undefined;
}

/** decodeTransaction for any value: never throws. */
export function tryDecodeTransaction(transaction: SolanaTransaction, place?: number): TriedTransaction {
  try {
    return { decoded: decodeTransaction(transaction, place) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { brokenBy: { signature: readSignature(transaction), reason } };
  }
}

/** Accepts whatever a node sent. */
function readSignature(transaction: SolanaTransaction | undefined | null): string | null {
  const signature: unknown = transaction?.transaction?.signatures?.[0];
  return typeof signature === "string" ? signature : null;
}

/**
 * Undefined for a transaction that failed, or that has no rows, balances or disagreements. Throws (BrokenTransactionError
 * mostly) for a value that is not a transaction; decodeBlock counts these.
 *
 * @param place of a transaction that does not say its own, as in recordings
 */
export function decodeTransaction(transaction: SolanaTransaction, place = 0): DecodedTransaction | undefined {
  const { meta } = transaction;
  if (meta === undefined || meta === null)
    throw new BrokenTransactionError("A transaction came without its meta.");
  if (meta.err !== undefined && meta.err !== null) return undefined;
  const parsed = parseTransaction(transaction, meta);
  const decoded: DecodedRows = { rows: [], disagreements: [] };
  if (parsed.exchangeCalls.length > 0) {
    findTransferFees(parsed.tokenOps, parsed.balances);
    for (const call of parsed.exchangeCalls) decodeCall(parsed, call, decoded);
  }
  const supply = listSupplyChanges(parsed, decoded);
  const events =
    supply.length === 0
      ? decoded.rows
      : [...decoded.rows, ...supply].sort((a, b) => a.instructionIndex - b.instructionIndex);
  const balances = listBalanceChanges(parsed.balances, parsed.keys);
  const signers = new Set(parsed.keys.slice(0, parsed.signerCount));
  const trades = decoded.rows.reduce((sum, { kind }) => sum + (kind === "trade" ? 1 : 0), 0);
  const otherSwaps = Math.max(0, countSwapsByBalances(balances, signers) - trades);
  if (events.length === 0 && balances.length === 0 && decoded.disagreements.length === 0) return undefined;
  return {
    transactionIndex: transaction.transactionIndex ?? place,
    signature: transaction.transaction.signatures[0] as string,
    feePayer: parsed.keys[0] as string,
    events,
    balances,
    ...(otherSwaps > 0 && { otherSwaps }),
    disagreements: decoded.disagreements,
  };
}

/**
 * An instruction whose event or data has a length that no known version has loses its own rows: those of the other
 * instructions, and the balances, do not depend on it.
 */
function decodeCall(parsed: ParsedTransaction, call: ExchangeCall, decoded: DecodedRows): void {
  const own: DecodedRows = { rows: [], disagreements: [] };
  try {
    decodeInstruction(parsed, call, own);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof BrokenTransactionError)) throw error;
    const { instructionIndex, program, instruction } = call;
    const reason = `${instruction.layout.name} cannot be decoded: ${error.message}`;
    decoded.disagreements.push({ instructionIndex, program: program.layout.name, reason });
    return;
  }
  decoded.rows.push(...own.rows);
  decoded.disagreements.push(...own.disagreements);
}

function listSupplyChanges(parsed: ParsedTransaction, decoded: DecodedRows): SupplyChange[] {
  const changes: SupplyChange[] = [];
  for (const op of parsed.tokenOps.supply) {
    const decimals = findMintDecimals(parsed, op);
    if (decimals === undefined) {
      decoded.disagreements.push({
        instructionIndex: op.instructionIndex,
        program: "token",
        reason: `decimals of mint ${parsed.keys[op.mint]} are unknown`,
      });
      continue;
    }
    const previous = changes.at(-1);
    changes.push({
      kind: op.kind,
      instructionIndex: op.instructionIndex,
      leg: previous?.instructionIndex === op.instructionIndex ? previous.leg + 1 : 0,
      mint: parsed.keys[op.mint] as string,
      amount: op.amount,
      decimals,
      accountCount: op.accountCount,
      authority: op.authority === undefined ? null : (parsed.keys[op.authority] as string),
    });
  }
  return changes;
}

function findMintDecimals(parsed: ParsedTransaction, op: SupplyOp): number | undefined {
  return (
    op.decimals ??
    findDecimals(parsed.balances, parsed.keys[op.mint] as string) ??
    parsed.tokenOps.newMints.find(({ mint }) => mint === op.mint)?.decimals
  );
}
