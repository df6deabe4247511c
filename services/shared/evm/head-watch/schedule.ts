/** A block as far as its time matters. */
export interface TimedBlock {
  readonly number: number;
  /** Unix seconds. */
  readonly timestamp: number;
}

interface Arrival extends TimedBlock {
  /** Monotonic milliseconds at which it was first seen. */
  readonly atMs: number;
}

/** Blocks that the block time and its regularity are learnt from. */
const REMEMBERED = 12;
const ENOUGH = 4;
/** Timestamps are whole seconds: of faster chains they say nothing of the next block. */
const MIN_BLOCK_MS = 1_000;
/** A step of the learnt delay after a look that came too early. */
const MAX_STEP_MS = 500;
/** Share of looks that may come too early, for each second of block time: the price of not being late. */
const EARLY_SHARE_A_SECOND = 0.02;
const MAX_EARLY_SHARE = 0.3;
/** Looks in vain for a block are this much further apart from each to the next. */
const BACK_OFF = 1.5;

/**
 * Learns when a chain's next block is due. Block time: from the timestamps. Delay between a timestamp and the block's
 * arrival here: a quantile, found without a memory of all delays. Each look in vain moves it up by a step, each block
 * that was there at once moves it down by so much less that the two balance at the wanted share of early looks
 * (stochastic approximation, Robbins and Monro 1951).
 */
export class HeadSchedule {
  readonly #pollMs: number;
  #arrivals: Arrival[] = [];
  #delayMs: number | undefined;
  #misses = 0;

  /** @param pollMs Least time between two looks, and the time between them where blocks are not regular. */
  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  /** Milliseconds a block; undefined before enough blocks have come, and where their times cannot be foretold. */
  get blockMs(): number | undefined {
    const [first, last] = [this.#arrivals[0], this.#arrivals.at(-1)];
    if (first === undefined || last === undefined || this.#arrivals.length < ENOUGH) return undefined;
    const blockMs = (1_000 * (last.timestamp - first.timestamp)) / (last.number - first.number);
    if (blockMs < MIN_BLOCK_MS) return undefined;
    return spreadOf(this.#arrivals.map(delayOf)) <= Math.max(MIN_BLOCK_MS, blockMs / 2) ? blockMs : undefined;
  }

  /** A block came. `isPrompt`: the look was not held up, so that its time tells something. */
  arrived({ number, timestamp }: TimedBlock, atMs: number, isPrompt = true): void {
    const last = this.#arrivals.at(-1);
    if (number === last?.number) return;
    if (last !== undefined && (number < last.number || timestamp < last.timestamp)) {
      this.reset();
      return;
    }
    const blockMs = this.blockMs;
    if (isPrompt) this.#arrivals = [...this.#arrivals, { number, timestamp, atMs }].slice(-REMEMBERED);
    if (blockMs !== undefined && this.#delayMs !== undefined) {
      if (isPrompt && this.#misses === 0) this.#delayMs -= stepOf(blockMs) * earlyShareOf(blockMs);
    } else if (this.blockMs !== undefined) this.#delayMs = medianOf(this.#arrivals.map(delayOf));
    this.#misses = 0;
  }

  /** A look for the next block found none. */
  missed(): void {
    this.#misses += 1;
    if (this.#misses === 1) this.#lookLater();
  }

  /** A block that was taken for the head was replaced by its successor's parent: the look came before it was complete. */
  replaced(): void {
    const { blockMs } = this;
    if (blockMs === undefined) return;
    this.#lookLater();
    // All of them came too early by that much: the blocks are no less regular for it.
    const stepMs = stepOf(blockMs);
    this.#arrivals = this.#arrivals.map((arrival) => ({ ...arrival, atMs: arrival.atMs + stepMs }));
  }

  reset(): void {
    this.#arrivals = [];
    this.#delayMs = undefined;
    this.#misses = 0;
  }

  /** When to look for the block after `latest`, in monotonic milliseconds; `lookedAtMs` is the last look's time. */
  nextLook(latest: TimedBlock, lookedAtMs: number): number {
    const { blockMs } = this;
    const soonest = lookedAtMs + this.#pollMs;
    if (blockMs === undefined || this.#delayMs === undefined) return soonest;
    if (this.#misses === 0) return Math.max(soonest, latest.timestamp * 1_000 + blockMs + this.#delayMs);
    const pauseMs = stepOf(blockMs) * BACK_OFF ** (this.#misses - 1);
    return Math.max(soonest, lookedAtMs + Math.min(blockMs, pauseMs));
  }

  /** Blocks that should have come after `latest`; 0 where that cannot be foretold. */
  expectedAfter(latest: TimedBlock, nowMs: number): number {
    const { blockMs } = this;
    if (blockMs === undefined || this.#delayMs === undefined) return 0;
    return Math.floor((nowMs - latest.timestamp * 1_000 - this.#delayMs) / blockMs);
  }

  #lookLater(): void {
    const { blockMs } = this;
    if (blockMs !== undefined && this.#delayMs !== undefined) this.#delayMs += stepOf(blockMs);
  }
}

function delayOf({ timestamp, atMs }: Arrival): number {
  return atMs - timestamp * 1_000;
}

function stepOf(blockMs: number): number {
  return Math.min(MAX_STEP_MS, blockMs / 8);
}

function earlyShareOf(blockMs: number): number {
  return Math.min(MAX_EARLY_SHARE, (EARLY_SHARE_A_SECOND * blockMs) / 1_000);
}

/** Without the outermost sixth at both ends: one late block says nothing of the next. */
function spreadOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const cut = Math.floor(sorted.length / 6);
  return (sorted.at(-1 - cut) ?? 0) - (sorted[cut] ?? 0);
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
