import { createRangeSize } from "../../shared/rpc-client/ranges/range-size.ts";
import { readRanges } from "../../shared/rpc-client/ranges/read-ranges.ts";
import { type BlockLink, type Commitment, type SolanaBlock, SolanaUpstreamError } from "./port.ts";

/** Blocks of a source, or of a reader that decoded them. */
export interface ScannedBlock extends BlockLink {
  readonly transactions: readonly unknown[];
}

export interface SlotScanOptions<B = SolanaBlock> {
  readonly fromSlot: number;
  /** Inclusive. */
  readonly toSlot: number;
  readonly commitment: Commitment;
  /** Slots in the first request; default 4. */
  readonly initialRange?: number;
  /** Slots in a request at most; default 64. */
  readonly maxRange?: number;
  /** Ranges being read at once; default 3. */
  readonly concurrency?: number;
  /** Ranges waiting for the consumer at most, with those being read; default twice the concurrency. */
  readonly maxBuffered?: number;
  /**
   * Transactions a range should hold at most, votes not counted; default 4,000. With `maxBuffered` this bounds the
   * memory: a transaction takes some 10 KB.
   */
  readonly targetTransactions?: number;
  /** Transactions that a block counts as; unset = those it has. */
  readonly weigh?: (block: B) => number;
  readonly signal?: AbortSignal;
}

export interface BlockBatch<B = SolanaBlock> {
  readonly fromSlot: number;
  /** Inclusive; every slot up to it is in `blocks` or proven skipped. */
  readonly toSlot: number;
  readonly blocks: readonly B[];
}

/** Failures of one range after which the scan throws; each is a long time of retries. */
const MAX_FAILURES = 3;

/**
 * The blocks of a range of any length, strictly in order and without gaps, several ranges at once. Each range's first
 * block is the child of the last one before it. Throws SolanaUpstreamError once retries are exhausted, or if a range does
 * not continue the one before (a fork: everything up to there has been yielded), or the signal's reason.
 */
export async function* scanBlocks<B extends ScannedBlock>(
  source: { blocks(range: { fromSlot: number; toSlot: number; commitment: Commitment }): Promise<B[]> },
  options: SlotScanOptions<B>,
): AsyncGenerator<BlockBatch<B>, void, undefined> {
  const { commitment, concurrency = 3, weigh = (block: B) => block.transactions.length } = options;
  const size = createRangeSize({
    initial: options.initialRange ?? 4,
    max: options.maxRange ?? 64,
    targetLogs: options.targetTransactions ?? 4_000,
    successesToProbe: 64,
  });
  const readRange = (fromSlot: number, toSlot: number) => source.blocks({ fromSlot, toSlot, commitment });
  const ranges = readRanges({
    from: options.fromSlot,
    to: options.toSlot,
    size: size.current,
    concurrency,
    maxBuffered: options.maxBuffered ?? concurrency * 2,
    async read(fromSlot, toSlot) {
      const blocks = await readRange(fromSlot, toSlot);
      size.succeed(
        toSlot - fromSlot + 1,
        blocks.reduce((sum, block) => sum + weigh(block), 0),
      );
      return blocks;
    },
    async recover(error, segment) {
      if (!(error instanceof SolanaUpstreamError) || segment.failures >= MAX_FAILURES) return false;
      segment.failures += 1;
      size.halve(segment.to - segment.from + 1);
      return true;
    },
    signal: options.signal,
  });
  let last: B | undefined;
  for await (const { from, to, value } of ranges) {
    let blocks = value;
    // The range before it was read at another moment: read this one again, now that that one is known.
    if (!isContinuation(last, blocks)) blocks = await readRange(from, to);
    if (!isContinuation(last, blocks)) {
      const { slot, parentSlot } = blocks[0] as B;
      throw new SolanaUpstreamError(
        `solana: slot ${slot} names slot ${parentSlot} as its parent, another block than slot ${last?.slot}'s`,
      );
    }
    last = blocks[blocks.length - 1] ?? last;
    yield { fromSlot: from, toSlot: to, blocks };
  }
}

function isContinuation(last: BlockLink | undefined, [first]: readonly BlockLink[]): boolean {
  if (last === undefined || first === undefined) return true;
  return first.parentSlot === last.slot && first.previousBlockhash === last.blockhash;
}
