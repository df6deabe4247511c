import { writeSync } from "node:fs";

/** Destination of lines: a file descriptor, or anything that takes text. */
export type LineSink = number | { write(text: string): unknown };

/** At most this many lines a write. */
const MAX_LINES = 500;
/**
 * Least time between two writes: a busy process writes lines by the hundred. A killed process loses these lines, as it
 * would lose those of one turn. With express-http-proxy given its parsed host: 6 to 7 % of the gateway's CPU.
 */
const BUSY_MS = 4;
/** How long to wait for the reader of a full pipe before the next try. */
const FULL_PIPE_MS = 5;

/**
 * Writes the lines of one turn of the event loop together, and under load those of some milliseconds: one system call for
 * a hundred lines. No line waits longer, and the exit of the process flushes. Why not sonic-boom:
 * docs/decisions/0036-libraries-by-measurement.md.
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
 * Writes all bytes. Waits for a slow reader, like a blocking write. When the reader has closed the pipe, lines are lost: a
 * service does not stop because its log has no reader. Throws any other error.
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
