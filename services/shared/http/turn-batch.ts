/**
 * Collects work and runs it together at the end of the current turn of the event loop. Socket writes are batched so:
 * writes in one go wake their reader once, and over loopback and on virtual machines a wake-up costs more than the write.
 * One turn holds what arrived together, so no item waits for a later one.
 */
export class TurnBatch<T> {
  readonly #work: (item: T) => void;
  #items: T[] = [];
  readonly #run = (): void => {
    const items = this.#items;
    this.#items = [];
    for (const item of items) this.#work(item);
  };

  /** `work` must not throw. */
  constructor(work: (item: T) => void) {
    this.#work = work;
  }

  add(item: T): void {
    if (this.#items.length === 0) setImmediate(this.#run);
    this.#items.push(item);
  }
}
