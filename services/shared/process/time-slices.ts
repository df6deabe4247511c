/** The longest that long work blocks the event loop. */
const SLICE_MS = 3;

/** Splits long work into time slices: `if (slices.due()) await slices.pause()` between its steps. */
export class TimeSlices {
  readonly #sliceMs: number;
  #startedMs = performance.now();

  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs;
  }

  due(): boolean {
    return performance.now() - this.#startedMs >= this.#sliceMs;
  }

  /** Runs a generator to its end, and pauses where it yields when that is due. */
  async run<T>(steps: Generator<undefined, T>): Promise<T> {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (this.due()) await this.pause();
    }
  }

  /** Yields to the event loop. */
  async pause(): Promise<void> {
    await new Promise(setImmediate);
    this.#startedMs = performance.now();
  }
}
