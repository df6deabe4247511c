import { createHash } from "node:crypto";
import { readInstructionData } from "../../chain/instruction-data.ts";
import type { SolanaInstruction, SolanaTransaction } from "../../chain/port.ts";
import { METADATA_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../chain/program-address.ts";
import { hasBytes } from "../../decode/bytes.ts";

/** Position of the account that an instruction may change: a mint (token programs) or a metadata account (Metaplex). */
type FindAccountPosition = (data: Uint8Array) => number | undefined;

const SET_AUTHORITY = 6;
/** Authority types up to this one (mint, freeze) belong to a token's columns; later ones do not. */
const FREEZE_AUTHORITY = 1;

function findInToken(data: Uint8Array): number | undefined {
  return data[0] === SET_AUTHORITY && (data[1] as number) <= FREEZE_AUTHORITY ? 0 : undefined;
}

/** First bytes of Token-2022's own instructions: a transfer fee that is set, a pointer to metadata that is moved. */
const TOKEN_2022_STARTS = [Uint8Array.of(26, 5), Uint8Array.of(39, 1)];
/** Token-2022 also implements the token metadata interface, whose discriminators are hashes. */
const METADATA_STARTS = ["initialize_account", "updating_field", "remove_key_ix", "update_the_authority"].map(
  (name) => createHash("sha256").update(`spl_token_metadata_interface:${name}`).digest().subarray(0, 8),
);

const STARTS = [...TOKEN_2022_STARTS, ...METADATA_STARTS];

function findInToken2022(data: Uint8Array): number | undefined {
  return STARTS.some((start) => hasBytes(data, 0, start)) ? 0 : findInToken(data);
}

/** Position of the metadata account by Metaplex instruction: those that create or update one, old and new. */
const METAPLEX: Readonly<Record<number, number>> = { 0: 0, 1: 0, 15: 0, 16: 0, 33: 0, 42: 0, 50: 4 };

const PROGRAMS = new Map<string, FindAccountPosition>([
  [TOKEN_PROGRAM, findInToken],
  [TOKEN_2022_PROGRAM, findInToken2022],
  [METADATA_PROGRAM, (data) => METAPLEX[data[0] as number]],
]);

/** 9 or 10 bytes, and the lengths of their base58 texts: transfers, most instructions of token programs, which change nothing here. */
const TRANSFER_LENGTH = { bytes: { min: 9, max: 10 }, text: { min: 11, max: 14 } };

function isTransferData({ data }: SolanaInstruction): boolean {
  const { min, max } = typeof data === "string" ? TRANSFER_LENGTH.text : TRANSFER_LENGTH.bytes;
  return data.length >= min && data.length <= max;
}

/**
 * Mints and metadata accounts that successful transactions may have changed, each once. False positives only cost a read:
 * a token's properties are read from the accounts.
 */
export function findMetadataChanges(transactions: readonly SolanaTransaction[]): string[] {
  const found = new Set<string>();
  for (const transaction of transactions) {
    const { meta } = transaction;
    if (meta === null || (meta.err !== null && meta.err !== undefined)) continue;
    const { accountKeys, instructions } = transaction.transaction.message;
    const keyAt = (index: number): string | undefined => {
      if (index < accountKeys.length) return accountKeys[index];
      const { writable = [], readonly = [] } = meta.loadedAddresses ?? {};
      const at = index - accountKeys.length;
      return at < writable.length ? writable[at] : readonly[at - writable.length];
    };
    for (const instruction of instructions) addMetadataChange(found, instruction, keyAt);
    for (const group of meta.innerInstructions ?? [])
      for (const instruction of group.instructions) addMetadataChange(found, instruction, keyAt);
  }
  return [...found];
}

function addMetadataChange(
  found: Set<string>,
  instruction: SolanaInstruction,
  keyAt: (index: number) => string | undefined,
): void {
  const find = PROGRAMS.get(keyAt(instruction.programIdIndex) ?? "");
  if (find === undefined || isTransferData(instruction)) return;
  const data = readInstructionData(instruction);
  const place = data && data.length > 0 ? find(data) : undefined;
  const account = place === undefined ? undefined : keyAt(instruction.accounts[place] ?? -1);
  if (account !== undefined) found.add(account);
}
