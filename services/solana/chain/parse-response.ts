import { Buffer } from "node:buffer";
import { encodeBase58 } from "../../shared/contract/base58.ts";
import type { Mutable } from "../../shared/mutable.ts";
import type { Fault } from "../../shared/rpc-client/endpoint/fault.ts";
import type { ResultList } from "../../shared/rpc-client/endpoint/json-list.ts";
import type { RpcResponse } from "../../shared/rpc-client/endpoint/transport.ts";
import type { Outcome } from "../../shared/rpc-client/pending-request.ts";
import type {
  AccountInfo,
  AccountsAt,
  BlockLink,
  SolanaBlock,
  SolanaTransaction,
  TokenAccountPage,
} from "./port.ts";
import { findMalformedTransaction, isVoteTransaction } from "./validate-transaction.ts";

export function distrust(message: string): { readonly fault: Fault } {
  return { fault: { kind: "untrusted", message } };
}

export function parseFirst<T>(
  replies: readonly RpcResponse[],
  read: (result: unknown) => Outcome<T>,
): Outcome<T> {
  const reply = replies[0];
  if (reply === undefined) return distrust("a reply is missing");
  return reply.ok ? read(reply.result) : { fault: reply.fault };
}

/** Base58 of 32 bytes. */
const HASH = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Validates a block's place in the chain; null (no block in this slot) is the fault `missing`. */
export function parseLink(result: unknown, slot: number): Outcome<BlockLink> {
  if (result === null) return { fault: { kind: "missing", message: `no block in slot ${slot}` } };
  if (!isObject(result)) return distrust(`slot ${slot}: not an object`);
  const { blockhash, previousBlockhash, parentSlot } = result;
  if (!isHash(blockhash) || !isHash(previousBlockhash)) return distrust(`slot ${slot}: hashes are malformed`);
  if (!isSlot(parentSlot)) return distrust(`slot ${slot}: no parent slot`);
  // A response does not name its slot: this detects one that belongs to an earlier request.
  if (parentSlot >= slot) return distrust(`slot ${slot}: its parent slot ${parentSlot} is not below it`);
  return { value: { slot, blockhash, previousBlockhash, parentSlot } };
}

/** What a transaction of a block gave; null of a vote. */
type ReadTransaction<T> = { readonly value: T } | { readonly wrong: string } | null;

/** Reads the transactions of a response one by one, for parseBlock. Votes are left out: two thirds of a block, and no trades. */
export function createTransactionList<T>(read: (transaction: SolanaTransaction) => T): ResultList {
  return {
    name: "transactions",
    convert(transaction, transactionIndex): ReadTransaction<T> {
      if (isVoteTransaction(transaction)) return null;
      const wrong = findMalformedTransaction(transaction);
      if (wrong !== undefined) return { wrong };
      const found = transaction as Mutable<SolanaTransaction>;
      found.transactionIndex = transactionIndex;
      return { value: read(found) };
    },
  };
}

/** Validates a full block, read with createTransactionList. A malformed transaction makes the whole response untrusted. */
export function parseBlock<T>(result: unknown, slot: number): Outcome<SolanaBlock<T>> {
  const link = parseLink(result, slot);
  if ("fault" in link) return link;
  const { blockTime, transactions } = result as Record<string, unknown>;
  if (blockTime !== null && !isSlot(blockTime)) return distrust(`slot ${slot}: no block time`);
  if (!Array.isArray(transactions)) return distrust(`slot ${slot}: no list of transactions`);
  const kept: T[] = [];
  for (const [i, transaction] of (transactions as ReadTransaction<T>[]).entries()) {
    if (transaction === null) continue;
    if ("wrong" in transaction) return distrust(`slot ${slot}: transaction ${i}: ${transaction.wrong}`);
    kept.push(transaction.value);
  }
  return { value: { ...link.value, blockTime, transactions: kept } };
}

/** A list of slots within [from, to], ascending. */
export function parseSlots(result: unknown, [from, to]: readonly [number, number]): Outcome<number[]> {
  if (!Array.isArray(result)) return distrust(`slots ${from}-${to}: not a list`);
  let last = from - 1;
  for (const slot of result) {
    if (!isSlot(slot) || slot <= last || slot > to)
      return distrust(`slots ${from}-${to}: ${String(slot).slice(0, 30)} is malformed, outside or late`);
    last = slot;
  }
  return { value: result };
}

export function parseSlot(result: unknown, about: string): Outcome<number> {
  return isSlot(result) ? { value: result } : distrust(`${about} gave no slot`);
}

/** `count` accounts in the order of the request. */
export function parseAccounts(result: unknown, count: number): Outcome<AccountsAt> {
  const { value: values, context } = isObject(result) ? result : {};
  if (!isObject(context) || !isSlot(context.slot)) return distrust("accounts of no slot");
  if (!Array.isArray(values) || values.length !== count)
    return distrust(`not the ${count} requested accounts`);
  const accounts: (AccountInfo | null)[] = [];
  for (const value of values) {
    const account = value === null ? null : parseAccount(value);
    if (account === undefined) return distrust("an account is malformed");
    accounts.push(account);
  }
  return { value: { slot: context.slot, accounts } };
}

function parseAccount(value: unknown): AccountInfo | undefined {
  if (!isObject(value) || !isHash(value.owner) || !Array.isArray(value.data)) return undefined;
  const [text, encoding] = value.data;
  if (typeof text !== "string" || encoding !== "base64") return undefined;
  const data = Buffer.from(text, "base64");
  // Node silently drops what is not base64.
  if (data.length !== Math.floor((text.replace(/=+$/, "").length * 3) / 4)) return undefined;
  return { owner: value.owner, data: new Uint8Array(data) };
}

export function parseLargestAccounts(
  result: unknown,
): Outcome<readonly { readonly address: string; readonly amount: bigint }[]> {
  const values = isObject(result) ? result.value : undefined;
  if (!Array.isArray(values)) return distrust("no list of token accounts");
  const accounts: { address: string; amount: bigint }[] = [];
  for (const value of values) {
    if (!isObject(value) || !isHash(value.address) || !isAmount(value.amount))
      return distrust("a token account is malformed");
    accounts.push({ address: value.address, amount: BigInt(value.amount) });
  }
  return { value: accounts.sort((a, b) => (a.amount === b.amount ? 0 : a.amount < b.amount ? 1 : -1)) };
}

/** Of getProgramAccounts, a list, or of its paged form, which has the list beside the next page's key. */
export function parseTokenAccounts(result: unknown): Outcome<TokenAccountPage> {
  const { value, context } = isObject(result) ? result : {};
  if (!isObject(context) || !isSlot(context.slot)) return distrust("token accounts of no slot");
  const { accounts: list, paginationKey: next = null } = isObject(value) ? value : { accounts: value };
  if (!Array.isArray(list)) return distrust("no list of token accounts");
  if (next !== null && typeof next !== "string") return distrust("a page of token accounts without its key");
  const accounts: TokenAccountPage["accounts"][number][] = [];
  for (const each of list) {
    const account = isObject(each) && isHash(each.pubkey) ? parseAccount(each.account) : undefined;
    if (account?.data.length !== 40) return distrust("a token account is malformed");
    const { data } = account;
    const amount = new DataView(data.buffer, data.byteOffset).getBigUint64(32, true);
    if (amount === 0n) continue;
    accounts.push({ address: each.pubkey, owner: encodeBase58(data.subarray(0, 32)), amount });
  }
  return { value: { slot: context.slot, accounts, next } };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isAmount(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,20}$/.test(value);
}

export function isSlot(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isHash(value: unknown): value is string {
  return typeof value === "string" && HASH.test(value);
}
