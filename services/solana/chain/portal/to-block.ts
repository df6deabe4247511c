import type { PortalLine } from "../../../shared/portal/stream.ts";
import { isObject } from "../../../shared/portal/verdict.ts";
import { isHash, isSlot } from "../parse-response.ts";
import type { SolanaBlock, SolanaInstruction, SolanaTransaction, TokenBalance } from "../port.ts";
import { findMalformedTransaction } from "../validate-transaction.ts";

/** A portal sent what no block is. */
export class MalformedLineError extends Error {
  override readonly name = "MalformedLineError";
}

type Item = Readonly<Record<string, unknown>>;

/** All that a line has of one transaction. */
interface Parts {
  readonly transaction: Item;
  readonly instructions: Item[];
  readonly logs: Item[];
  readonly balances: Item[];
  readonly tokenBalances: Item[];
}

export interface PortalSolanaBlock extends SolanaBlock {
  /** Transactions whose log the portal could not attribute to instructions, and dropped as a whole. */
  readonly withoutLogs: readonly SolanaTransaction[];
}

/** A line's block in the form that getBlock has. Throws MalformedLineError. */
export function toSolanaBlock(line: PortalLine): PortalSolanaBlock {
  const { number: slot, hash, parentNumber, parentHash, timestamp } = line.header;
  if (!isSlot(parentNumber) || parentNumber >= slot || !isHash(hash) || !isHash(parentHash))
    throw new MalformedLineError(`slot ${slot}: its hashes or its parent are malformed`);
  if (!isSlot(timestamp)) throw new MalformedLineError(`slot ${slot}: its time is malformed`);
  const withoutLogs: SolanaTransaction[] = [];
  const transactions = groupByTransaction(line, slot).map((parts) => {
    const transaction = toTransaction(parts, slot);
    if (parts.transaction.hasDroppedLogMessages === true && parts.logs.length === 0)
      withoutLogs.push(transaction);
    return transaction;
  });
  return {
    slot,
    blockhash: hash,
    previousBlockhash: parentHash,
    parentSlot: parentNumber,
    // A portal has 0 where the cluster did not vote on a time.
    blockTime: timestamp === 0 ? null : timestamp,
    transactions,
    withoutLogs,
  };
}

/** In the order of the block. Logs of transactions that were not asked for, such as failed ones, are left out. */
function groupByTransaction(line: PortalLine, slot: number): Parts[] {
  const parts = new Map<unknown, Parts>();
  for (const transaction of listOf(line, "transactions")) {
    const { transactionIndex } = transaction;
    if (!isSlot(transactionIndex) || parts.has(transactionIndex))
      throw new MalformedLineError(
        `slot ${slot}: transaction ${String(transactionIndex)} comes twice or cannot be`,
      );
    const empty = { instructions: [], logs: [], balances: [], tokenBalances: [] };
    parts.set(transactionIndex, { transaction, ...empty });
  }
  for (const name of ["instructions", "logs", "balances", "tokenBalances"] as const) {
    for (const item of listOf(line, name)) {
      const own = parts.get(item.transactionIndex);
      if (own === undefined && name === "instructions")
        throw new MalformedLineError(`slot ${slot}: an instruction came without its transaction`);
      own?.[name].push(item);
    }
  }
  return [...parts.values()].sort(
    (a, b) => Number(a.transaction.transactionIndex) - Number(b.transaction.transactionIndex),
  );
}

function listOf(line: PortalLine, name: string): readonly Item[] {
  const list = line[name] ?? [];
  if (!Array.isArray(list) || !list.every(isObject))
    throw new MalformedLineError(`slot ${line.header.number}: ${name} are malformed`);
  return list;
}

function toTransaction(parts: Parts, slot: number): SolanaTransaction {
  const { transaction, instructions, logs } = parts;
  const { transactionIndex, accountKeys, signatures, loadedAddresses, err, fee } = transaction;
  const { writable = [], readonly: readOnly = [] } = isObject(loadedAddresses) ? loadedAddresses : {};
  if (![accountKeys, writable, readOnly].every(Array.isArray))
    throw new MalformedLineError(`slot ${slot}: transaction ${transactionIndex} has no accounts`);
  const keys = [...(accountKeys as string[]), ...(writable as string[]), ...(readOnly as string[])];
  const places = new Map(keys.map((key, place) => [key, place]));
  // -1 is found to be malformed below.
  const placeOf = (key: unknown) => places.get(key as string) ?? -1;
  const calls = instructions
    .map((item) => ({ item, address: readAddress(item, slot) }))
    .sort((a, b) => compareAddresses(a.address, b.address));
  checkAddresses(calls, `slot ${slot}: transaction ${transactionIndex}`);
  const toInstruction = ({ item, address }: Call): SolanaInstruction => ({
    programIdIndex: placeOf(item.programId),
    accounts: Array.isArray(item.accounts) ? item.accounts.map(placeOf) : [],
    data: item.data as string,
    stackHeight: address.length,
  });
  const inner = new Map<number, SolanaInstruction[]>();
  for (const call of calls) {
    const [index = 0] = call.address;
    if (call.address.length === 1) inner.set(index, []);
    else inner.get(index)?.push(toInstruction(call));
  }
  const found = {
    transaction: {
      signatures,
      message: {
        accountKeys,
        instructions: calls.filter(({ address }) => address.length === 1).map(toInstruction),
      },
    },
    meta: {
      err: err ?? null,
      fee: Number(fee),
      ...toLamports(parts, { keys, placeOf }),
      ...toTokenBalances(parts, placeOf),
      innerInstructions: [...inner]
        .filter(([, called]) => called.length > 0)
        .map(([index, called]) => ({ index, instructions: called })),
      logMessages: logs.length === 0 ? null : toLogMessages(calls, logs),
      loadedAddresses: { writable, readonly: readOnly },
    },
    transactionIndex,
  };
  const wrong = findMalformedTransaction(found);
  if (wrong !== undefined)
    throw new MalformedLineError(`slot ${slot}: transaction ${transactionIndex}: ${wrong}`);
  return found as SolanaTransaction;
}

/** An instruction with its place in the tree of calls: [2] is the third of the transaction, [2, 0] the first that it called. */
interface Call {
  readonly item: Item;
  readonly address: readonly number[];
}

function readAddress({ instructionAddress }: Item, slot: number): number[] {
  if (
    !Array.isArray(instructionAddress) ||
    instructionAddress.length === 0 ||
    !instructionAddress.every(isSlot)
  )
    throw new MalformedLineError(`slot ${slot}: the address of an instruction is malformed`);
  return instructionAddress;
}

function compareAddresses(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++)
    if (a[i] !== b[i]) return (a[i] as number) - (b[i] as number);
  return a.length - b.length;
}

/** Each instruction is the next of the same depth, or the first call of the one before it: none is missing between. */
function checkAddresses(calls: readonly Call[], about: string): void {
  let before: readonly number[] = [-1];
  for (const { address } of calls) {
    const depth = address.length;
    const last = depth > before.length ? 0 : (before[depth - 1] as number) + 1;
    const isNext = depth <= before.length + 1 && address[depth - 1] === last;
    if (!isNext || !address.slice(0, -1).every((each, i) => each === before[i]))
      throw new MalformedLineError(`${about}: an instruction is missing before [${address.join(", ")}]`);
    before = address;
  }
}

/** Only accounts whose lamports changed are sent: differences are all that is read. */
function toLamports(
  { balances }: Parts,
  { keys, placeOf }: { keys: readonly string[]; placeOf: (key: unknown) => number },
) {
  const preBalances: number[] = new Array(keys.length).fill(0);
  const postBalances: number[] = new Array(keys.length).fill(0);
  for (const { account, pre, post } of balances) {
    const place = placeOf(account);
    preBalances[place] = Number(pre);
    postBalances[place] = Number(post);
  }
  return { preBalances, postBalances };
}

function toTokenBalances({ tokenBalances }: Parts, placeOf: (key: unknown) => number) {
  const at = (when: "pre" | "post") =>
    tokenBalances.flatMap((item) => toTokenBalance(item, { when, placeOf }));
  return { preTokenBalances: at("pre"), postTokenBalances: at("post") };
}

/** What an account held before or after the transaction; nothing where it did not exist. */
function toTokenBalance(
  item: Item,
  { when, placeOf }: { when: "pre" | "post"; placeOf: (key: unknown) => number },
): TokenBalance[] {
  const [mint, owner, programId] = [item[`${when}Mint`], item[`${when}Owner`], item[`${when}ProgramId`]];
  if (!isPresent(mint)) return [];
  return [
    {
      accountIndex: placeOf(item.account),
      mint: mint as string,
      ...(isPresent(owner) && { owner: owner as string }),
      ...(isPresent(programId) && { programId: programId as string }),
      uiTokenAmount: { amount: String(item[`${when}Amount`]), decimals: item[`${when}Decimals`] as number },
    },
  ];
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * Lines as a node logs them, as far as they are read: which instruction wrote a line, and in which order. That an
 * instruction was called by another is not told again: each ends before the next begins.
 */
function toLogMessages(calls: readonly Call[], logs: readonly Item[]): string[] {
  const written = new Map<string, string[]>();
  for (const log of [...logs].sort((a, b) => Number(a.logIndex) - Number(b.logIndex))) {
    const { instructionAddress, kind, message } = log;
    if (!Array.isArray(instructionAddress) || (kind !== "log" && kind !== "data")) continue;
    const address = instructionAddress.join();
    const lines = written.get(address) ?? [];
    lines.push(`Program ${kind}: ${message}`);
    written.set(address, lines);
  }
  return calls.flatMap(({ item: { programId }, address }) => [
    `Program ${programId} invoke [${address.length}]`,
    ...(written.get(address.join()) ?? []),
    `Program ${programId} success`,
  ]);
}
