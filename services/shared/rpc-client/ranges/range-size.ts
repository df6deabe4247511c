export interface RangeSizeOptions {
  readonly initial: number;
  /** Never more blocks than this in one request. */
  readonly max: number;
  /** Target maximum of logs per response. */
  readonly targetLogs: number;
  /** Successes after which a refused size is tried again. */
  readonly successesToProbe: number;
}

/** A provider's hints about the ranges it accepts. */
export interface RangeRefusal {
  readonly suggested: { readonly fromBlock: number; readonly toBlock: number } | undefined;
  readonly maxBlocks: number | undefined;
}

export interface RangeSize {
  /** Blocks the next request should span. */
  current(): number;
  succeed(blocks: number, logs: number): void;
  refuse(blocks: number, refusal: RangeRefusal): void;
  /** Call after a failure that may or may not be due to the size. */
  halve(blocks: number): void;
}

/** A limit that the provider names is probed this many times less often than one found by trial. */
const NAMED_LIMIT_FACTOR = 16;
/** Growth stops this close to a refused size: the last percents cost more refusals than they save. */
const CEILING_MARGIN = 1 / 8;

/**
 * Adapts the number of blocks per request: doubles on success, halves on refusal. The smallest refused size is a ceiling
 * that growth approaches by bisection, so that a constant limit costs a handful of refusals, not every second request.
 * The ceiling expires, so that no size stays small for ever. Pure state, no I/O.
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
    return refusedAt - size <= size * CEILING_MARGIN ? size : Math.floor((size + refusedAt) / 2);
  }

  return {
    current: () => size,
    succeed(blocks, logs) {
      successes += 1;
      good = Math.max(good, blocks);
      const patience = options.successesToProbe * (isNamed ? NAMED_LIMIT_FACTOR : 1);
      if (successes >= patience) setCeiling(Number.POSITIVE_INFINITY, false);
      const fitting = logs === 0 ? Number.POSITIVE_INFINITY : (blocks * targetLogs) / logs;
      if (fitting < size) size = clamp(Math.max(fitting, size / 2));
      // Responses to smaller, earlier requests say nothing about the current size.
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
