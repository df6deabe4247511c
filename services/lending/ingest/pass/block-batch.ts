import { ReorgDetected } from "../../../shared/chain-errors.ts";
import { checkLinks } from "../../../shared/evm/links.ts";
import { scanLogs } from "../../../shared/evm/logs/scan.ts";
import { listTellingBlocks } from "../../../shared/evm/logs/silent-blocks.ts";
import type { BlockHeader, EvmSource, Hex, RawLog } from "../../../shared/evm/port.ts";

/** A run of consecutive blocks with their logs, fetched and applied together. */
export interface BlockBatch {
  readonly headers: readonly BlockHeader[];
  /** In the chain's order. */
  readonly logs: readonly RawLog[];
}

/**
 * Fetches the blocks from `from` to the head with all logs of the topics. Checks that each block has the hash of the one
 * before as its parent (the first one `parentHash`, if given), and finds missing logs by the blooms. Throws ReorgDetected
 * where blocks and logs do not fit together.
 */
export async function fetchBlockBatch(
  source: EvmSource,
  {
    from,
    head,
    parentHash,
    topics,
    signal,
  }: {
    from: number;
    head: BlockHeader;
    parentHash?: string | undefined;
    topics: readonly Hex[];
    signal: AbortSignal;
  },
): Promise<BlockBatch> {
  if (from > head.number) return { headers: [], logs: [] };
  if (from === head.number) return readHead(source, { head, parentHash, topics });
  const numbers = Array.from({ length: head.number - from + 1 }, (_, i) => from + i);
  const headers = (await source.headers(numbers)).filter((header) => header !== null);
  const last = headers.at(-1);
  if (headers.length < numbers.length || last?.hash !== head.hash)
    throw new ReorgDetected(`Blocks ${from} to ${head.number} do not lead to ${head.hash}.`);
  checkLinks(headers, parentHash ?? (headers[0] as BlockHeader).parentHash);
  if (topics.length === 0) return { headers, logs: [] };

  const filter = { topics };
  const received: RawLog[] = [];
  const range = { fromBlock: from, toBlock: head.number };
  const scan = scanLogs(source, { ...range, filter, initialRange: numbers.length, signal });
  for await (const { logs } of scan) received.push(...logs);
  const logs = await source.verifyEmpty(headers, { logs: received, filter });
  const foreign = logs.find((log) => headers[log.blockNumber - from]?.hash !== log.blockHash);
  if (foreign !== undefined)
    throw new ReorgDetected(
      `A log of block ${foreign.blockNumber} has another block hash: ${foreign.blockHash}.`,
    );
  return { headers, logs };
}

/** The head alone, whose header is known: one request for its logs, by its hash. */
async function readHead(
  source: EvmSource,
  {
    head,
    parentHash,
    topics,
  }: { head: BlockHeader; parentHash?: string | undefined; topics: readonly Hex[] },
): Promise<BlockBatch> {
  const headers = [head];
  checkLinks(headers, parentHash ?? head.parentHash);
  if (topics.length === 0) return { headers, logs: [] };
  const filter = { topics };
  const isLinked = parentHash !== undefined;
  const range = { fromBlock: head.number, toBlock: head.number, blockHash: head.hash, isLinked };
  const received = await source.logs(range, filter);
  const telling = listTellingBlocks(headers, filter);
  const logs = await source.verifyEmpty(telling, { logs: received, filter });
  return { headers, logs };
}
