import { readInstructionData } from "../../chain/instruction-data.ts";
import type { SolanaInstruction, SolanaTransaction, TransactionMeta } from "../../chain/port.ts";
import { BrokenTransactionError } from "../errors.ts";
import type { CompiledInstruction, Program } from "../programs/define.ts";
import { programs } from "../programs/index.ts";
import { indexBalances, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, type TokenBalances } from "./balances.ts";
import { type FlatInstructions, findScopeEnd, flatten } from "./flatten.ts";
import { type LoggedData, readLogs } from "./logs.ts";
import { readTokenInstruction, type TokenOps } from "./token-ops.ts";

/** An exchange's instruction that a layout describes. */
export interface ExchangeCall {
  readonly instructionIndex: number;
  readonly program: Program;
  readonly instruction: CompiledInstruction;
}

/** A transaction's instructions, accounts and balances by index: the input of all decoding. */
export interface ParsedTransaction {
  readonly meta: TransactionMeta;
  /** Static keys, then loaded writable, then loaded readonly ones. */
  readonly keys: readonly string[];
  /** The first so many keys signed. */
  readonly signerCount: number;
  readonly flattened: FlatInstructions;
  readonly exchangeCalls: readonly ExchangeCall[];
  /** By instruction index: data of the exchanges' instructions and of their calls of themselves. Undefined for all others. */
  readonly instructionData: readonly (Uint8Array | undefined)[];
  readonly tokenOps: TokenOps;
  readonly balances: TokenBalances;
  /** Parsed on first use: most exchanges emit their events by calls. */
  loggedData(): readonly LoggedData[];
}

/** An exchange's instruction with everything that it called: instructions up to `end`. */
export interface InstructionScope {
  readonly parsed: ParsedTransaction;
  readonly call: ExchangeCall;
  /** Exclusive. */
  readonly end: number;
}

const PROGRAMS = new Map(programs.map((program) => [program.layout.address, program]));

/** Throws BrokenTransactionError for indexes out of range and for data that is not base58. */
export function parseTransaction(transaction: SolanaTransaction, meta: TransactionMeta): ParsedTransaction {
  const keys = joinKeys(transaction, meta);
  const flattened = flatten(transaction);
  const tokenOps: TokenOps = { transfers: [], supply: [], newMints: [] };
  const exchangeCalls: ExchangeCall[] = [];
  const instructionData: (Uint8Array | undefined)[] = [];
  for (let instructionIndex = 0; instructionIndex < flattened.instructions.length; instructionIndex++) {
    const instruction = flattened.instructions[instructionIndex] as SolanaInstruction;
    const address = keys[instruction.programIdIndex];
    if (address === undefined) {
      throw new BrokenTransactionError(
        `Instruction ${instructionIndex} names program ${instruction.programIdIndex} of ${keys.length} accounts.`,
      );
    }
    if (address === TOKEN_PROGRAM || address === TOKEN_2022_PROGRAM) {
      checkAccountIndexes(instructionIndex, instruction, keys.length);
      readTokenInstruction(tokenOps, instructionIndex, instruction);
      continue;
    }
    const program = PROGRAMS.get(address);
    if (program === undefined) continue;
    checkAccountIndexes(instructionIndex, instruction, keys.length);
    const data = readInstructionData(instruction);
    if (data === undefined)
      throw new BrokenTransactionError(`Instruction ${instructionIndex}: its data is not base58.`);
    instructionData[instructionIndex] = data;
    const known = program.find(data, instruction.accounts.length);
    if (known !== undefined) exchangeCalls.push({ instructionIndex, program, instruction: known });
  }
  let logged: readonly LoggedData[] | undefined;
  return {
    meta,
    keys,
    signerCount: transaction.transaction.signatures.length,
    flattened,
    exchangeCalls,
    instructionData,
    tokenOps,
    balances: indexBalances(meta, keys.length),
    loggedData: () => {
      logged ??= readLogs(meta.logMessages ?? [], flattened, listPrograms(flattened, keys));
      return logged;
    },
  };
}

export function openScope(parsed: ParsedTransaction, call: ExchangeCall): InstructionScope {
  const { flattened, exchangeCalls } = parsed;
  const isExchangeCall = (index: number) =>
    exchangeCalls.some(({ instructionIndex }) => instructionIndex === index);
  return { parsed, call, end: findScopeEnd(flattened, call.instructionIndex, isExchangeCall) };
}

/** The key's index at a position of the instruction's accounts; undefined beyond them. */
export function readAccountIndex({ parsed, call }: InstructionScope, position: number): number | undefined {
  return parsed.flattened.instructions[call.instructionIndex]?.accounts[position];
}

function joinKeys(transaction: SolanaTransaction, meta: TransactionMeta): readonly string[] {
  const { accountKeys } = transaction.transaction.message;
  const loaded = meta.loadedAddresses;
  if (loaded === undefined || loaded === null) return accountKeys;
  if (loaded.writable.length === 0 && loaded.readonly.length === 0) return accountKeys;
  return [...accountKeys, ...loaded.writable, ...loaded.readonly];
}

function checkAccountIndexes(
  instructionIndex: number,
  { accounts }: SolanaInstruction,
  keyCount: number,
): void {
  for (const account of accounts) {
    if (!(account >= 0 && account < keyCount)) {
      throw new BrokenTransactionError(
        `Instruction ${instructionIndex} names account ${account} of ${keyCount}.`,
      );
    }
  }
}

function listPrograms(flattened: FlatInstructions, keys: readonly string[]): string[] {
  return flattened.instructions.map(({ programIdIndex }) => keys[programIdIndex] as string);
}
