import { FIELDS, type FieldTable } from "./fields.ts";

/** Most bytes of a query, and most items over all its filter lists. */
export const MAX_QUERY_BYTES = 256 * 1024;
export const MAX_ITEMS = 100;

export interface LogItem {
  /** Absent = any; empty = none. */
  readonly address: ReadonlySet<string> | undefined;
  /** Of topic 0 to 3, the same. */
  readonly topics: readonly (ReadonlySet<string> | undefined)[];
  readonly transaction: boolean;
  readonly transactionLogs: boolean;
}

export interface TransactionItem {
  readonly from: ReadonlySet<string> | undefined;
  readonly to: ReadonlySet<string> | undefined;
  readonly sighash: ReadonlySet<string> | undefined;
  readonly firstNonce: number | undefined;
  readonly lastNonce: number | undefined;
  readonly logs: boolean;
}

export interface PortalQuery {
  readonly fromBlock: number;
  /** Inclusive; absent = up to the head. */
  readonly toBlock: number | undefined;
  readonly parentBlockHash: string | undefined;
  readonly includeAllBlocks: boolean;
  /** The selected fields, in the order of the schema. */
  readonly fields: Readonly<Record<FieldTable, readonly string[]>>;
  readonly logs: readonly LogItem[];
  readonly transactions: readonly TransactionItem[];
}

/** The query is refused with 400. */
export class BadQuery extends Error {
  override readonly name = "BadQuery";
}

type Members = Readonly<Record<string, unknown>>;

/** Reads a query as strictly as a portal: whatever it does not know is refused. Throws BadQuery. */
export function parseQuery(text: string, { startBlock }: { startBlock: number }): PortalQuery {
  if (Buffer.byteLength(text) > MAX_QUERY_BYTES)
    throw new BadQuery(`query is too large: at most ${MAX_QUERY_BYTES} bytes are allowed`);
  const query = membersOf(parseJson(text), "query");
  allowOnly(query, "query", QUERY_MEMBERS);
  if (query.type !== "evm") throw new BadQuery(`unknown query type ${JSON.stringify(query.type)}`);
  const fromBlock = integerOf(query, "fromBlock") ?? 0;
  const toBlock = integerOf(query, "toBlock");
  if (toBlock !== undefined && toBlock < fromBlock)
    throw new BadQuery(`toBlock ${toBlock} is below fromBlock ${fromBlock}`);
  if (fromBlock < startBlock)
    throw new BadQuery(`fromBlock ${fromBlock} is below the first block of the dataset, ${startBlock}`);
  const parent = query.parentBlockHash;
  if (parent !== undefined && typeof parent !== "string")
    throw new BadQuery("parentBlockHash: expected a string");
  for (const name of UNSERVED)
    if (listOf(query, name).length > 0) throw new BadQuery(`${name}: this local server has none`);
  const logs = listOf(query, "logs");
  const transactions = listOf(query, "transactions");
  if (logs.length + transactions.length > MAX_ITEMS)
    throw new BadQuery(
      `query has ${logs.length + transactions.length} items: at most ${MAX_ITEMS} are allowed`,
    );
  return {
    fromBlock,
    toBlock,
    parentBlockHash: parent,
    includeAllBlocks: flagOf(query, "includeAllBlocks"),
    fields: fieldsOf(query.fields ?? {}),
    logs: logs.map(logItem),
    transactions: transactions.map(transactionItem),
  };
}

const UNSERVED = ["traces", "stateDiffs"] as const;
const QUERY_MEMBERS = [
  ...["type", "fromBlock", "toBlock", "parentBlockHash", "includeAllBlocks", "fields"],
  ...["logs", "transactions", ...UNSERVED],
];
const TOPICS = ["topic0", "topic1", "topic2", "topic3"] as const;
const UNSERVED_FLAGS = ["transactionTraces", "transactionStateDiffs", "traces", "stateDiffs"] as const;
const LOG_MEMBERS = [
  ...["address", ...TOPICS, "transaction", "transactionLogs"],
  ...UNSERVED_FLAGS.slice(0, 2),
];
const TRANSACTION_MEMBERS = [
  ...["from", "to", "sighash", "firstNonce", "lastNonce", "logs"],
  ...UNSERVED_FLAGS.slice(2),
];

function logItem(value: unknown, at: number): LogItem {
  const item = membersOf(value, `logs[${at}]`);
  allowOnly(item, `logs[${at}]`, LOG_MEMBERS);
  refuseUnservedFlags(item, `logs[${at}]`);
  return {
    address: setOf(item, "address", lower),
    // Topics are compared as they were sent: one in capitals matches nothing.
    topics: TOPICS.map((name) => setOf(item, name)),
    transaction: flagOf(item, "transaction"),
    transactionLogs: flagOf(item, "transactionLogs"),
  };
}

function transactionItem(value: unknown, at: number): TransactionItem {
  const item = membersOf(value, `transactions[${at}]`);
  allowOnly(item, `transactions[${at}]`, TRANSACTION_MEMBERS);
  refuseUnservedFlags(item, `transactions[${at}]`);
  return {
    from: setOf(item, "from", lower),
    to: setOf(item, "to", lower),
    sighash: setOf(item, "sighash", lower),
    firstNonce: integerOf(item, "firstNonce"),
    lastNonce: integerOf(item, "lastNonce"),
    logs: flagOf(item, "logs"),
  };
}

function refuseUnservedFlags(item: Members, place: string): void {
  for (const name of UNSERVED_FLAGS)
    if (flagOf(item, name)) throw new BadQuery(`${place}.${name}: this local server has none`);
}

function fieldsOf(value: unknown): PortalQuery["fields"] {
  const tables = membersOf(value, "fields");
  allowOnly(tables, "fields", Object.keys(FIELDS));
  const selected = (table: FieldTable) => {
    const members = membersOf(tables[table] ?? {}, `fields.${table}`);
    allowOnly(members, `fields.${table}`, FIELDS[table]);
    return FIELDS[table].filter((name) => flagOf(members, name));
  };
  return { block: selected("block"), transaction: selected("transaction"), log: selected("log") };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadQuery(`query is not JSON: ${error instanceof Error ? error.message : error}`);
  }
}

function membersOf(value: unknown, place: string): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BadQuery(`${place}: expected an object`);
  return value as Members;
}

function allowOnly(members: Members, place: string, known: readonly string[]): void {
  const stranger = Object.keys(members).find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw new BadQuery(`${place}: unknown field \`${stranger}\`, expected one of ${known.join(", ")}`);
}

function listOf(members: Members, name: string): readonly unknown[] {
  const value = members[name] ?? [];
  if (!Array.isArray(value)) throw new BadQuery(`${name}: expected a list`);
  return value;
}

function setOf(
  item: Members,
  name: string,
  normalise: (text: string) => string = (text) => text,
): ReadonlySet<string> | undefined {
  if (item[name] === undefined) return undefined;
  const list = listOf(item, name);
  if (!list.every((each) => typeof each === "string")) throw new BadQuery(`${name}: expected strings`);
  return new Set(list.map((each) => normalise(each as string)));
}

function integerOf(members: Members, name: string): number | undefined {
  const value = members[name];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw new BadQuery(`${name}: expected an integer from 0, got ${JSON.stringify(value)}`);
  return value;
}

function flagOf(members: Members, name: string): boolean {
  const value = members[name] ?? false;
  if (typeof value !== "boolean")
    throw new BadQuery(`${name}: expected a boolean, got ${JSON.stringify(value)}`);
  return value;
}

function lower(text: string): string {
  return text.toLowerCase();
}
