/** Runs work one after another, in the order of the calls. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves or fails as the work does; a failure does not stop what comes after it. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
