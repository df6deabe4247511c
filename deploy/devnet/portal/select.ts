import type { PortalBlock, PortalItem } from "./block.ts";
import type { LogItem, PortalQuery, TransactionItem } from "./query.ts";

/** How a portal weighs an answer: a column by this, the bloom by more, bytes by their length. */
const COLUMN_WEIGHT = 32;
const BLOOM_WEIGHT = 512;

export interface Selection {
  /** Whether an item of the query asks for something of this block. */
  readonly isMatch: boolean;
  line(): string;
  /** Bytes, as a portal counts them. */
  readonly weight: number;
}

/** The selected fields of what a query asks for of a block, and of nothing else where `isHeaderOnly`. */
export function selectLine(
  block: PortalBlock,
  query: PortalQuery,
  options: { readonly nullFields?: boolean } = {},
): Selection {
  const { fields } = query;
  const { logs, transactions } = findItems(block, query);
  const pick = (item: PortalItem, names: readonly string[]) => pickFields(item, names, options.nullFields);
  const line: Record<string, unknown> = { header: pick(block.header, fields.block) };
  let weight = weigh(block.header, fields.block);
  // Lists without entries, and tables without a selected field, are left out.
  if (logs.length > 0 && fields.log.length > 0) {
    line.logs = logs.map((log) => pick(log, fields.log));
    for (const log of logs) weight += weigh(log, fields.log);
  }
  if (transactions.length > 0 && fields.transaction.length > 0) {
    line.transactions = transactions.map((each) => pick(each, fields.transaction));
    for (const each of transactions) weight += weigh(each, fields.transaction);
  }
  return { isMatch: logs.length + transactions.length > 0, line: () => JSON.stringify(line), weight };
}

/** What a query asks for of a block: entries by themselves, and transactions of which it asks for more. */
interface Asked {
  readonly logs: Set<PortalItem>;
  /** By transactionIndex. */
  readonly withTransaction: Set<unknown>;
  readonly withLogs: Set<unknown>;
}

/** The items of a query, AND within one, OR between them, with what belongs to their transactions; each once, in order. */
function findItems(block: PortalBlock, query: PortalQuery) {
  const asked: Asked = { logs: new Set(), withTransaction: new Set(), withLogs: new Set() };
  for (const log of block.logs) askForLog(log, query, asked);
  for (const transaction of block.transactions) askForTransaction(transaction, query, asked);
  const { logs, withLogs, withTransaction } = asked;
  const isOf = (set: Set<unknown>) => (item: PortalItem) => set.has(item.transactionIndex);
  const isWithLogs = isOf(withLogs);
  return {
    logs: withLogs.size === 0 ? [...logs] : block.logs.filter((log) => logs.has(log) || isWithLogs(log)),
    transactions: withTransaction.size === 0 ? [] : block.transactions.filter(isOf(withTransaction)),
  };
}

function askForLog(log: PortalItem, query: PortalQuery, asked: Asked): void {
  for (const item of query.logs) {
    if (!matchesLog(log, item)) continue;
    asked.logs.add(log);
    if (item.transaction) asked.withTransaction.add(log.transactionIndex);
    if (item.transactionLogs) asked.withLogs.add(log.transactionIndex);
  }
}

function askForTransaction(transaction: PortalItem, query: PortalQuery, asked: Asked): void {
  for (const item of query.transactions) {
    if (!matchesTransaction(transaction, item)) continue;
    asked.withTransaction.add(transaction.transactionIndex);
    if (item.logs) asked.withLogs.add(transaction.transactionIndex);
  }
}

/** Whether an item asks for the log itself. */
export function asksFor(query: PortalQuery): (log: PortalItem) => boolean {
  return (log) => query.logs.some((item) => matchesLog(log, item));
}

function matchesLog(log: PortalItem, { address, topics }: LogItem): boolean {
  if (address !== undefined && !address.has(log.address as string)) return false;
  const own = log.topics as readonly string[];
  return topics.every((wanted, i) => wanted === undefined || wanted.has(own[i] ?? ""));
}

function matchesTransaction(each: PortalItem, item: TransactionItem): boolean {
  const { from, to, sighash, firstNonce = 0, lastNonce = Number.POSITIVE_INFINITY } = item;
  const isOf = (set: ReadonlySet<string> | undefined, value: unknown) =>
    set === undefined || set.has(String(value));
  return (
    isOf(from, each.from) &&
    isOf(to, each.to) &&
    isOf(sighash, each.sighash) &&
    (each.nonce === undefined || (Number(each.nonce) >= firstNonce && Number(each.nonce) <= lastNonce))
  );
}

export function pickFields(item: PortalItem, names: readonly string[], nullFields = false): PortalItem {
  const picked: Record<string, unknown> = {};
  for (const name of names) {
    const value = item[name];
    if (value !== undefined) picked[name] = value;
    else if (nullFields) picked[name] = null;
  }
  return picked;
}

export function weigh(item: PortalItem, names: readonly string[]): number {
  let weight = 0;
  for (const name of names) {
    if (name === "logsBloom") weight += BLOOM_WEIGHT;
    else if (name === "data" || name === "input") weight += String(item[name] ?? "").length / 2;
    else weight += COLUMN_WEIGHT;
  }
  return weight;
}
