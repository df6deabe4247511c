const HOUR_MS = 3_600_000;
/** Reads that may follow each other at once after a pause. */
const MAX_BURST = 10;

/** Limits how much is read on request: so many an hour, at most ten at once. */
export class ReadBudget {
  readonly #perHour: number;
  readonly #nowMs: () => number;
  readonly #burst: number;
  #left: number;
  #atMs: number;

  /** @param nowMs monotonic milliseconds */
  constructor(perHour: number, nowMs: () => number = () => performance.now()) {
    this.#perHour = perHour;
    this.#nowMs = nowMs;
    this.#burst = Math.min(MAX_BURST, perHour);
    this.#left = this.#burst;
    this.#atMs = nowMs();
  }

  /** Milliseconds until one may be read; Infinity where none ever may. */
  waitMs(): number {
    const nowMs = this.#nowMs();
    this.#left = Math.min(this.#burst, this.#left + ((nowMs - this.#atMs) * this.#perHour) / HOUR_MS);
    this.#atMs = nowMs;
    return this.#left >= 1 ? 0 : ((1 - this.#left) * HOUR_MS) / this.#perHour;
  }

  spend(): void {
    this.#left -= 1;
  }
}
