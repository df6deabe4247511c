/** A block that is being written. */
interface WrittenBlock {
  readonly number: number;
  readonly hash: string;
}

interface PendingWrite {
  readonly block: WrittenBlock;
  readonly written: Promise<void>;
  /** What follows once it is written. */
  readonly onWritten: () => Promise<void>;
  /** What follows where it is not. */
  readonly onFailure: () => void;
}

/**
 * The write of some batches while the next ones are read and added: one at a time. What follows a write is done at the next
 * `settled`, so that it finds no batch half added.
 */
export class WriteBehind {
  #pending: PendingWrite | undefined;

  /** The last block of what is under way. */
  get block(): WrittenBlock | undefined {
    return this.#pending?.block;
  }

  /** None may be under way. */
  start(write: PendingWrite): void {
    if (this.#pending !== undefined) throw new Error("Another batch is being written.");
    // Awaited later: until then a failure must not count as unhandled.
    write.written.catch(() => {});
    this.#pending = write;
  }

  /** Until what is under way is written, and what follows is done. Throws what either threw. */
  async settled(): Promise<void> {
    const pending = this.#pending;
    if (pending === undefined) return;
    try {
      await pending.written;
    } catch (error) {
      pending.onFailure();
      throw error;
    } finally {
      this.#pending = undefined;
    }
    await pending.onWritten();
  }
}
