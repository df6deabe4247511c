import { ReorgDetected } from "../../../shared/chain-errors.ts";
import { scanLogs } from "../../../shared/evm/logs/scan.ts";
import type { EvmSource, HistoryPart } from "../../../shared/evm/port.ts";
import type { BlockBatch } from "./block-batch.ts";
import type { Fetcher } from "./fetcher.ts";
import { prefetchMap } from "./prefetch.ts";

const INITIAL_RANGE = 40;
/** This many blocks show which way of reading suits chain and source: nothing is prefetched meanwhile. */
const PROBE_BLOCKS = 16;
const MAX_RANGE = 5_000;
const SCAN_CONCURRENCY = 2;
/**
 * Small responses keep the heap small; from 800 to 5,000 logs the speed is the same. Also without a gain beyond the
 * noise: rows for SQLite as JSON, as text of fixed width or twenty per statement; cutting transactions out of a
 * block's text before it is parsed (1.5 %); a young heap of 16 to 64 MB.
 */
const TARGET_LOGS = 2_500;
/**
 * Every block without events is checked against its bloom. On a real chain hardly a block has none of these topics,
 * so the check costs nothing; on an idle one it costs one header per block.
 */
const VERIFY_BLOCKS = Number.POSITIVE_INFINITY;
/** Batches prefetched while one is being written. */
const AHEAD = 3;
/**
 * Of a history, which waits for nothing: the consumer asks for the next batch while it adds one, and that is enough. What is
 * decoded long before its turn is copied by each collection of the young generation.
 */
const HISTORY_AHEAD = 0;
/** Parts of a history that wait as they came: their new pools are read meanwhile, which takes a node some hundred milliseconds. */
const PARTS_AHEAD = 3;

/** Blocks per batch of whole blocks. */
const DENSE_RANGE = 60;
/**
 * Whole blocks are read where more than this share of blocks has indexed events, until it falls below a quarter of
 * that.
 */
const DENSE_SHARE = 0.5;
/** Blocks scanned after whole blocks were unavailable, before the next attempt at them. */
const DENSE_PAUSE_BLOCKS = 5_000;

/** Blocks of one history: pools that become watched meanwhile are read apart until it ends. */
const HISTORY_BLOCKS = 50_000;
/** A history that ended early is asked for again after so long. */
const HISTORY_PAUSE_MS = 60_000;

interface BackfillRange {
  readonly source: EvmSource;
  readonly fetcher: Fetcher;
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  readonly signal: AbortSignal;
}

/**
 * Reads a long range of blocks as batches in order: from the source's history as far as it goes, else by requests, and
 * from the history again after a while.
 */
export async function* readBackfill(options: BackfillRange): AsyncGenerator<BlockBatch> {
  const { source, to, signal } = options;
  let next = options.from;
  while (next <= to && !signal.aborted) {
    for await (const batch of readHistory({ ...options, from: next })) {
      next = batch.last.number + 1;
      yield batch;
    }
    if (next > to || signal.aborted) return;
    const startedMs = performance.now();
    for await (const batch of readByRequests({ ...options, from: next })) {
      next = batch.last.number + 1;
      yield batch;
      if (source.history !== undefined && performance.now() - startedMs > HISTORY_PAUSE_MS) break;
    }
  }
}

/**
 * The history of some blocks; its filter names the pools that are watched by then. Ends where the history does, or where
 * its blocks do not fit together: then they are read by requests.
 */
async function* readHistory(options: BackfillRange): AsyncGenerator<BlockBatch> {
  const { source, fetcher, from, signal } = options;
  const to = Math.min(options.to, from + HISTORY_BLOCKS - 1);
  const run = fetcher.openHistory({ from, to, signal });
  const parts = source.history?.({ fromBlock: from, toBlock: to }, run.filter, signal);
  if (parts === undefined) return;
  try {
    yield* prefetchMap(foreseen(parts, run.foresee), run.read, HISTORY_AHEAD);
  } catch (error) {
    if (!(error instanceof ReorgDetected)) throw error;
    source.distrustHistory?.(error.message);
  }
}

/** The same parts, each told of some parts ahead. */
function foreseen(
  parts: AsyncIterable<HistoryPart>,
  foresee: (part: HistoryPart) => void,
): AsyncGenerator<HistoryPart> {
  const tell = async (part: HistoryPart) => {
    foresee(part);
    return part;
  };
  return prefetchMap(parts, tell, PARTS_AHEAD);
}

/**
 * Sparse parts are scanned: logs by range, then only the blocks
 * that have some. Where nearly every block has events and the source is quick with receipts, it reads whole blocks
 * instead: logs and senders in one response, and nothing twice.
 */
async function* readByRequests(options: BackfillRange): AsyncGenerator<BlockBatch> {
  const { from, to, signal } = options;
  let next = from;
  let denseFrom = 0;
  let isDense = false;
  while (next <= to && !signal.aborted) {
    const stop = new AbortController();
    const part = { ...options, ...nextPart(options, next), signal: AbortSignal.any([signal, stop.signal]) };
    try {
      const batches: AsyncGenerator<BlockBatch> = isDense ? readDense(part) : readSparse(part);
      for await (const batch of batches) {
        const share = batch.blocks.length / (batch.last.number - next + 1);
        next = batch.last.number + 1;
        yield batch;
        const wantsDense: boolean = next >= denseFrom && share > (isDense ? DENSE_SHARE / 4 : DENSE_SHARE);
        if (wantsDense === isDense) continue;
        isDense = wantsDense;
        break;
      }
    } catch (error) {
      if (!(error instanceof WholeBlocksUnavailable)) throw error;
      isDense = false;
      denseFrom = next + DENSE_PAUSE_BLOCKS;
    } finally {
      stop.abort();
    }
  }
}

/** Starts with a few blocks: what was prefetched one way is discarded when the other way is chosen. */
function nextPart({ from, to }: BackfillRange, next: number): { from: number; to: number } {
  return { from: next, to: next === from ? Math.min(to, from + PROBE_BLOCKS - 1) : to };
}

/** The source has no whole blocks, or is slower with them than with their parts. */
class WholeBlocksUnavailable extends Error {
  override readonly name = "NoWholeBlocks";
}

function readSparse(options: BackfillRange): AsyncGenerator<BlockBatch> {
  const scan = scanLogs(options.source, {
    fromBlock: options.from,
    toBlock: options.to,
    filter: options.fetcher.filter,
    initialRange: INITIAL_RANGE,
    maxRange: MAX_RANGE,
    concurrency: SCAN_CONCURRENCY,
    maxBuffered: SCAN_CONCURRENCY + 1,
    targetLogs: TARGET_LOGS,
    verifyBlocks: VERIFY_BLOCKS,
    signal: options.signal,
  });
  const transfers = options.fetcher.scanTransfers(options);
  return prefetchMap(scan, (scanned) => options.fetcher.readSettled(scanned, transfers), AHEAD);
}

function readDense(options: BackfillRange): AsyncGenerator<BlockBatch> {
  const read = async (range: { fromBlock: number; toBlock: number }) => {
    const batch = await options.fetcher.readWhole(range);
    if (batch === undefined) throw new WholeBlocksUnavailable();
    return batch;
  };
  return prefetchMap(rangesOf(options), read, AHEAD);
}

async function* rangesOf({ from, to, signal }: BackfillRange) {
  for (let fromBlock = from; fromBlock <= to && !signal.aborted; fromBlock += DENSE_RANGE) {
    yield { fromBlock, toBlock: Math.min(to, fromBlock + DENSE_RANGE - 1) };
  }
}
