import { Readable } from "node:stream";

/** The connection that a body comes from. */
export interface FlowControl {
  pause(): void;
  resume(): void;
  abort(): void;
}

/**
 * A body that is passed on while it arrives: the service sends at the client's pace, and no more than a stream's buffer
 * is in memory. Ends with an error when the service dies or falls silent; destroying it closes the connection.
 */
export class StreamedBody extends Readable {
  /** Its whole length, where the service sent it. */
  readonly byteLength: number | undefined;
  /** Why the service's response broke off; undefined where it did not, or a reader ended it. Set before "error". */
  failure: Error | undefined;
  readonly #source: FlowControl;
  readonly #silence: NodeJS.Timeout;
  #isPaused = false;

  constructor(
    source: FlowControl,
    { byteLength, maxSilenceMs }: { readonly byteLength: number | undefined; readonly maxSilenceMs: number },
  ) {
    super();
    this.byteLength = byteLength;
    this.#source = source;
    // The reader has listeners of its own; a body that breaks before it is read must not end the process.
    this.on("error", () => {});
    this.#silence = setTimeout(() => {
      // A paused service may be silent.
      if (!this.#isPaused) this.fail(new Error(`The service sent nothing for ${maxSilenceMs} ms`));
    }, maxSilenceMs);
  }

  accept(piece: Buffer): void {
    this.#silence.refresh();
    if (this.push(piece)) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  end(): void {
    clearTimeout(this.#silence);
    this.push(null);
  }

  /** Ends the body as broken off by the service. */
  fail(error: Error): void {
    if (this.destroyed) return;
    this.failure = error;
    this.destroy(error);
  }

  override _read(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#silence.refresh();
    this.#source.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#silence);
    this.#source.abort();
    done(error);
  }
}
