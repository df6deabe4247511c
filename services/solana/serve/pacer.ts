/** What other requests may have to wait at a time. */
const SLICE_MS = 5;

/**
 * Lets others go first in the middle of a long reading. The embedded store answers at once, so that nothing but this
 * gives way between two of its answers.
 */
export class Pacer {
  readonly #signal: AbortSignal | undefined;
  #startedMs = performance.now();

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Throws the signal's reason once nobody waits for the answer any more. */
  async step(): Promise<void> {
    if (performance.now() - this.#startedMs < SLICE_MS) return;
    await new Promise(setImmediate);
    this.#signal?.throwIfAborted();
    this.#startedMs = performance.now();
  }
}
