import { writeSync } from "node:fs";

/** Where lines end up: a file descriptor, or anything that takes text. */
export type LineSink = number | { write(text: string): unknown };

/** Lines that one write should have at most. */
const MAX_LINES = 500;
/** Where lines were written so lately, the next ones wait as long: a busy process writes them by the hundred. */
const BUSY_MS = 4;
/** How long to wait for the reader of a full pipe before the next try. */
const FULL_PIPE_MS = 5;

/**
 * Writes the lines of one turn of the event loop together, and under load those of some milliseconds: a system call for
 * a hundred lines in place of one each. Nothing waits longer than that, and nothing is left at the exit of the process.
 */
export class LineWriter {
  readonly #sink: LineSink;
  #lines: string[] = [];
  #flushedMs = Number.NEGATIVE_INFINITY;
  readonly #flush = (): void => this.flushSync();

  constructor(sink: LineSink) {
    this.#sink = sink;
    process.once("exit", () => this.flushSync());
  }

  write(line: string): void {
    if (this.#lines.length === 0) {
      if (performance.now() - this.#flushedMs > BUSY_MS) setImmediate(this.#flush);
      else setTimeout(this.#flush, BUSY_MS);
    }
    this.#lines.push(line);
    if (this.#lines.length > MAX_LINES) this.flushSync();
  }

  /** Pino calls it after a fatal line. */
  flushSync(): void {
    if (this.#lines.length === 0) return;
    this.#flushedMs = performance.now();
    const text = this.#lines.join("");
    this.#lines = [];
    if (typeof this.#sink === "number") writeFully(this.#sink, Buffer.from(text));
    else this.#sink.write(text);
  }
}

/**
 * Writes all of it. Waits for a reader that is slow, as a blocking write would. Where the reader is gone, lines are lost: a service does
 * not end because nobody reads its log. Throws what else goes wrong.
 */
export function writeFully(fd: number, bytes: Buffer): void {
  let at = 0;
  while (at < bytes.length) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") return;
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
    }
  }
}
