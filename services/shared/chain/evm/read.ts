import type { Fault } from "./fault.ts";
import { parseAddress, parseBytes, parseHash, parseQuantity } from "./hex.ts";
import type { BlockHeader, BlockWithSenders, Hex, LogFilter, LogRange, RawLog } from "./port.ts";
import type { Outcome } from "./work.ts";

/** A bloom that holds nothing: for chains whose nodes leave it out. */
const EMPTY_BLOOM: Hex = `0x${"00".repeat(256)}`;

/** Checks one block answer; null (no such block) is the fault `missing`. */
export function readHeader(result: unknown, wanted: number | "latest"): Outcome<BlockHeader> {
  if (result === null) return { fault: { kind: "missing", message: `no block ${wanted}` } };
  if (typeof result !== "object") return distrust(`block ${wanted}: not an object`);
  const block = result as Record<string, unknown>;
  const number = parseQuantity(block.number);
  const hash = parseHash(block.hash);
  const parentHash = parseHash(block.parentHash);
  const timestamp = parseQuantity(block.timestamp);
  const logsBloom = block.logsBloom === undefined ? EMPTY_BLOOM : parseBytes(block.logsBloom);
  if (number === undefined) return distrust(`block ${wanted}: no number`);
  if (wanted !== "latest" && number !== wanted) return distrust(`asked for block ${wanted}, got ${number}`);
  if (hash === undefined || parentHash === undefined)
    return distrust(`block ${wanted}: hashes are malformed`);
  if (timestamp === undefined) return distrust(`block ${wanted}: no timestamp`);
  if (logsBloom === undefined || logsBloom.length !== EMPTY_BLOOM.length)
    return distrust(`block ${wanted}: bloom is malformed`);
  return { value: { number, hash, parentHash, timestamp, logsBloom } };
}

/** Checks a block with its transactions and keeps nothing of them but the senders. */
export function readBlock(result: unknown, wanted: number): Outcome<BlockWithSenders> {
  const header = readHeader(result, wanted);
  if ("fault" in header) return header;
  const transactions = (result as Record<string, unknown>).transactions;
  if (!Array.isArray(transactions)) return distrust(`block ${wanted}: no transactions`);
  const senders: Hex[] = [];
  for (const [index, transaction] of transactions.entries()) {
    if (typeof transaction !== "object" || transaction === null)
      return distrust(`block ${wanted}: transactions without bodies`);
    const from = parseAddress(transaction.from);
    const position = transaction.transactionIndex;
    if (from === undefined) return distrust(`block ${wanted}: transaction ${index} has no sender`);
    if (position !== undefined && position !== null && parseQuantity(position) !== index) {
      return distrust(`block ${wanted}: transactions out of order at ${index}`);
    }
    senders.push(from);
  }
  return { value: { ...header.value, senders } };
}

/** Checks one eth_getLogs answer against its question; logs come back normalised, in (block, logIndex) order. */
export function readLogs(result: unknown, range: LogRange, filter: LogFilter): Outcome<RawLog[]> {
  if (!Array.isArray(result)) return distrust("logs are not a list");
  const find = createLogCheck(range, filter);
  const logs: RawLog[] = [];
  for (const entry of result) {
    const log = readLog(entry);
    if (log === undefined) return distrust("a log is malformed, pending or removed");
    const wrong = find(log);
    if (wrong !== undefined) return distrust(wrong);
    logs.push(log);
  }
  // Nodes answer in order: sorting is for the one that does not.
  if (findDisorder(logs) === undefined) return { value: logs };
  logs.sort(compareLogs);
  const wrong = findDisorder(logs);
  return wrong === undefined ? { value: logs } : distrust(wrong);
}

/** Whether a log was asked for at all. */
function createLogCheck(range: LogRange, filter: LogFilter): (log: RawLog) => string | undefined {
  const topics = filter.topics.length === 0 ? undefined : new Set<string>(filter.topics.map(lower));
  const addresses = filter.addresses === undefined ? undefined : new Set<string>(filter.addresses.map(lower));
  return ({ blockNumber, topics: [topic0], address }) => {
    if (blockNumber < range.fromBlock || blockNumber > range.toBlock) {
      return `a log of block ${blockNumber} lies outside ${range.fromBlock}-${range.toBlock}`;
    }
    if (topics?.has(topic0 ?? "") === false) return `a log of block ${blockNumber} has a topic not asked for`;
    if (addresses?.has(address) === false)
      return `a log of block ${blockNumber} has an address not asked for`;
    return undefined;
  };
}

function findDisorder(logs: readonly RawLog[]): string | undefined {
  for (let i = 1; i < logs.length; i++) {
    const [a, b] = [logs[i - 1] as RawLog, logs[i] as RawLog];
    const order = compareLogs(a, b);
    if (order === 0) return `log ${b.logIndex} of block ${b.blockNumber} comes twice`;
    if (order > 0) return `log ${b.logIndex} of block ${b.blockNumber} comes late`;
    if (a.blockNumber === b.blockNumber && a.blockHash !== b.blockHash)
      return `two hashes for block ${b.blockNumber}`;
  }
  return undefined;
}

/** One raw log, or undefined where a part is missing or the log is no longer on the chain. */
export function readLog(entry: unknown): RawLog | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const raw = entry as Record<string, unknown>;
  if (raw.removed === true || !Array.isArray(raw.topics) || raw.topics.length > 4) return undefined;
  const address = parseAddress(raw.address);
  const data = parseBytes(raw.data ?? "0x");
  const blockNumber = parseQuantity(raw.blockNumber);
  const blockHash = parseHash(raw.blockHash);
  const transactionHash = parseHash(raw.transactionHash);
  const transactionIndex = parseQuantity(raw.transactionIndex);
  const logIndex = parseQuantity(raw.logIndex);
  if (address === undefined || data === undefined || blockNumber === undefined || blockHash === undefined)
    return undefined;
  if (transactionHash === undefined || transactionIndex === undefined || logIndex === undefined)
    return undefined;
  const topics: Hex[] = [];
  for (const topic of raw.topics) {
    const parsed = parseHash(topic);
    if (parsed === undefined) return undefined;
    topics.push(parsed);
  }
  const log = { address, topics, data, blockNumber, blockHash, transactionHash, transactionIndex, logIndex };
  const blockTimestamp = parseQuantity(raw.blockTimestamp);
  return blockTimestamp === undefined ? log : { ...log, blockTimestamp };
}

/** Chain order. */
export function compareLogs(a: RawLog, b: RawLog): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}

export function distrust(message: string): { readonly fault: Fault } {
  return { fault: { kind: "untrusted", message } };
}

function lower(text: string): string {
  return text.toLowerCase();
}
