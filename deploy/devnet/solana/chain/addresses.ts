import { createHash } from "node:crypto";
import { encodeBase58 } from "../../../../services/shared/contract/base58.ts";

export const SYSTEM_PROGRAM = "11111111111111111111111111111111";
export const COMPUTE_BUDGET = "ComputeBudget111111111111111111111111111111";
export const VOTE_PROGRAM = "Vote111111111111111111111111111111111111111";
export const MEMO_PROGRAM = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
export const RENT = "SysvarRent111111111111111111111111111111111";

/** 32 bytes that follow from some words: always the same address. */
export function deriveAddress(...words: readonly (string | number)[]): string {
  return encodeBase58(computeDigest(words));
}

/** 64 bytes. */
export function deriveSignature(...words: readonly (string | number)[]): string {
  const bytes = new Uint8Array(64);
  bytes.set(computeDigest([...words, "r"]), 0);
  bytes.set(computeDigest([...words, "s"]), 32);
  return encodeBase58(bytes);
}

function computeDigest(words: readonly (string | number)[]): Uint8Array {
  return createHash("sha256").update(words.join("\u0000")).digest();
}
