/**
 * Work for the end of this turn of the event loop, done in one go. Writes to sockets are put off to it under load: what
 * is written together wakes its reader once, and a reader that is awake is not woken again, which over loopback and on
 * virtual machines costs more than the write. A turn is what came in together, so that nothing waits for what is yet to
 * come.
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
