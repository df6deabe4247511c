import { scanLogs } from "../../../../shared/evm/logs/scan.ts";
import type { EvmSource, Hex, LogFilter, RawLog } from "../../../../shared/evm/port.ts";
import { toPortalQueries } from "../../../../shared/evm/portal/request.ts";
import type { PortalClient } from "../../../../shared/portal/client.ts";
import type { PortalLine } from "../../../../shared/portal/stream.ts";
import type { Factory } from "../../../deployments.ts";
import { protocolOf } from "../../../protocols/index.ts";
import { matchesDecoder } from "../../../protocols/protocol.ts";
import { filterOf } from "../../fetch/emitters.ts";

/** The logs of a contract over all blocks from one up to another. */
export type ReadContract = (
  filter: { readonly topic: Hex; readonly address: Hex },
  range: { readonly fromBlock: number; readonly toBlock: number },
) => AsyncIterable<Pick<RawLog, "topics" | "data">>;

/**
 * What the index of exchanges reads: their events, and the Transfers of every pool whose shares are tokens, all of which
 * their factories name up to the last block.
 */
export async function findRecordedLogs(
  factories: readonly Factory[],
  { toBlock, read }: { toBlock: number; read: ReadContract },
): Promise<LogFilter> {
  const topics = [...filterOf(factories).topics].sort();
  const transfers = new Set<Hex>();
  const pools = new Set<Hex>();
  for (const { address, kind, fromBlock } of factories) {
    const { created, lpTokens } = protocolOf(kind);
    if (lpTokens === undefined) continue;
    transfers.add(lpTokens.transfer.topic);
    if (fromBlock > toBlock) continue;
    for await (const log of read({ topic: created.topic, address }, { fromBlock, toBlock }))
      if (matchesDecoder(log, created)) pools.add(created.decode(log).pool as Hex);
  }
  if (transfers.size === 0) return { topics };
  return { topics, addressed: { topics: [...transfers].sort(), addresses: [...pools].sort() } };
}

export function readContractFrom(source: EvmSource): ReadContract {
  return async function* ({ topic, address }, range) {
    const filter = { topics: [topic], addresses: [address] };
    for await (const { logs } of scanLogs(source, { ...range, filter, initialRange: 10_000 })) yield* logs;
  };
}

export function readContractFromPortal(client: PortalClient, signal: AbortSignal): ReadContract {
  return async function* ({ topic, address }, range) {
    const [query] = toPortalQueries({ topics: [topic], addresses: [address] });
    if (query === undefined) return;
    for await (const lines of client.stream({ ...range, query, signal }))
      for (const { logs = [] } of lines) yield* logs as readonly RawLog[];
  };
}

/** The lines of a range for a filter that may take several queries: each brings every block, their logs are joined. */
export async function* readFromPortal(
  client: PortalClient,
  range: { readonly fromBlock: number; readonly toBlock: number },
  { filter, signal }: { filter: LogFilter; signal: AbortSignal },
): AsyncGenerator<PortalLine> {
  const streams = toPortalQueries(filter).map((query) => flatten(client.stream({ ...range, query, signal })));
  try {
    for (;;) {
      const parts = await Promise.all(streams.map((stream) => stream.next()));
      const lines = parts.flatMap((part) => (part.done === true ? [] : [part.value]));
      if (lines.length === 0) return;
      yield joinLines(lines);
    }
  } finally {
    await Promise.all(streams.map((stream) => stream.return(undefined)));
  }
}

async function* flatten(parts: AsyncIterable<readonly PortalLine[]>): AsyncGenerator<PortalLine> {
  for await (const lines of parts) yield* lines;
}

/** Throws Error where they are not of one block. */
function joinLines(lines: readonly PortalLine[]): PortalLine {
  const [first, ...others] = lines as [PortalLine, ...PortalLine[]];
  if (others.length === 0) return first;
  for (const { header } of others)
    if (header.hash !== first.header.hash)
      throw new Error(
        `The portal has two blocks ${first.header.number}: ${first.header.hash} and ${header.hash}.`,
      );
  return {
    header: first.header,
    logs: joinBy(
      "logIndex",
      lines.map((line) => line.logs),
    ),
    transactions: joinBy(
      "transactionIndex",
      lines.map((line) => line.transactions),
    ),
  };
}

function joinBy(key: string, lists: readonly unknown[]): unknown[] {
  type Entry = Readonly<Record<string, number>>;
  const entries = new Map<number, Entry>();
  for (const list of lists)
    for (const entry of (list ?? []) as readonly Entry[]) entries.set(entry[key] as number, entry);
  return [...entries.values()].sort((a, b) => (a[key] as number) - (b[key] as number));
}
