import type { Hex, LogFilter } from "../port.ts";
import { HASHED_FIELDS } from "../proof/header-hash.ts";

/** Contracts in one request: its body may have 256 KiB. */
export const MAX_PORTAL_ADDRESSES = 5_000;

const FIELDS = {
  // All that the hash covers: so that the portal cannot make up any of it.
  block: select(["hash", ...HASHED_FIELDS]),
  transaction: select(["transactionIndex", "hash", "from"]),
  log: select(["logIndex", "transactionIndex", "address", "topics", "data"]),
};

interface LogItem {
  readonly address?: readonly Hex[];
  readonly topic0?: readonly Hex[];
  readonly transaction: true;
}

/** A query of EVM blocks, without its range. */
export interface PortalQuery {
  readonly type: "evm";
  readonly includeAllBlocks: boolean;
  readonly fields: typeof FIELDS;
  readonly logs: readonly LogItem[];
  readonly [field: string]: unknown;
}

/**
 * The queries whose logs together are the filter's: one, unless it names more contracts than fit a request. They bring
 * every block of a range, unless the filter is of some contracts only.
 */
export function toPortalQueries(filter: LogFilter): PortalQuery[] {
  const { topics, addresses, addressed } = filter;
  const items = [
    ...(addresses === undefined ? [toItem(topics)] : splitItems(topics, addresses)),
    ...(addressed === undefined ? [] : splitItems(addressed.topics, addressed.addresses)),
  ];
  const requests: LogItem[][] = [[]];
  let room = MAX_PORTAL_ADDRESSES;
  for (const item of items) {
    const count = item.address?.length ?? 0;
    if (count > room) {
      requests.push([]);
      room = MAX_PORTAL_ADDRESSES;
    }
    requests.at(-1)?.push(item);
    room -= count;
  }
  const includeAllBlocks = addresses === undefined;
  return requests.map((logs) => ({ type: "evm", includeAllBlocks, fields: FIELDS, logs }));
}

/** No topics are all; no contracts are none. */
function splitItems(topics: readonly Hex[], addresses: readonly Hex[]): LogItem[] {
  const items: LogItem[] = [];
  for (let at = 0; at < addresses.length; at += MAX_PORTAL_ADDRESSES) {
    const address = addresses.slice(at, at + MAX_PORTAL_ADDRESSES).map(lower);
    items.push({ address, ...toItem(topics) });
  }
  return items;
}

function toItem(topics: readonly Hex[]): LogItem {
  return { ...(topics.length > 0 && { topic0: topics.map(lower) }), transaction: true };
}

/** Portals match lower case only. */
function lower(hex: Hex): Hex {
  return hex.toLowerCase() as Hex;
}

function select<const N extends string>(names: readonly N[]): Readonly<Record<N, true>> {
  return Object.fromEntries(names.map((name) => [name, true])) as Record<N, true>;
}
