import type { SolanaTransaction } from "./port.ts";

const VOTE_PROGRAM = "Vote111111111111111111111111111111111111111";

/** A transaction whose only instruction is a validator's vote: most of a block's, and never a trade. */
export function isVoteTransaction(value: unknown): boolean {
  const message = (value as Partial<SolanaTransaction> | null)?.transaction?.message;
  const instructions = message?.instructions;
  if (!Array.isArray(instructions) || instructions.length !== 1) return false;
  return message?.accountKeys?.[instructions[0]?.programIdIndex] === VOTE_PROGRAM;
}

/**
 * What is malformed in a transaction, or undefined: every index must lie within its accounts, amounts must be decimal
 * texts, every account needs balances. Decoders do not check again.
 */
export function findMalformedTransaction(value: unknown): string | undefined {
  if (!isRecord(value) || !isRecord(value.transaction)) return "not a transaction";
  const { signatures, message } = value.transaction;
  if (!isStringArray(signatures) || signatures.length === 0) return "no signatures";
  if (!isRecord(message) || !isStringArray(message.accountKeys)) return "no account keys";
  const meta = value.meta;
  if (meta !== null && !isRecord(meta)) return "no meta";
  if (value.version !== undefined && value.version !== "legacy" && typeof value.version !== "number")
    return "its version is malformed";
  const loaded = countLoadedAddresses(meta?.loadedAddresses);
  if (loaded === undefined) return "its loaded addresses are malformed";
  const count = message.accountKeys.length + loaded;
  return (
    findMalformedInstruction(message.instructions, count) ??
    (meta && findMalformedMeta(meta, count)) ??
    undefined
  );
}

/** How many addresses came from lookup tables. */
function countLoadedAddresses(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0;
  if (!isRecord(value) || !isStringArray(value.writable) || !isStringArray(value.readonly)) return undefined;
  return value.writable.length + value.readonly.length;
}

function findMalformedInstruction(list: unknown, accounts: number): string | undefined {
  if (!Array.isArray(list)) return "no list of instructions";
  for (const entry of list) {
    if (!isRecord(entry) || !isIndex(entry.programIdIndex, accounts) || !isData(entry.data))
      return "an instruction is malformed";
    if (!Array.isArray(entry.accounts)) return "an instruction has no accounts";
    for (const index of entry.accounts)
      if (!isIndex(index, accounts)) return "an instruction names an account that is not there";
    const height = entry.stackHeight;
    if (height !== undefined && height !== null && typeof height !== "number")
      return "a stack height is malformed";
  }
  return undefined;
}

function findMalformedMeta(meta: Record<string, unknown>, accounts: number): string | undefined {
  if (!("err" in meta) || typeof meta.fee !== "number") return "no error and fee in its meta";
  if (!isNumberArray(meta.preBalances, accounts) || !isNumberArray(meta.postBalances, accounts))
    return "balances are malformed";
  const inner = meta.innerInstructions ?? [];
  if (!Array.isArray(inner)) return "inner instructions are malformed";
  for (const group of inner) {
    if (!isRecord(group) || !isIndex(group.index, 256)) return "inner instructions are malformed";
    const wrong = findMalformedInstruction(group.instructions, accounts);
    if (wrong !== undefined) return wrong;
  }
  if (meta.logMessages !== undefined && meta.logMessages !== null && !isStringArray(meta.logMessages))
    return "log messages are malformed";
  return (
    findMalformedBalance(meta.preTokenBalances, accounts) ??
    findMalformedBalance(meta.postTokenBalances, accounts)
  );
}

function findMalformedBalance(list: unknown, accounts: number): string | undefined {
  if (list === undefined || list === null) return undefined;
  if (!Array.isArray(list)) return "token balances are malformed";
  for (const entry of list) {
    if (!isRecord(entry) || !isIndex(entry.accountIndex, accounts) || typeof entry.mint !== "string")
      return "a token balance is malformed";
    const amount = entry.uiTokenAmount;
    if (!isRecord(amount) || !isDecimal(amount.amount) || !isIndex(amount.decimals, 256))
      return "a token amount is malformed";
    if (!isOptionalString(entry.owner) || !isOptionalString(entry.programId))
      return "a token balance is malformed";
  }
  return undefined;
}

function isData(value: unknown): boolean {
  return typeof value === "string" || value instanceof Uint8Array;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isStringArray(value: unknown): value is string[] {
  if (!Array.isArray(value)) return false;
  for (const text of value) if (typeof text !== "string") return false;
  return true;
}

function isNumberArray(value: unknown, length: number): boolean {
  if (!Array.isArray(value) || value.length !== length) return false;
  for (const number of value) if (typeof number !== "number") return false;
  return true;
}

function isIndex(value: unknown, below: number): boolean {
  return typeof value === "number" && value >= 0 && value < below && Number.isInteger(value);
}

function isOptionalString(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "string";
}

/** A u64 in digits. */
function isDecimal(value: unknown): boolean {
  if (typeof value !== "string" || value.length === 0 || value.length > 20) return false;
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return true;
}
