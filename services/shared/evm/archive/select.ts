import type { PortalLine } from "../../portal/stream.ts";

/** What a query asks for of the logs: any of the items, all that an item names. Lower-case. */
export interface LogItem {
  readonly address?: readonly string[];
  readonly topic0?: readonly string[];
}

interface RecordedLog {
  readonly transactionIndex: number;
  readonly address: string;
  readonly topics: readonly string[];
}

/** A function that keeps of a line the logs that one of the items asks for, with their transactions. */
export function createLineFilter(
  items: readonly LogItem[],
): (line: PortalLine) => PortalLine & { logs: readonly unknown[] } {
  const sets = items.map(({ address, topic0 }) => ({
    address: address === undefined ? undefined : new Set(address),
    topic0: topic0 === undefined ? undefined : new Set(topic0),
  }));
  const isWanted = (log: RecordedLog) =>
    sets.some(
      ({ address, topic0 }) =>
        (topic0 === undefined || topic0.has(log.topics[0] ?? "")) &&
        (address === undefined || address.has(log.address)),
    );
  return ({ header, ...lists }) => {
    const all = (lists.logs ?? []) as readonly RecordedLog[];
    const logs = all.filter(isWanted);
    const wanted = new Set(logs.map(({ transactionIndex }) => transactionIndex));
    const transactions = ((lists.transactions ?? []) as readonly RecordedLog[]).filter((each) =>
      wanted.has(each.transactionIndex),
    );
    return { header, logs, transactions };
  };
}
