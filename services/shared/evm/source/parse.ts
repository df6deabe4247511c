import type { Mutable } from "../../mutable.ts";
import type { Fault } from "../../rpc-client/endpoint/fault.ts";
import type { Outcome } from "../../rpc-client/pending-request.ts";
import { parseAddress, parseBytes, parseHash, parseQuantity } from "../hex.ts";
import type { BlockHeader, BlockWithSenders, Hex, LogFilter, LogRange, RawLog } from "../port.ts";

/** An empty bloom, for chains whose nodes leave it out. */
const EMPTY_BLOOM: Hex = `0x${"00".repeat(256)}`;

/** Parses a block's header; null (no such block) is the fault `missing`. */
export function parseHeader(result: unknown, wanted: number | "latest"): Outcome<BlockHeader> {
  if (result === null) return { fault: { kind: "missing", message: `no block ${wanted}` } };
  if (typeof result !== "object") return untrustedFault(`block ${wanted}: not an object`);
  const block = result as Record<string, unknown>;
  const number = parseQuantity(block.number);
  const hash = parseHash(block.hash);
  const parentHash = parseHash(block.parentHash);
  const timestamp = parseQuantity(block.timestamp);
  const logsBloom = block.logsBloom === undefined ? EMPTY_BLOOM : parseBytes(block.logsBloom);
  if (number === undefined) return untrustedFault(`block ${wanted}: no number`);
  if (wanted !== "latest" && number !== wanted)
    return untrustedFault(`requested block ${wanted}, got ${number}`);
  if (hash === undefined || parentHash === undefined)
    return untrustedFault(`block ${wanted}: hashes are malformed`);
  if (timestamp === undefined) return untrustedFault(`block ${wanted}: no timestamp`);
  if (logsBloom === undefined || logsBloom.length !== EMPTY_BLOOM.length)
    return untrustedFault(`block ${wanted}: bloom is malformed`);
  return { value: { number, hash, parentHash, timestamp, logsBloom } };
}

/** Parses a block with its transactions and keeps only their senders. */
export function parseBlock(result: unknown, wanted: number): Outcome<BlockWithSenders> {
  const header = parseHeader(result, wanted);
  if ("fault" in header) return header;
  const senders = parseSenders((result as Record<string, unknown>).transactions);
  return senders === undefined
    ? untrustedFault(`block ${wanted}: its transactions are out of order or lack senders`)
    : { value: { ...header.value, senders } };
}

/**
 * The same from a header and the receipts of its block. Receipts that do not match count as unavailable, not as
 * untrusted: some chains have transactions without receipts, and the full block has the senders too.
 */
export function parseBlockReceipts(
  block: unknown,
  receipts: unknown,
  wanted: number,
): Outcome<BlockWithSenders> {
  const header = parseHeader(block, wanted);
  if ("fault" in header) return header;
  const { transactions } = block as Record<string, unknown>;
  const { hash } = header.value;
  const fits =
    Array.isArray(receipts) &&
    Array.isArray(transactions) &&
    transactions.length === receipts.length &&
    receipts.every((receipt) => String(receipt?.blockHash).toLowerCase() === hash);
  const senders = fits ? parseSenders(receipts) : undefined;
  return senders === undefined
    ? { fault: { kind: "state", message: `block ${wanted}: no receipts that fit it` } }
    : { value: { ...header.value, senders } };
}

/** `from` of transactions or receipts; undefined where one is missing or out of place. */
function parseSenders(entries: unknown): Hex[] | undefined {
  if (!Array.isArray(entries)) return undefined;
  const senders: Hex[] = [];
  for (const [index, entry] of entries.entries()) {
    const from = parseAddress(entry?.from);
    const position = entry?.transactionIndex;
    const isInPlace = position === undefined || position === null || parseQuantity(position) === index;
    if (from === undefined || !isInPlace) return undefined;
    senders.push(from);
  }
  return senders;
}

/**
 * The filter's logs of a block from its receipts (after `parseBlockReceipts` has matched them to the block). Detects
 * missing logs: they are numbered from 0 without a gap, and only an empty bloom has none.
 */
export function parseReceiptLogs(
  receipts: unknown,
  { block, filter }: { block: BlockHeader; filter: LogFilter },
): Outcome<RawLog[]> {
  const mayBeWanted = createTopicPrefilter(filter);
  const isWanted = createLogFilter(filter);
  const read = createLogParser();
  const logs: RawLog[] = [];
  let next = 0;
  for (const receipt of receipts as readonly Record<string, unknown>[]) {
    if (!Array.isArray(receipt.logs))
      return untrustedFault(`block ${block.number}: a receipt has no list of logs`);
    for (const entry of receipt.logs) {
      if (parseQuantity(entry?.logIndex) !== next++)
        return untrustedFault(`block ${block.number}: log ${next - 1} is missing`);
      if (!mayBeWanted(entry)) continue;
      const log = read(entry);
      if (log === undefined || log.blockNumber !== block.number || log.blockHash !== block.hash) {
        return untrustedFault(`block ${block.number}: log ${next - 1} is malformed or another block's`);
      }
      if (isWanted(log)) logs.push(log);
    }
  }
  return next === 0 && block.logsBloom !== EMPTY_BLOOM
    ? untrustedFault(`block ${block.number}: its receipts have no logs, its bloom has`)
    : { value: logs };
}

/** Rejects most unwanted logs by their raw topic and address, before they are parsed. */
function createTopicPrefilter(
  filter: LogFilter,
): (entry: { topics?: unknown[]; address?: unknown }) => boolean {
  const topics = filter.topics.length === 0 ? undefined : new Set<unknown>(filter.topics.map(lower));
  const isAddressed = createAddressedFilter(filter);
  return ({ topics: raw, address }) => {
    const topic0 = raw?.[0];
    if (topics === undefined || typeof topic0 !== "string" || topics.has(topic0)) return true;
    if (typeof address === "string" && isAddressed(topic0, address)) return true;
    return topics.has(lower(topic0)) || isAddressed(lower(topic0), lower(String(address)));
  };
}

type AddressedFilter = (topic0: string, address: string) => boolean;

/** Sets of thousands of contracts: built once per filter, not once per block. */
const addressedFilters = new WeakMap<LogFilter, AddressedFilter>();

function createAddressedFilter(filter: LogFilter): AddressedFilter {
  const { addressed } = filter;
  if (addressed === undefined) return () => false;
  const known = addressedFilters.get(filter);
  if (known !== undefined) return known;
  const topics = new Set<string>(addressed.topics.map(lower));
  const addresses = new Set<string>(addressed.addresses.map(lower));
  const check: AddressedFilter = (topic0, address) => topics.has(topic0) && addresses.has(address);
  addressedFilters.set(filter, check);
  return check;
}

/**
 * Parses an eth_getLogs response and checks it against range and filter; logs are normalised, in (block, logIndex)
 * order.
 */
export function parseLogs(result: unknown, range: LogRange, filter: LogFilter): Outcome<RawLog[]> {
  if (!Array.isArray(result)) return untrustedFault("logs are not a list");
  const read = createLogParser();
  const find = createScopeCheck(range, filter);
  const logs: RawLog[] = [];
  for (const entry of result) {
    const log = read(entry);
    if (log === undefined) return untrustedFault("a log is malformed, pending or removed");
    const wrong = find(log);
    if (wrong !== undefined) return untrustedFault(wrong);
    logs.push(log);
  }
  // Nodes return logs in order; others are sorted here.
  if (findDisorder(logs) === undefined) return { value: logs };
  logs.sort(compareLogs);
  const wrong = findDisorder(logs);
  return wrong === undefined ? { value: logs } : untrustedFault(wrong);
}

/** The error of a log outside the range or the filter. */
function createScopeCheck(range: LogRange, filter: LogFilter): (log: RawLog) => string | undefined {
  const isWanted = createLogFilter(filter);
  return (log) => {
    if (log.blockNumber < range.fromBlock || log.blockNumber > range.toBlock) {
      return `a log of block ${log.blockNumber} lies outside ${range.fromBlock}-${range.toBlock}`;
    }
    return isWanted(log)
      ? undefined
      : `a log of block ${log.blockNumber} has a topic or address outside the filter`;
  };
}

/** The filter as eth_getLogs applies it, and its `addressed` topics. */
export function createLogFilter(filter: LogFilter): (log: RawLog) => boolean {
  const topics = filter.topics.length === 0 ? undefined : new Set<string>(filter.topics.map(lower));
  const addresses = filter.addresses === undefined ? undefined : new Set<string>(filter.addresses.map(lower));
  const isAddressed = createAddressedFilter(filter);
  return ({ topics: [topic0], address }) =>
    ((topics === undefined || topics.has(topic0 ?? "")) &&
      (addresses === undefined || addresses.has(address))) ||
    isAddressed(topic0 ?? "", address);
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

/** Parses one raw log; undefined where a field is missing or malformed, or the log was removed from the chain. */
type LogParser = (entry: unknown) => RawLog | undefined;

/**
 * A parser for the logs of one response. Neighbours share their block, transaction, contract and event: a value equal
 * to the one before is not parsed again, which halves the cost of a log.
 */
function createLogParser(): LogParser {
  const parseAddressOnce = memoizeLast(parseAddress);
  const parseBlockHash = memoizeLast(parseHash);
  const parseTransactionHash = memoizeLast(parseHash);
  const parseTopic0 = memoizeLast(parseHash);
  return (entry) => {
    if (typeof entry !== "object" || entry === null) return undefined;
    const raw = entry as Record<string, unknown>;
    const topics = raw.removed === true ? undefined : parseTopics(raw.topics, parseTopic0);
    const address = parseAddressOnce(raw.address);
    const data = parseBytes(raw.data ?? "0x");
    const blockHash = parseBlockHash(raw.blockHash);
    const transactionHash = parseTransactionHash(raw.transactionHash);
    const position = parsePosition(raw);
    if (topics === undefined || address === undefined || data === undefined) return undefined;
    if (blockHash === undefined || transactionHash === undefined || position === undefined) return undefined;
    const { blockNumber, transactionIndex, logIndex } = position;
    const log: Mutable<RawLog> = {
      address,
      topics,
      data,
      blockNumber,
      blockHash,
      transactionHash,
      transactionIndex,
      logIndex,
    };
    const blockTimestamp = raw.blockTimestamp === undefined ? undefined : parseQuantity(raw.blockTimestamp);
    if (blockTimestamp !== undefined) log.blockTimestamp = blockTimestamp;
    return log;
  };
}

function parseTopics(raw: unknown, parseTopic0: (value: unknown) => Hex | undefined): Hex[] | undefined {
  if (!Array.isArray(raw) || raw.length > 4) return undefined;
  const topics: Hex[] = [];
  for (const [i, value] of raw.entries()) {
    const topic = i === 0 ? parseTopic0(value) : parseHash(value);
    if (topic === undefined) return undefined;
    topics.push(topic);
  }
  return topics;
}

function parsePosition(raw: Record<string, unknown>) {
  const blockNumber = parseQuantity(raw.blockNumber);
  const transactionIndex = parseQuantity(raw.transactionIndex);
  const logIndex = parseQuantity(raw.logIndex);
  if (blockNumber === undefined || transactionIndex === undefined || logIndex === undefined) return undefined;
  return { blockNumber, transactionIndex, logIndex };
}

function memoizeLast(parse: (value: unknown) => Hex | undefined): (value: unknown) => Hex | undefined {
  let lastValue: unknown;
  let lastParsed: Hex | undefined;
  return (value) => {
    if (value === lastValue) return lastParsed;
    lastParsed = parse(value);
    lastValue = value;
    return lastParsed;
  };
}

/** Chain order. */
export function compareLogs(a: RawLog, b: RawLog): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}

export function untrustedFault(message: string): { readonly fault: Fault } {
  return { fault: { kind: "untrusted", message } };
}

function lower(text: string): string {
  return text.toLowerCase();
}
