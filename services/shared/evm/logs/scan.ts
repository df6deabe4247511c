import { type Clock, systemClock } from "../../rpc-client/clock.ts";
import { createRangeSize } from "../../rpc-client/range-size.ts";
import { readRanges, type Segment } from "../../rpc-client/ranges.ts";
import type { BlockLink } from "../links.ts";
import {
  type EvmSource,
  type LogFilter,
  type LogRange,
  RangeTooLarge,
  type RawLog,
  UpstreamError,
} from "../port.ts";

export interface ScanOptions {
  readonly fromBlock: number;
  /** Inclusive. */
  readonly toBlock: number;
  readonly filter: LogFilter;
  /** Blocks in the first request. */
  readonly initialRange: number;
  /** Blocks in a request at most; default 100,000. */
  readonly maxRange?: number;
  /** Requests in flight; default 4. */
  readonly concurrency?: number;
  /** Answers waiting for the consumer at most, with those in flight; default twice the concurrency. */
  readonly maxBuffered?: number;
  /** Logs an answer should hold at most; default 10,000. */
  readonly targetLogs?: number;
  /**
   * Blocks without logs whose header bloom is compared with each answer (spread evenly over the range), so that a
   * node that answers empty is found out; Infinity = all of them, default 0 = trust the answers.
   */
  readonly verifyBlocks?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

export interface ScannedRange {
  readonly range: LogRange;
  readonly logs: readonly RawLog[];
  /** Of the blocks without logs whose headers were read for `verifyBlocks`, in order. */
  readonly links: readonly BlockLink[];
}

type VerifiedLogs = Pick<ScannedRange, "logs" | "links">;

/** Failures of one stretch of blocks after which the scan gives the error to its caller; each is a long time of retries. */
const MAX_FAILURES = 3;
/** A single block that is refused as too large cannot be halved: it is tried again after pauses. */
const MAX_SINGLE_REFUSALS = 5;
const SINGLE_PAUSE_MS = 500;
/** A header is about a kilobyte, most of it bloom. */
const HEADERS_AT_ONCE = 1_000;

type Source = Pick<EvmSource, "logs" | "headers" | "verifyEmpty">;

/**
 * All logs of a range of any length, strictly in block order and without gaps: each chunk begins where the one
 * before it ended. Several requests are in flight; their size follows what the provider takes and how much it
 * answers. Throws what the source throws once halving and trying again no longer help (everything before the
 * failing range has been yielded by then), or the signal's reason.
 */
export async function* scanLogs(
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

  async function read(from: number, to: number): Promise<VerifiedLogs> {
    const range = { fromBlock: from, toBlock: to };
    const answer = await verify(range, await source.logs(range, filter));
    size.succeed(to - from + 1, answer.logs.length);
    return answer;
  }

  /** Tries a failed part again with a smaller size, or gives up on it. */
  async function recover(error: unknown, segment: Segment, ended: AbortSignal): Promise<boolean> {
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
    const silent = listSilentBlocks(range, logs);
    const sample = await findMissing(pickEvenly(silent, verifyBlocks), logs);
    // One log withheld: no block of this answer is believed any more.
    const isDoubtful = sample.logs.length > logs.length && silent.length > verifyBlocks;
    return isDoubtful ? findMissing(silent, logs) : sample;
  }

  async function findMissing(numbers: readonly number[], answer: readonly RawLog[]): Promise<VerifiedLogs> {
    let logs = answer;
    const links: BlockLink[] = [];
    for (let start = 0; start < numbers.length; start += HEADERS_AT_ONCE) {
      const headers = await source.headers(numbers.slice(start, start + HEADERS_AT_ONCE));
      const present = headers.filter((header) => header !== null);
      if (present.length < headers.length)
        throw new UpstreamError("blocks whose logs were answered are not there");
      logs = await source.verifyEmpty(present, { logs, filter });
      // Without the blooms, which are most of a header.
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
