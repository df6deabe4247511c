export interface RangeSizeOptions {
  readonly initial: number;
  /** Never more blocks than this in one request. */
  readonly max: number;
  /** Logs an answer should hold at most. */
  readonly targetLogs: number;
  /** Successes after which a size that was refused is tried again. */
  readonly successesToProbe: number;
}

/** What a provider may say of the sizes it takes. */
export interface Refusal {
  readonly suggested: { readonly fromBlock: number; readonly toBlock: number } | undefined;
  readonly maxBlocks: number | undefined;
}

export interface RangeSize {
  /** Blocks the next request should span. */
  current(): number;
  succeed(blocks: number, logs: number): void;
  refuse(blocks: number, refusal: Refusal): void;
  /** A failure that says nothing about the size. */
  halve(blocks: number): void;
}

/** An explicit limit of the provider is doubted much more rarely than one found by trial. */
const TRUST_IN_LIMITS = 16;
/** Growth towards a size that was refused stops this close to it: the last percents cost more refusals than they save. */
const CLOSE_ENOUGH = 1 / 8;

/**
 * How many blocks to ask for at once: doubles on success, halves on refusal. The smallest size refused is a ceiling
 * that growth approaches by bisection, so that a steady limit costs a handful of refusals and not every second
 * request; the ceiling is forgotten after a while, so that no size is small for ever. Pure state, no I/O.
 */
export function createRangeSize(options: RangeSizeOptions): RangeSize {
  const { max, targetLogs } = options;
  let size = clamp(options.initial);
  /** The largest size that worked since a smaller one was refused. */
  let good = 0;
  let refusedAt = Number.POSITIVE_INFINITY;
  let isNamed = false;
  let successes = 0;

  function clamp(blocks: number): number {
    return Math.max(1, Math.min(Math.floor(blocks), max));
  }

  function setCeiling(blocks: number, named: boolean): void {
    refusedAt = blocks;
    isNamed = named;
    successes = 0;
  }

  function approachCeiling(): number {
    if (!Number.isFinite(refusedAt)) return Number.POSITIVE_INFINITY;
    if (isNamed) return refusedAt - 1;
    return refusedAt - size <= size * CLOSE_ENOUGH ? size : Math.floor((size + refusedAt) / 2);
  }

  return {
    current: () => size,
    succeed(blocks, logs) {
      successes += 1;
      good = Math.max(good, blocks);
      const patience = options.successesToProbe * (isNamed ? TRUST_IN_LIMITS : 1);
      if (successes >= patience) setCeiling(Number.POSITIVE_INFINITY, false);
      const fitting = logs === 0 ? Number.POSITIVE_INFINITY : (blocks * targetLogs) / logs;
      if (fitting < size) size = clamp(Math.max(fitting, size / 2));
      // Answers to smaller requests that were still in flight prove nothing about the size of today.
      else if (blocks >= size) size = clamp(Math.max(size, Math.min(size * 2, fitting, approachCeiling())));
    },
    refuse(blocks, { suggested, maxBlocks }) {
      if (maxBlocks !== undefined && maxBlocks < blocks) {
        setCeiling(maxBlocks + 1, true);
        size = clamp(Math.min(size, maxBlocks));
        return;
      }
      if (blocks < refusedAt) setCeiling(blocks, false);
      if (good >= blocks) good = 0;
      const named = suggested === undefined ? 0 : suggested.toBlock - suggested.fromBlock + 1;
      const smaller = named > 0 && named < blocks ? named : Math.max(blocks / 2, good);
      size = clamp(Math.min(size, smaller));
    },
    halve(blocks) {
      size = clamp(Math.min(size, blocks / 2));
    },
  };
}
