import { scanLogs } from "../../shared/evm/logs/scan.ts";
import type { EvmSource } from "../../shared/evm/port.ts";
import type { Chunk } from "./chunk.ts";
import type { Fetcher } from "./fetch.ts";
import { mapAhead } from "./map-ahead.ts";

const INITIAL_RANGE = 40;
/** Which way of reading suits chain and source is known after so few blocks: nothing is read ahead meanwhile. */
const FIRST_LOOK = 16;
const MAX_RANGE = 5_000;
const SCAN_CONCURRENCY = 2;
/** Small answers keep the heap small; beyond some thousand logs larger ones are no faster. */
const TARGET_LOGS = 2_500;
/**
 * Every block without events is checked against its bloom. On a real chain hardly a block has none of these topics,
 * so that the check costs nothing; on a quiet one it costs a header a block.
 */
const VERIFY_BLOCKS = Number.POSITIVE_INFINITY;
/** Chunks fetched while one is being written. */
const AHEAD = 3;

/** Blocks a chunk when whole blocks are read. */
const DENSE_RANGE = 60;
/** Whole blocks are read where more than this share of blocks has our events, and given up below a quarter of it. */
const DENSE_SHARE = 0.5;
/** Blocks scanned after whole blocks were not to be had, before they are asked for again. */
const DENSE_PAUSE = 5_000;

export interface BackfillRange {
  readonly source: EvmSource;
  readonly fetcher: Fetcher;
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  readonly signal: AbortSignal;
}

/**
 * A long run of blocks as chunks in order. Sparse stretches are scanned: logs by range, then only the blocks that have
 * some. Where nearly every block has events and the source is quick with receipts, whole blocks are read instead: one
 * answer with logs and senders, and nothing twice.
 */
export async function* readBackfill(of: BackfillRange): AsyncGenerator<Chunk> {
  const { from, to, signal } = of;
  let next = from;
  let denseFrom = 0;
  let isDense = false;
  while (next <= to && !signal.aborted) {
    const stop = new AbortController();
    const part = { ...of, ...nextPart(of, next), signal: AbortSignal.any([signal, stop.signal]) };
    try {
      const chunks: AsyncGenerator<Chunk> = isDense ? readDense(part) : readSparse(part);
      for await (const chunk of chunks) {
        const share = chunk.blocks.length / (chunk.last.number - next + 1);
        next = chunk.last.number + 1;
        yield chunk;
        const wantsDense: boolean = next >= denseFrom && share > (isDense ? DENSE_SHARE / 4 : DENSE_SHARE);
        if (wantsDense === isDense) continue;
        isDense = wantsDense;
        break;
      }
    } catch (error) {
      if (!(error instanceof NoWholeBlocks)) throw error;
      isDense = false;
      denseFrom = next + DENSE_PAUSE;
    } finally {
      stop.abort();
    }
  }
}

/** A look at a few blocks first: what is read ahead in the one way is thrown away when the other is chosen. */
function nextPart({ from, to }: BackfillRange, next: number): { from: number; to: number } {
  return { from: next, to: next === from ? Math.min(to, from + FIRST_LOOK - 1) : to };
}

/** The source does not give whole blocks, or not as fast as their parts. */
class NoWholeBlocks extends Error {
  override readonly name = "NoWholeBlocks";
}

function readSparse(of: BackfillRange): AsyncGenerator<Chunk> {
  const scan = scanLogs(of.source, {
    fromBlock: of.from,
    toBlock: of.to,
    filter: of.fetcher.filter,
    initialRange: INITIAL_RANGE,
    maxRange: MAX_RANGE,
    concurrency: SCAN_CONCURRENCY,
    maxBuffered: SCAN_CONCURRENCY + 1,
    targetLogs: TARGET_LOGS,
    verifyBlocks: VERIFY_BLOCKS,
    signal: of.signal,
  });
  const transfers = of.fetcher.scanTransfers(of);
  return mapAhead(scan, (scanned) => of.fetcher.readSettled(scanned, transfers), AHEAD);
}

function readDense(of: BackfillRange): AsyncGenerator<Chunk> {
  const read = async (range: { fromBlock: number; toBlock: number }) => {
    const chunk = await of.fetcher.readWhole(range);
    if (chunk === undefined) throw new NoWholeBlocks();
    return chunk;
  };
  return mapAhead(rangesOf(of), read, AHEAD);
}

async function* rangesOf(of: BackfillRange) {
  for (let fromBlock = of.from; fromBlock <= of.to && !of.signal.aborted; fromBlock += DENSE_RANGE) {
    yield { fromBlock, toBlock: Math.min(of.to, fromBlock + DENSE_RANGE - 1) };
  }
}
