/** Where lines end up: pino's own destination, which writes at once. */
export interface LineSink {
  write(text: string): unknown;
}

/** As many bytes as one write should have at most. */
const MAX_BATCH = 65_536;

/**
 * Writes the lines of one turn of the event loop together: under load a system call for dozens of lines in place of one
 * each. Nothing waits longer than that, and nothing is left at the exit of the process.
 */
export class LineBatch implements LineSink {
  readonly #sink: LineSink;
  #text = "";

  constructor(sink: LineSink) {
    this.#sink = sink;
    process.once("exit", () => this.flushSync());
  }

  write(line: string): void {
    if (this.#text === "") setImmediate(() => this.flushSync());
    this.#text += line;
    if (this.#text.length > MAX_BATCH) this.flushSync();
  }

  /** Pino calls it after a fatal line. */
  flushSync(): void {
    if (this.#text === "") return;
    const text = this.#text;
    this.#text = "";
    this.#sink.write(text);
  }
}
