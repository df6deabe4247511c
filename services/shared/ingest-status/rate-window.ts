interface Sample {
  readonly ms: number;
  readonly count: number;
}

/** The rate of something over the last minute. Pure state; times in milliseconds. */
export class RateWindow {
  readonly #spanMs: number;
  readonly #minSpanMs: number;
  #samples: Sample[] = [];
  #count = 0;

  constructor(options: { spanMs?: number; minSpanMs?: number } = {}) {
    this.#spanMs = options.spanMs ?? 60_000;
    this.#minSpanMs = options.minSpanMs ?? 1_000;
  }

  /** The first call only marks the start: its count took an unknown time. */
  add(count: number, nowMs: number): void {
    this.#count += count;
    const last = this.#samples.at(-1);
    // Two samples a second are enough, and keep the list short.
    if (last !== undefined && this.#samples.length > 1 && nowMs - last.ms < 500)
      this.#samples[this.#samples.length - 1] = { ms: last.ms, count: this.#count };
    else this.#samples.push({ ms: nowMs, count: this.#count });
    this.#drop(nowMs);
  }

  /** Per second; undefined with too few samples, and after a whole span without counts. */
  perSecond(nowMs: number): number | undefined {
    this.#drop(nowMs);
    const [first] = this.#samples;
    if (first === undefined || nowMs - first.ms < this.#minSpanMs) return undefined;
    const done = this.#count - first.count;
    return done > 0 ? (done * 1_000) / (nowMs - first.ms) : undefined;
  }

  /** Keeps one sample from before the span, so that a slow rate can be measured. */
  #drop(nowMs: number): void {
    while (this.#samples.length > 1 && (this.#samples[1] as Sample).ms < nowMs - this.#spanMs)
      this.#samples.shift();
  }
}
