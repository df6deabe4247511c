import { decodeBase58 } from "../../shared/contract/base58.ts";
import type { SolanaInstruction, SolanaTransaction, TransactionMeta } from "../chain/port.ts";
import { type Balances, layBalances, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "./balances.ts";
import { BrokenTransactionError } from "./errors.ts";
import { type Flat, flatten } from "./flatten.ts";
import { type LoggedData, readLogs } from "./logs.ts";
import type { Instruction, Program } from "./programs/define.ts";
import { programs } from "./programs/index.ts";
import { readTokenInstruction, type TokenOps } from "./token-ops.ts";

/** An exchange's instruction that tells something. */
export interface Found {
  readonly at: number;
  readonly program: Program;
  readonly instruction: Instruction;
}

/** A transaction laid out: what all decoding stands on. */
export interface Laid {
  readonly meta: TransactionMeta;
  /** Static keys, then loaded writable, then loaded readonly ones. */
  readonly keys: readonly string[];
  /** The first so many keys signed. */
  readonly signerCount: number;
  readonly flat: Flat;
  readonly found: readonly Found[];
  /** Data of the exchanges' instructions and of their calls of themselves, by place; of all others nothing. */
  readonly data: readonly (Uint8Array | undefined)[];
  readonly ops: TokenOps;
  readonly balances: Balances;
  /** Read when first asked for: most exchanges tell their events by calls. */
  logged(): readonly LoggedData[];
}

const PROGRAMS = new Map(programs.map((program) => [program.layout.address, program]));

/** Throws BrokenTransactionError where indexes or texts are none that a node would send. */
export function lay(transaction: SolanaTransaction, meta: TransactionMeta): Laid {
  const keys = keysOf(transaction, meta);
  const flat = flatten(transaction);
  const ops: TokenOps = { transfers: [], supply: [], newMints: [] };
  const found: Found[] = [];
  const data: (Uint8Array | undefined)[] = [];
  for (let at = 0; at < flat.instructions.length; at++) {
    const instruction = flat.instructions[at] as SolanaInstruction;
    const address = keys[instruction.programIdIndex];
    if (address === undefined) {
      throw new BrokenTransactionError(
        `Instruction ${at} names program ${instruction.programIdIndex} of ${keys.length} accounts.`,
      );
    }
    if (address === TOKEN_PROGRAM || address === TOKEN_2022_PROGRAM) {
      checkAccounts(at, instruction, keys.length);
      readTokenInstruction(ops, at, instruction);
      continue;
    }
    const program = PROGRAMS.get(address);
    if (program === undefined) continue;
    checkAccounts(at, instruction, keys.length);
    const bytes = decodeBase58(instruction.data);
    if (bytes === undefined) throw new BrokenTransactionError(`Instruction ${at}: its data is no base58.`);
    data[at] = bytes;
    const known = program.find(bytes, instruction.accounts.length);
    if (known !== undefined) found.push({ at, program, instruction: known });
  }
  let logged: readonly LoggedData[] | undefined;
  return {
    meta,
    keys,
    signerCount: transaction.transaction.signatures.length,
    flat,
    found,
    data,
    ops,
    balances: layBalances(meta, keys.length),
    logged: () => {
      logged ??= readLogs(meta.logMessages ?? [], flat, programsOf(flat, keys));
      return logged;
    },
  };
}

function keysOf(transaction: SolanaTransaction, meta: TransactionMeta): readonly string[] {
  const { accountKeys } = transaction.transaction.message;
  const loaded = meta.loadedAddresses;
  if (loaded === undefined || loaded === null) return accountKeys;
  if (loaded.writable.length === 0 && loaded.readonly.length === 0) return accountKeys;
  return [...accountKeys, ...loaded.writable, ...loaded.readonly];
}

function checkAccounts(at: number, { accounts }: SolanaInstruction, keyCount: number): void {
  for (const account of accounts) {
    if (!(account >= 0 && account < keyCount)) {
      throw new BrokenTransactionError(`Instruction ${at} names account ${account} of ${keyCount}.`);
    }
  }
}

function programsOf(flat: Flat, keys: readonly string[]): string[] {
  return flat.instructions.map(({ programIdIndex }) => keys[programIdIndex] as string);
}
