/** Sides of a trade on a Pump.fun bonding curve, whose quote side is lamports or a token. */

import { readInstructionData } from "../chain/instruction-data.ts";
import { readU32, readU64 } from "./bytes.ts";
import { type CurveTrade, readCurveTrade, TRADE_EVENT } from "./curve.ts";
import { BrokenTransactionError } from "./errors.ts";
import { findEvent } from "./events.ts";
import { WRAPPED_SOL } from "./model.ts";
import type { Side } from "./sides.ts";
import type { Token } from "./transaction/balances.ts";
import type { InstructionScope, ParsedTransaction } from "./transaction/parse-transaction.ts";

const LAMPORTS: Token = { mint: WRAPPED_SOL, decimals: 9, isToken2022: false };

/** The token's vault on one side, lamports of the curve's own account on the other. */
export interface CurveSides {
  readonly sides: readonly [Side, Side];
  readonly disagreement?: string;
}

/**
 * A buyer's lamports arrive by a system transfer. A seller's lamports leave the curve's account without a call, so only
 * the event has them, or the account's balance where nothing else in the transaction changed it: undefined without
 * either. Rent that a buyer pays into the curve is no part of the trade.
 */
export function readCurveSides(
  scope: InstructionScope,
  { curve, tokens }: { curve: number; tokens: Side },
): CurveSides | undefined {
  const trade = findCurveTrade(scope);
  const eventAmount = trade?.quoteAmount;
  const isBuy = tokens.out > tokens.in;
  const moved = isBuy
    ? chooseBuyLamports(listLamportTransfers(scope.parsed, curve, toSpan(scope)), eventAmount)
    : chooseSellLamports(computePaidLamports(scope, curve), eventAmount);
  if (moved === undefined) return undefined;
  const { lamports, disagreement } = moved;
  // The vault also holds the tokens that migrate to the pool, the account its rent.
  const sides = [
    { token: tokens.token, in: tokens.in, out: tokens.out, reserve: trade?.reserve ?? tokens.reserve },
    {
      token: LAMPORTS,
      in: isBuy ? lamports : 0n,
      out: isBuy ? 0n : lamports,
      reserve: trade?.lamportReserve ?? null,
    },
  ] as const;
  return disagreement === undefined ? { sides } : { sides, disagreement };
}

/** Both sides as the curve's event has them; without a vault of its own, the second side is lamports. */
export function readEventSides(
  scope: InstructionScope,
  [tokens, quote]: readonly [Side, Side | undefined],
): readonly [Side, Side] | undefined {
  const trade = findCurveTrade(scope);
  if (trade === undefined) return undefined;
  const { isBuy, amount, quoteAmount, reserve, lamportReserve } = trade;
  const other = quote ?? { token: LAMPORTS, reserve: lamportReserve };
  return [
    { token: tokens.token, in: isBuy ? 0n : amount, out: isBuy ? amount : 0n, reserve },
    {
      token: other.token,
      in: isBuy ? quoteAmount : 0n,
      out: isBuy ? 0n : quoteAmount,
      reserve: other.reserve,
    },
  ];
}

/** A curve's tokens that are for sale, without those that its vault keeps for the pool it migrates to. */
export function withCurveReserve(scope: InstructionScope, tokens: Side): Side {
  const trade = findCurveTrade(scope);
  if (trade === undefined) return tokens;
  return { token: tokens.token, in: tokens.in, out: tokens.out, reserve: trade.reserve };
}

/**
 * What the curve's event says instead of the amounts that moved, the token's side first; undefined if they agree.
 * Lamports were compared when they were read.
 */
export function compareCurveEvent(
  scope: InstructionScope,
  vaults: readonly [bigint, bigint],
): string | undefined {
  const trade = findCurveTrade(scope);
  if (trade === undefined) return undefined;
  const { amount, quoteAmount } = trade;
  if (vaults[0] === amount && vaults[1] === quoteAmount) return undefined;
  return `TradeEvent has ${amount} and ${quoteAmount}, the curve moved ${vaults[0]} and ${vaults[1]}`;
}

function findCurveTrade(scope: InstructionScope): CurveTrade | undefined {
  const event = findEvent(scope, { discriminator: TRADE_EVENT, nth: 0 });
  return event === undefined ? undefined : readCurveTrade(event);
}

interface MovedLamports {
  readonly lamports: bigint;
  readonly disagreement?: string;
}

function chooseBuyLamports(transfers: readonly bigint[], eventAmount: bigint | undefined): MovedLamports {
  if (eventAmount !== undefined && transfers.includes(eventAmount)) return { lamports: eventAmount };
  return { lamports: transfers.reduce((total, lamports) => total + lamports, 0n) };
}

function chooseSellLamports(
  paid: bigint | undefined,
  eventAmount: bigint | undefined,
): MovedLamports | undefined {
  if (eventAmount === undefined) return paid === undefined ? undefined : { lamports: paid };
  if (paid === undefined || paid === eventAmount) return { lamports: eventAmount };
  return {
    lamports: eventAmount,
    disagreement: `TradeEvent has ${eventAmount} lamports, the curve paid ${paid}`,
  };
}

/** What the curve paid, by its balance: undefined where another trade of the transaction changed that too. */
function computePaidLamports({ parsed, call }: InstructionScope, curve: number): bigint | undefined {
  const { meta, exchangeCalls, flattened } = parsed;
  const hasOtherTrade = exchangeCalls.some(
    (other) =>
      other !== call &&
      flattened.instructions[other.instructionIndex]?.accounts.includes(curve) &&
      other.program === call.program,
  );
  const before = meta.preBalances[curve];
  const after = meta.postBalances[curve];
  if (hasOtherTrade || before === undefined || after === undefined) return undefined;
  const received = listLamportTransfers(parsed, curve, { from: 0, end: flattened.instructions.length });
  return received.reduce((sum, lamports) => sum + lamports, BigInt(before - after));
}

const SYSTEM_PROGRAM = "11111111111111111111111111111111";
/** The system program's transfers by their number, with the position of the account that receives. */
const RECEIVER_POSITIONS = new Map([
  [2, { account: 1 }],
  [11, { account: 2 }],
]);

/** Instructions from `from` to `end`, exclusive. */
interface InstructionSpan {
  readonly from: number;
  readonly end: number;
}

function toSpan({ call, end }: InstructionScope): InstructionSpan {
  return { from: call.instructionIndex + 1, end };
}

function listLamportTransfers(
  parsed: ParsedTransaction,
  account: number,
  { from, end }: InstructionSpan,
): bigint[] {
  const amounts: bigint[] = [];
  for (let index = from; index < end; index++) {
    const instruction = parsed.flattened.instructions[index];
    if (instruction === undefined || parsed.keys[instruction.programIdIndex] !== SYSTEM_PROGRAM) continue;
    if (!instruction.accounts.includes(account)) continue;
    const data = readInstructionData(instruction);
    if (data === undefined) throw new BrokenTransactionError(`Instruction ${index}: its data is not base58.`);
    const receiver = data.length < 12 ? undefined : RECEIVER_POSITIONS.get(readU32(data, 0));
    if (receiver !== undefined && instruction.accounts[receiver.account] === account) {
      amounts.push(readU64(data, 4));
    }
  }
  return amounts;
}
