import type { PortalLine } from "../../portal/stream.ts";
import { parseAddress, parseBytes, parseHash } from "../hex.ts";
import type { BlockHeader, BlockWithLogs, Hex, RawLog } from "../port.ts";
import { computeHeaderHash } from "../proof/header-hash.ts";

/** A block whose header has the hash that it says. */
export interface PortalBlock extends BlockWithLogs {
  readonly receiptsRoot: Hex;
}

const BLOOM_LENGTH = 2 + 512;
const MOST_TOPICS = 4;

/**
 * A block from a line. Throws Error where a field is missing or malformed, a log has no transaction, logs are out of
 * order, or the hash does not follow from the header.
 */
export function parseBlockLine(line: PortalLine): PortalBlock {
  const header = parseHeader(line.header);
  const transactions = parseTransactions(line.transactions, header.number);
  const logs: RawLog[] = [];
  const senders: Hex[] = [];
  let previous = -1;
  for (const entry of toList(line.logs, "logs", header.number)) {
    const log = parseLog(entry, { header, transactions });
    if (log === undefined) throw new Error(`a log of block ${header.number} is malformed`);
    if (log.logIndex <= previous)
      throw new Error(`log ${log.logIndex} of block ${header.number} comes after log ${previous}`);
    previous = log.logIndex;
    logs.push(log);
    senders[log.transactionIndex] = (transactions.get(log.transactionIndex) as Transaction).from;
  }
  const { number, hash, parentHash, timestamp, logsBloom, receiptsRoot } = header;
  return { number, hash, parentHash, timestamp, logsBloom, receiptsRoot, senders, logs };
}

function parseHeader(raw: PortalLine["header"]): BlockHeader & { receiptsRoot: Hex } {
  const { number } = raw;
  const hash = parseHash(raw.hash);
  const parentHash = parseHash(raw.parentHash);
  const receiptsRoot = parseHash(raw.receiptsRoot);
  const logsBloom = parseBytes(raw.logsBloom);
  const { timestamp } = raw;
  if (hash === undefined || parentHash === undefined || receiptsRoot === undefined)
    throw new Error(`hashes of block ${number} are malformed`);
  if (logsBloom?.length !== BLOOM_LENGTH) throw new Error(`the bloom of block ${number} is malformed`);
  if (typeof timestamp !== "number" || !Number.isSafeInteger(timestamp))
    throw new Error(`block ${number} has no time`);
  const computed = computeHeaderHash(raw);
  if (computed !== hash)
    throw new Error(`the header of block ${number} has the hash ${computed ?? "of no header"}, not ${hash}`);
  return { number, hash, parentHash, timestamp, logsBloom, receiptsRoot };
}

interface Transaction {
  readonly hash: Hex;
  readonly from: Hex;
}

function parseTransactions(list: unknown, number: number): Map<number, Transaction> {
  const transactions = new Map<number, Transaction>();
  for (const entry of toList(list, "transactions", number)) {
    const raw = entry as Record<string, unknown> | null;
    const index = parseIndex(raw?.transactionIndex);
    const hash = parseHash(raw?.hash);
    const from = parseAddress(raw?.from);
    if (index === undefined || hash === undefined || from === undefined)
      throw new Error(`a transaction of block ${number} is malformed`);
    transactions.set(index, { hash, from });
  }
  return transactions;
}

function parseLog(
  entry: unknown,
  { header, transactions }: { header: BlockHeader; transactions: ReadonlyMap<number, Transaction> },
): RawLog | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const raw = entry as Record<string, unknown>;
  const address = parseAddress(raw.address);
  const data = parseBytes(raw.data ?? "0x");
  const topics = Array.isArray(raw.topics) ? raw.topics.map(parseHash) : [];
  const logIndex = parseIndex(raw.logIndex);
  const transactionIndex = parseIndex(raw.transactionIndex);
  if (address === undefined || data === undefined || logIndex === undefined) return undefined;
  if (transactionIndex === undefined || topics.length > MOST_TOPICS || topics.includes(undefined))
    return undefined;
  const transaction = transactions.get(transactionIndex);
  if (transaction === undefined)
    throw new Error(
      `transaction ${transactionIndex} of block ${header.number} is missing, its log ${logIndex} is not`,
    );
  return {
    address,
    topics: topics as Hex[],
    data,
    blockNumber: header.number,
    blockHash: header.hash,
    transactionHash: transaction.hash,
    transactionIndex,
    logIndex,
    blockTimestamp: header.timestamp,
  };
}

/** Lists without entries may be absent. */
function toList(list: unknown, name: string, number: number): readonly unknown[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw new Error(`${name} of block ${number} are no list`);
  return list;
}

function parseIndex(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
