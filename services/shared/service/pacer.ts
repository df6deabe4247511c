/** Longest time that other requests wait. */
const SLICE_MS = 5;

/**
 * Yields to other requests during long reads. The embedded store is synchronous: nothing else yields between two of its
 * results.
 */
export class Pacer {
  readonly #signal: AbortSignal | undefined;
  #startedMs = performance.now();

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Throws the signal's reason once the client is gone. */
  async step(): Promise<void> {
    if (performance.now() - this.#startedMs < SLICE_MS) return;
    await new Promise(setImmediate);
    this.#signal?.throwIfAborted();
    this.#startedMs = performance.now();
  }
}
