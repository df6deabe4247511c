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
/** Bounds of a step of the learnt delay after a look that came too early. */
const MIN_STEP_MS = 15;
const MAX_STEP_MS = 500;
/** Share of looks that may come too early, for each second of block time: the price of not being late. */
const EARLY_SHARE_A_SECOND = 0.02;
const MAX_EARLY_SHARE = 0.3;
/** Blocks at first of which so many may be looked for too early as at most: the delay is found by halving steps. */
const LEARNING = 16;
/**
 * Looks too early, as a share of those wanted, below which steps are halved, and doubled above; blocks without any, in wanted
 * pauses between two, after which steps grow.
 */
const RARE = 0.25;
const OVERDUE = 1.5;
/** Looks in vain for a block are this much further apart from each to the next. */
const BACK_OFF = 1.5;

/**
 * Learns when a chain's next block is due. Block time: from the timestamps. Delay between a timestamp and the block's
 * arrival here: a quantile, found without a memory of all delays. Each look in vain moves it up by a step, each block
 * that was there at once moves it down by so much less that the two balance at the wanted share of early looks
 * (stochastic approximation, Robbins and Monro 1951). On average each block is seen half a step late for it, so steps shrink while
 * early looks are as rare as they are wanted to be, and grow where the delay itself moves.
 */
export class HeadSchedule {
  readonly #pollMs: number;
  #arrivals: Arrival[] = [];
  #delayMs: number | undefined;
  #misses = 0;
  #stepMs: number | undefined;
  /** Blocks since the last that was looked for too early. */
  #hits = 0;
  /** Blocks that were foretold. */
  #foretold = 0;

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
      this.#foretold += 1;
      if (isPrompt && this.#misses === 0) this.#lookSooner(blockMs, this.#delayMs);
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
    const beforeMs = this.#delayMs ?? 0;
    this.#lookLater();
    // All of them came too early by that much: the blocks are no less regular for it.
    const stepMs = (this.#delayMs ?? 0) - beforeMs;
    this.#arrivals = this.#arrivals.map((arrival) => ({ ...arrival, atMs: arrival.atMs + stepMs }));
  }

  reset(): void {
    this.#arrivals = [];
    this.#delayMs = undefined;
    this.#misses = 0;
    this.#stepMs = undefined;
    this.#hits = 0;
    this.#foretold = 0;
  }

  /** When to look for the block after `latest`, in monotonic milliseconds; `lookedAtMs` is the last look's time. */
  nextLook(latest: TimedBlock, lookedAtMs: number): number {
    const { blockMs } = this;
    const soonest = lookedAtMs + this.#pollMs;
    if (blockMs === undefined || this.#delayMs === undefined) return soonest;
    if (this.#misses === 0) return Math.max(soonest, latest.timestamp * 1_000 + blockMs + this.#delayMs);
    // The block is due: where looks may be as close as a step, these may be half as close.
    const firstMs = maxStepOf(blockMs) / 2;
    const leastMs = this.#pollMs <= 2 * firstMs ? this.#pollMs / 2 : this.#pollMs;
    const pauseMs = Math.min(blockMs, firstMs * BACK_OFF ** (this.#misses - 1));
    return lookedAtMs + Math.max(leastMs, pauseMs);
  }

  /** Blocks that should have come after `latest`; 0 where that cannot be foretold. */
  expectedAfter(latest: TimedBlock, nowMs: number): number {
    const { blockMs } = this;
    if (blockMs === undefined || this.#delayMs === undefined) return 0;
    return Math.floor((nowMs - latest.timestamp * 1_000 - this.#delayMs) / blockMs);
  }

  #lookLater(): void {
    const { blockMs } = this;
    if (blockMs === undefined || this.#delayMs === undefined) return;
    const stepMs = this.#stepOf(blockMs);
    const isRare = this.#hits * this.#earlyShareOf(blockMs) >= RARE;
    this.#stepMs = isRare ? Math.max(MIN_STEP_MS, stepMs / 2) : Math.min(maxStepOf(blockMs), stepMs * 2);
    this.#hits = 0;
    this.#delayMs += this.#stepMs;
  }

  #lookSooner(blockMs: number, delayMs: number): void {
    const share = this.#earlyShareOf(blockMs);
    this.#hits += 1;
    const stepMs = this.#stepOf(blockMs);
    // Blocks seem to come sooner than they did.
    if (this.#hits * share > OVERDUE) this.#stepMs = Math.min(maxStepOf(blockMs), stepMs * (1 + 2 * share));
    this.#delayMs = delayMs - this.#stepOf(blockMs) * share;
  }

  #earlyShareOf(blockMs: number): number {
    if (this.#foretold < LEARNING) return MAX_EARLY_SHARE;
    return Math.min(MAX_EARLY_SHARE, (EARLY_SHARE_A_SECOND * blockMs) / 1_000);
  }

  #stepOf(blockMs: number): number {
    return this.#stepMs ?? maxStepOf(blockMs);
  }
}

function delayOf({ timestamp, atMs }: Arrival): number {
  return atMs - timestamp * 1_000;
}

function maxStepOf(blockMs: number): number {
  return Math.min(MAX_STEP_MS, blockMs / 8);
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
