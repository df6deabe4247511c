import { type Clock, systemClock } from "../../rpc-client/endpoint/clock.ts";
import { createRangeSize } from "../../rpc-client/ranges/range-size.ts";
import { type RangePart, readRanges } from "../../rpc-client/ranges/read-ranges.ts";
import type { BlockLink } from "../links.ts";
import {
  type EvmSource,
  type HistoryPart,
  type LogFilter,
  type LogRange,
  RangeTooLarge,
  type RawLog,
  UpstreamError,
} from "../port.ts";
import { SilentSample } from "./silent-sample.ts";

export interface ScanOptions {
  readonly fromBlock: number;
  /** Inclusive. */
  readonly toBlock: number;
  readonly filter: LogFilter;
  /** Blocks in the first request. */
  readonly initialRange: number;
  /** Most blocks per request; default 100,000. */
  readonly maxRange?: number;
  /** Requests in flight; default 4. */
  readonly concurrency?: number;
  /** Most responses in flight or waiting for the consumer; default twice the concurrency. */
  readonly maxBuffered?: number;
  /** Target of logs per response; default 10,000. */
  readonly targetLogs?: number;
  /**
   * Blocks without logs whose header blooms are compared with each response (spread evenly over the range), to detect
   * withheld logs; Infinity = all of them, default 0 = trust the responses.
   */
  readonly verifyBlocks?: number;
  /** Most of all scanned blocks that are compared, as a share; default 1. */
  readonly verifyShare?: number;
  /** Blocks that are compared beyond that share, the first ones of the scan; default 0. */
  readonly verifyAllowance?: number;
  /** See SilentSampleOptions; default 1 = every bloom is believed. */
  readonly maxFalseRate?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

export interface ScannedRange {
  readonly range: LogRange;
  readonly logs: readonly RawLog[];
  /** Links of the blocks without logs whose headers `verifyBlocks` made it read, in order. */
  readonly links: readonly BlockLink[];
}

type VerifiedLogs = Pick<ScannedRange, "logs" | "links">;

/** Failures of one range after which the scan throws; each of them took a long time of retries. */
const MAX_FAILURES = 3;
/** A single block that is refused as too large cannot be halved: it is retried after pauses. */
const MAX_SINGLE_REFUSALS = 5;
const SINGLE_PAUSE_MS = 500;
/** A header is about a kilobyte, most of it bloom. */
const HEADERS_AT_ONCE = 1_000;

const NEVER = new AbortController().signal;
/** What a history is worth its first request for. */
const MIN_HISTORY_BLOCKS = 1_000;
/** A history that ended early is asked again after so long. */
const HISTORY_PAUSE_MS = 60_000;

type Source = Pick<EvmSource, "logs" | "headers" | "verifyEmpty" | "history">;

/**
 * All logs of a range of any length, strictly in block order and without gaps: each part begins where the one before
 * it ended. Where the filter names contracts, the source's history brings them as far as it goes (checked already,
 * whatever `verifyBlocks` says), and requests the rest. Throws the source's error once halving and retries of requests
 * no longer help (after it has yielded everything before the failing range), or the signal's reason.
 */
export async function* scanLogs(
  source: Source,
  options: ScanOptions,
): AsyncGenerator<ScannedRange, void, undefined> {
  const { toBlock, clock = systemClock } = options;
  let next = options.fromBlock;
  while (next <= toBlock) {
    for await (const { range, blocks } of readHistory(source, { ...options, fromBlock: next })) {
      yield { range, logs: blocks.flatMap((block) => block.logs), links: [] };
      next = range.toBlock + 1;
    }
    if (next > toBlock) return;
    const startedMs = clock.now();
    for await (const part of scanByRequests(source, { ...options, fromBlock: next })) {
      yield part;
      next = part.range.toBlock + 1;
      if (source.history !== undefined && clock.now() - startedMs > HISTORY_PAUSE_MS) break;
    }
  }
}

/** A filter by topic alone would bring every block of the range. */
async function* readHistory(
  source: Source,
  { fromBlock, toBlock, filter, signal = NEVER }: ScanOptions,
): AsyncGenerator<HistoryPart, void, undefined> {
  const { addresses = [] } = filter;
  if (source.history === undefined || addresses.length === 0) return;
  if (toBlock - fromBlock >= MIN_HISTORY_BLOCKS)
    yield* source.history({ fromBlock, toBlock }, filter, signal);
}

/** The same by eth_getLogs. Several requests are in flight; their size follows the provider's limits and the logs. */
async function* scanByRequests(
  source: Source,
  options: ScanOptions,
): AsyncGenerator<ScannedRange, void, undefined> {
  const {
    fromBlock,
    toBlock,
    filter,
    concurrency = 4,
    clock = systemClock,
    signal,
    verifyBlocks = 0,
  } = options;
  const size = createRangeSize({
    initial: options.initialRange,
    max: options.maxRange ?? 100_000,
    targetLogs: options.targetLogs ?? 10_000,
    successesToProbe: 64,
  });
  const sampling = new SilentSample({
    most: verifyBlocks,
    share: options.verifyShare ?? 1,
    allowance: options.verifyAllowance ?? 0,
    maxFalseRate: options.maxFalseRate ?? 1,
  });

  async function read(from: number, to: number): Promise<VerifiedLogs> {
    const range = { fromBlock: from, toBlock: to };
    const response = await verify(range, await source.logs(range, filter));
    size.succeed(to - from + 1, response.logs.length);
    return response;
  }

  /** Prepares a retry of a failed range with a smaller size; false where it gives up. */
  async function recover(error: unknown, segment: RangePart, ended: AbortSignal): Promise<boolean> {
    const blocks = segment.to - segment.from + 1;
    if (error instanceof RangeTooLarge && blocks > 1) {
      size.refuse(blocks, error);
    } else if (error instanceof RangeTooLarge && segment.refusals < MAX_SINGLE_REFUSALS) {
      await clock.sleep(SINGLE_PAUSE_MS * 2 ** segment.refusals, ended);
      segment.refusals += 1;
    } else if (error instanceof UpstreamError && segment.failures < MAX_FAILURES) {
      segment.failures += 1;
      size.halve(blocks);
    } else return false;
    return true;
  }

  async function verify(range: LogRange, logs: readonly RawLog[]): Promise<VerifiedLogs> {
    if (verifyBlocks <= 0) return { logs, links: [] };
    const count = sampling.take(range.toBlock - range.fromBlock + 1);
    if (count === 0) return { logs, links: [] };
    const silent = listSilentBlocks(range, logs);
    const sample = await findMissing(pickEvenly(silent, count), logs);
    // One log was withheld: verify every block of this response.
    const isDoubtful = sample.logs.length > logs.length && silent.length > count;
    return isDoubtful ? findMissing(silent, logs) : sample;
  }

  async function findMissing(numbers: readonly number[], response: readonly RawLog[]): Promise<VerifiedLogs> {
    let logs = response;
    const links: BlockLink[] = [];
    for (let start = 0; start < numbers.length; start += HEADERS_AT_ONCE) {
      const headers = await source.headers(numbers.slice(start, start + HEADERS_AT_ONCE));
      const present = headers.filter((header) => header !== null);
      if (present.length < headers.length)
        throw new UpstreamError("the node returned logs of blocks that it does not have");
      const telling = sampling.selectTelling(present, filter);
      if (telling.length > 0) logs = await source.verifyEmpty(telling, { logs, filter });
      // Drops the blooms, which are most of a header.
      for (const { number, hash, parentHash } of present) links.push({ number, hash, parentHash });
    }
    return { logs, links };
  }

  const parts = readRanges({
    from: fromBlock,
    to: toBlock,
    size: size.current,
    concurrency,
    maxBuffered: options.maxBuffered ?? concurrency * 2,
    read,
    recover,
    signal,
  });
  for await (const { from, to, value } of parts) {
    yield { range: { fromBlock: from, toBlock: to }, ...value };
  }
}

/** Blocks of the range without any log. */
function listSilentBlocks({ fromBlock, toBlock }: LogRange, logs: readonly RawLog[]): number[] {
  const present = new Set(logs.map((log) => log.blockNumber));
  const silent: number[] = [];
  for (let number = fromBlock; number <= toBlock; number++) if (!present.has(number)) silent.push(number);
  return silent;
}

function pickEvenly(numbers: readonly number[], most: number): readonly number[] {
  if (numbers.length <= most) return numbers;
  return Array.from(
    { length: most },
    (_, i) => numbers[Math.floor(((i + 0.5) * numbers.length) / most)] as number,
  );
}
