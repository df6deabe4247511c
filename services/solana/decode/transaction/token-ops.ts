/** Instructions of the two token programs: transfers, mints and burns. */

import { readInstructionData } from "../../chain/instruction-data.ts";
import type { SolanaInstruction } from "../../chain/port.ts";
import { readU64 } from "../bytes.ts";
import { BrokenTransactionError } from "../errors.ts";

/** Accounts are indexes of the transaction's keys. */
export interface Transfer {
  /** In the order of execution. */
  readonly instructionIndex: number;
  readonly source: number;
  readonly destination: number;
  /** What left the source. */
  readonly amount: bigint;
  /** What arrived: less Token-2022's transfer fee. findTransferFees computes a fee that the instruction does not have. */
  received: bigint;
  readonly isFeeKnown: boolean;
  /** Of a checked transfer; else undefined. */
  readonly mint: number | undefined;
  readonly decimals: number | undefined;
}

export interface SupplyOp {
  readonly instructionIndex: number;
  readonly kind: "mint" | "burn";
  readonly mint: number;
  /** Token account that received or lost the tokens. */
  readonly tokenAccount: number;
  readonly authority: number | undefined;
  readonly accountCount: number;
  readonly amount: bigint;
  readonly decimals: number | undefined;
}

export interface TokenOps {
  readonly transfers: Transfer[];
  readonly supply: SupplyOp[];
  /** Decimals of mints that the transaction creates, by the key's index. */
  readonly newMints: { readonly mint: number; readonly decimals: number }[];
}

/** Instructions by their first byte, equal in both token programs. */
const OP = {
  initializeMint: 0,
  transfer: 3,
  mintTo: 7,
  burn: 8,
  transferChecked: 12,
  mintToChecked: 14,
  burnChecked: 15,
  initializeMint2: 20,
  /** Token-2022 only; its second byte 1 is TransferCheckedWithFee. */
  transferFeeExtension: 26,
  /** Token program since its rewrite as p-token: several instructions in one. */
  batch: 255,
} as const;

/** One instruction, on its own or within a batch. */
interface TokenInstruction {
  readonly instructionIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
}

/** Adds what an instruction of a token program does. Throws BrokenTransactionError for a malformed one. */
export function readTokenInstruction(
  ops: TokenOps,
  instructionIndex: number,
  instruction: SolanaInstruction,
): void {
  const data = readInstructionData(instruction);
  if (data === undefined)
    throw new BrokenTransactionError(`Instruction ${instructionIndex}: its data is not base58.`);
  if (data[0] === OP.batch) readBatch(ops, { instructionIndex, accounts: instruction.accounts, data });
  else readInstruction(ops, { instructionIndex, accounts: instruction.accounts, data });
}

/** After the first byte: of each instruction the number of its accounts, the length of its data, and the data. */
function readBatch(ops: TokenOps, { instructionIndex, accounts, data }: TokenInstruction): void {
  let offset = 1;
  let used = 0;
  while (offset + 2 <= data.length) {
    const accountCount = data[offset] as number;
    const start = offset + 2;
    const end = start + (data[offset + 1] as number);
    readInstruction(ops, {
      instructionIndex,
      accounts: accounts.slice(used, used + accountCount),
      data: data.subarray(start, end),
    });
    used += accountCount;
    offset = end;
  }
}

function readInstruction(ops: TokenOps, instruction: TokenInstruction): void {
  const { data } = instruction;
  switch (data[0]) {
    case OP.transfer:
      addTransfer(ops, instruction, { accounts: [0, 1], mint: undefined, decimalsAt: undefined });
      break;
    case OP.transferChecked:
      addTransfer(ops, instruction, { accounts: [0, 2], mint: 1, decimalsAt: 9 });
      break;
    case OP.transferFeeExtension:
      if (data[1] === 1) addTransferWithFee(ops, instruction);
      break;
    case OP.mintTo:
    case OP.mintToChecked:
      addSupply(ops, instruction, {
        kind: "mint",
        mint: 0,
        tokenAccount: 1,
        isChecked: data[0] === OP.mintToChecked,
      });
      break;
    case OP.burn:
    case OP.burnChecked:
      addSupply(ops, instruction, {
        kind: "burn",
        mint: 1,
        tokenAccount: 0,
        isChecked: data[0] === OP.burnChecked,
      });
      break;
    case OP.initializeMint:
    case OP.initializeMint2:
      ops.newMints.push({ mint: readAccount(instruction, 0), decimals: readByte(instruction, 1) });
  }
}

interface TransferLayout {
  readonly accounts: readonly [number, number];
  readonly mint: number | undefined;
  readonly decimalsAt: number | undefined;
}

function addTransfer(ops: TokenOps, instruction: TokenInstruction, layout: TransferLayout): void {
  const amount = readAmount(instruction, 1);
  ops.transfers.push({
    instructionIndex: instruction.instructionIndex,
    source: readAccount(instruction, layout.accounts[0]),
    destination: readAccount(instruction, layout.accounts[1]),
    amount,
    received: amount,
    isFeeKnown: false,
    mint: layout.mint === undefined ? undefined : readAccount(instruction, layout.mint),
    decimals: layout.decimalsAt === undefined ? undefined : readByte(instruction, layout.decimalsAt),
  });
}

function addTransferWithFee(ops: TokenOps, instruction: TokenInstruction): void {
  const amount = readAmount(instruction, 2);
  ops.transfers.push({
    instructionIndex: instruction.instructionIndex,
    source: readAccount(instruction, 0),
    destination: readAccount(instruction, 2),
    amount,
    received: amount - readAmount(instruction, 11),
    isFeeKnown: true,
    mint: readAccount(instruction, 1),
    decimals: readByte(instruction, 10),
  });
}

interface SupplyLayout {
  readonly kind: "mint" | "burn";
  readonly mint: number;
  readonly tokenAccount: number;
  readonly isChecked: boolean;
}

function addSupply(ops: TokenOps, instruction: TokenInstruction, layout: SupplyLayout): void {
  ops.supply.push({
    instructionIndex: instruction.instructionIndex,
    kind: layout.kind,
    mint: readAccount(instruction, layout.mint),
    tokenAccount: readAccount(instruction, layout.tokenAccount),
    authority: instruction.accounts[2],
    accountCount: instruction.accounts.length,
    amount: readAmount(instruction, 1),
    decimals: layout.isChecked ? readByte(instruction, 9) : undefined,
  });
}

function readAccount({ instructionIndex, accounts }: TokenInstruction, position: number): number {
  const account = accounts[position];
  if (account === undefined) {
    throw new BrokenTransactionError(
      `Instruction ${instructionIndex}: a token instruction without its account ${position}, of ${accounts.length}.`,
    );
  }
  return account;
}

function readByte({ instructionIndex, data }: TokenInstruction, position: number): number {
  const byte = data[position];
  if (byte === undefined) throw createTooShortError(instructionIndex, data);
  return byte;
}

function readAmount({ instructionIndex, data }: TokenInstruction, position: number): bigint {
  if (position + 8 > data.length) throw createTooShortError(instructionIndex, data);
  return readU64(data, position);
}

function createTooShortError(at: number, data: Uint8Array): BrokenTransactionError {
  return new BrokenTransactionError(
    `Instruction ${at}: ${data.length} bytes are too few for token instruction ${data[0]}.`,
  );
}
