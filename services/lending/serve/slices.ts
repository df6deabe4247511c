/** What other work of this process, requests above all, may have to wait at a time. */
const SLICE_MS = 3;

/** Cuts long work into slices: `if (slices.due()) await slices.pause()` between its steps. */
export class Slices {
  readonly #sliceMs: number;
  #startedMs = performance.now();

  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs;
  }

  due(): boolean {
    return performance.now() - this.#startedMs >= this.#sliceMs;
  }

  /** Lets everything else that waits go first. */
  async pause(): Promise<void> {
    await new Promise(setImmediate);
    this.#startedMs = performance.now();
  }
}
