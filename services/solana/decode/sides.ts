import { decodeBase58 } from "../../shared/contract/base58.ts";
import { findToken, type Token } from "./balances.ts";
import { readU32, readU64 } from "./bytes.ts";
import { readCurveTrade, TRADE_EVENT } from "./curve.ts";
import { BrokenTransactionError } from "./errors.ts";
import { findEvent } from "./events.ts";
import { WRAPPED_SOL } from "./model.ts";
import type { ExchangeCall, ParsedTransaction } from "./parse-transaction.ts";
import type { Transfer } from "./token-ops.ts";

/** An instruction with all that it called. */
export interface InstructionScope {
  readonly call: ExchangeCall;
  /** Exclusive. */
  readonly end: number;
}

/** What moved on one side of a pool. */
export interface Side {
  readonly token: Token;
  /** What the pool received. */
  readonly in: bigint;
  /** What left it. */
  readonly out: bigint;
  /** What it holds after the transaction; null where that is not told. */
  readonly reserve: bigint | null;
}

/** Undefined where nothing tells what the account holds. */
export function readVaultSide(
  parsed: ParsedTransaction,
  scope: InstructionScope,
  account: number,
): Side | undefined {
  const { call } = scope;
  const { orderBookVaults } = call.instruction.layout;
  const own = orderBookVaults?.map((position) => readAccountIndex(parsed, call, position));
  let received = 0n;
  let sent = 0n;
  let token = findToken(parsed.balances, account);
  for (const transfer of listVaultTransfers(parsed, scope, account)) {
    token ??= readTransferToken(parsed, transfer);
    if (transfer.destination !== account) sent += transfer.amount;
    else if (!own?.includes(transfer.source)) received += transfer.received;
  }
  if (token === undefined) return undefined;
  const held = call.program.layout.areVaultsShared ? undefined : parsed.balances.after[account];
  const reserve = held === undefined ? null : BigInt(held.uiTokenAmount.amount);
  return { token, in: received, out: sent, reserve };
}

function listVaultTransfers(
  parsed: ParsedTransaction,
  { call, end }: InstructionScope,
  account: number,
): Transfer[] {
  return parsed.tokenOps.transfers.filter(
    ({ instructionIndex, source, destination }) =>
      instructionIndex > call.instructionIndex &&
      instructionIndex < end &&
      (source === account || destination === account),
  );
}

/** Blocks before 2021 tell no balances: a checked transfer names what it moves. */
function readTransferToken(parsed: ParsedTransaction, { mint, decimals }: Transfer): Token | undefined {
  if (mint === undefined || decimals === undefined) return undefined;
  return { mint: parsed.keys[mint] as string, decimals, isToken2022: false };
}

/** The key's index at a position of an instruction's accounts; undefined beyond them. */
export function readAccountIndex(
  parsed: ParsedTransaction,
  call: ExchangeCall,
  position: number,
): number | undefined {
  return parsed.flattened.instructions[call.instructionIndex]?.accounts[position];
}

const LAMPORTS: Token = { mint: WRAPPED_SOL, decimals: 9, isToken2022: false };

/** A bonding curve's trade: the token's vault on one side, lamports of the curve's own account on the other. */
export interface CurveSides {
  readonly sides: readonly [Side, Side];
  readonly disagreement?: string;
}

/**
 * A buyer's lamports come by a system transfer; what a seller gets the program takes off the curve's account without a
 * call, so that only the event tells it, and the account's balance where nothing else in the transaction changed that:
 * undefined if neither does. Rent that a buyer pays into the curve is no part of the trade.
 */
export function readCurveSides(
  parsed: ParsedTransaction,
  scope: InstructionScope,
  { curve, tokens }: { curve: number; tokens: Side },
): CurveSides | undefined {
  const { call, end } = scope;
  const event = findEvent(parsed, { call, end, discriminator: TRADE_EVENT, nth: 0 });
  const trade = event === undefined ? undefined : readCurveTrade(event);
  const told = trade?.quoteAmount;
  const isBuy = tokens.out > tokens.in;
  const moved = isBuy
    ? chooseBuyLamports(listLamportTransfers(parsed, curve, scope), told)
    : chooseSellLamports(computePaidLamports(parsed, call, curve), told);
  if (moved === undefined) return undefined;
  const { lamports, disagreement } = moved;
  // The vault also holds the tokens that migrate to the pool, the account its rent.
  const sides = [
    { ...tokens, reserve: trade?.reserve ?? tokens.reserve },
    {
      token: LAMPORTS,
      in: isBuy ? lamports : 0n,
      out: isBuy ? 0n : lamports,
      reserve: trade?.lamportReserve ?? null,
    },
  ] as const;
  return disagreement === undefined ? { sides } : { sides, disagreement };
}

/** Both sides as the curve's event tells them; without a vault of its own, the second side is lamports. */
export function readEventSides(
  parsed: ParsedTransaction,
  { call, end }: InstructionScope,
  [tokens, quote]: readonly [Side, Side | undefined],
): readonly [Side, Side] | undefined {
  const event = findEvent(parsed, { call, end, discriminator: TRADE_EVENT, nth: 0 });
  if (event === undefined) return undefined;
  const { isBuy, amount, quoteAmount, reserve, lamportReserve } = readCurveTrade(event);
  const flow = (value: bigint, isIn: boolean) => ({ in: isIn ? value : 0n, out: isIn ? 0n : value });
  const other = quote ?? { token: LAMPORTS, reserve: lamportReserve };
  return [
    { ...tokens, ...flow(amount, !isBuy), reserve },
    { ...other, ...flow(quoteAmount, isBuy) },
  ];
}

/** A curve's tokens that are for sale, without those that its vault keeps for the pool it migrates to. */
export function withCurveReserve(
  parsed: ParsedTransaction,
  { call, end }: InstructionScope,
  tokens: Side,
): Side {
  const event = findEvent(parsed, { call, end, discriminator: TRADE_EVENT, nth: 0 });
  return event === undefined ? tokens : { ...tokens, reserve: readCurveTrade(event).reserve };
}

interface MovedLamports {
  readonly lamports: bigint;
  readonly disagreement?: string;
}

function chooseBuyLamports(transfers: readonly bigint[], told: bigint | undefined): MovedLamports {
  if (told !== undefined && transfers.includes(told)) return { lamports: told };
  return { lamports: transfers.reduce((total, lamports) => total + lamports, 0n) };
}

function chooseSellLamports(left: bigint | undefined, told: bigint | undefined): MovedLamports | undefined {
  if (told === undefined) return left === undefined ? undefined : { lamports: left };
  if (left === undefined || left === told) return { lamports: told };
  return { lamports: told, disagreement: `TradeEvent tells ${told} lamports, the curve paid ${left}` };
}

/** What the curve paid, by its balance: undefined where another trade of the transaction changed that too. */
function computePaidLamports(
  parsed: ParsedTransaction,
  call: ExchangeCall,
  curve: number,
): bigint | undefined {
  const others = parsed.exchangeCalls.some(
    (other) =>
      other !== call &&
      parsed.flattened.instructions[other.instructionIndex]?.accounts.includes(curve) &&
      other.program === call.program,
  );
  const before = parsed.meta.preBalances[curve];
  const after = parsed.meta.postBalances[curve];
  if (others || before === undefined || after === undefined) return undefined;
  const received = listLamportTransfers(parsed, curve, {
    from: -1,
    end: parsed.flattened.instructions.length,
  });
  return received.reduce((sum, lamports) => sum + lamports, BigInt(before - after));
}

const SYSTEM_PROGRAM = "11111111111111111111111111111111";
/** The system program's transfers by their number, and where they name the account that receives. */
const RECEIVER_POSITIONS = new Map([
  [2, { account: 1 }],
  [11, { account: 2 }],
]);

function listLamportTransfers(
  parsed: ParsedTransaction,
  account: number,
  range: InstructionScope | { readonly from: number; readonly end: number },
): bigint[] {
  const from = "call" in range ? range.call.instructionIndex : range.from;
  const amounts: bigint[] = [];
  for (let at = from + 1; at < range.end; at++) {
    const instruction = parsed.flattened.instructions[at];
    if (instruction === undefined || parsed.keys[instruction.programIdIndex] !== SYSTEM_PROGRAM) continue;
    if (!instruction.accounts.includes(account)) continue;
    const data = decodeBase58(instruction.data);
    if (data === undefined) throw new BrokenTransactionError(`Instruction ${at}: its data is no base58.`);
    const receiver = data.length < 12 ? undefined : RECEIVER_POSITIONS.get(readU32(data, 0));
    if (receiver !== undefined && instruction.accounts[receiver.account] === account) {
      amounts.push(readU64(data, 4));
    }
  }
  return amounts;
}
