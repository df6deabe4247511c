import { FIELDS, type FieldTable } from "./fields.ts";
import {
  allowOnly,
  BadQuery,
  flagOf,
  integerOf,
  listOf,
  lower,
  type Members,
  membersOf,
  type QueryRange,
  readFields,
  readMembers,
  readRange,
  setOf,
} from "./query-members.ts";

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

export interface PortalQuery extends QueryRange {
  /** The selected fields, in the order of the schema. */
  readonly fields: Readonly<Record<FieldTable, readonly string[]>>;
  readonly logs: readonly LogItem[];
  readonly transactions: readonly TransactionItem[];
}

/** Reads a query as strictly as a portal: whatever it does not know is refused. Throws BadQuery. */
export function parseQuery(text: string, { startBlock }: { startBlock: number }): PortalQuery {
  const query = readMembers(text, { type: "evm", lists: ["logs", "transactions", ...UNSERVED] });
  const range = readRange(query, { startBlock });
  for (const name of UNSERVED)
    if (listOf(query, name).length > 0) throw new BadQuery(`${name}: this local server has none`);
  return {
    ...range,
    fields: readFields(query.fields, FIELDS),
    logs: listOf(query, "logs").map(logItem),
    transactions: listOf(query, "transactions").map(transactionItem),
  };
}

const UNSERVED = ["traces", "stateDiffs"] as const;
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
