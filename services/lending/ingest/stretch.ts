import { ReorgDetected } from "../../shared/chain-errors.ts";
import { checkLinks } from "../../shared/evm/links.ts";
import { scanLogs } from "../../shared/evm/logs/scan.ts";
import type { BlockHeader, EvmSource, Hex, RawLog } from "../../shared/evm/port.ts";

/** Blocks one after the other, and what was said in them. */
export interface Stretch {
  readonly headers: readonly BlockHeader[];
  /** In order. */
  readonly logs: readonly RawLog[];
}

/**
 * The blocks from `from` to the head, each following on the one before it, the first on `parentHash` where one is
 * given, with all logs that have one of the topics: what an answer lacks is found out by the blooms. Throws ReorgDetected
 * where they do not fit together.
 */
export async function readStretch(
  source: EvmSource,
  of: {
    from: number;
    head: BlockHeader;
    parentHash?: string | undefined;
    topics: readonly Hex[];
    signal: AbortSignal;
  },
): Promise<Stretch> {
  const { from, head, topics, signal } = of;
  if (from > head.number) return { headers: [], logs: [] };
  const numbers = Array.from({ length: head.number - from + 1 }, (_, i) => from + i);
  const headers = (await source.headers(numbers)).filter((header) => header !== null);
  const last = headers.at(-1);
  if (headers.length < numbers.length || last?.hash !== head.hash)
    throw new ReorgDetected(`Blocks ${from} to ${head.number} are not those that lead to ${head.hash}.`);
  checkLinks(headers, of.parentHash ?? (headers[0] as BlockHeader).parentHash);
  if (topics.length === 0) return { headers, logs: [] };

  const filter = { topics };
  const answered: RawLog[] = [];
  const range = { fromBlock: from, toBlock: head.number };
  const scan = scanLogs(source, { ...range, filter, initialRange: numbers.length, signal });
  for await (const { logs } of scan) answered.push(...logs);
  const logs = await source.verifyEmpty(headers, { logs: answered, filter });
  const stranger = logs.find((log) => headers[log.blockNumber - from]?.hash !== log.blockHash);
  if (stranger !== undefined)
    throw new ReorgDetected(`A log of block ${stranger.blockNumber} says that it is ${stranger.blockHash}.`);
  return { headers, logs };
}
