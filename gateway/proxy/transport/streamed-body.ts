import { Readable } from "node:stream";

/** The connection that a body comes from. */
export interface BodySource {
  pause(): void;
  resume(): void;
  abort(): void;
}

/**
 * A body on its way through: the client's pace becomes the service's, and of what is long no more is held than a
 * stream's buffer. Ends with an error when the service dies or falls silent; destroying it closes the connection.
 */
export class LiveBody extends Readable {
  /** Its whole length, where the service told it. */
  readonly byteLength: number | undefined;
  /** Why the service's answer broke off; undefined where it did not, or a reader ended it. Set before "error". */
  failure: Error | undefined;
  readonly #source: BodySource;
  readonly #silence: NodeJS.Timeout;
  #isPaused = false;

  constructor(
    source: BodySource,
    of: { readonly byteLength: number | undefined; readonly maxSilenceMs: number },
  ) {
    super();
    const { maxSilenceMs } = of;
    this.byteLength = of.byteLength;
    this.#source = source;
    // Who passes the body on hears of its end by its own means; one that breaks before that must not end the process.
    this.on("error", () => {});
    this.#silence = setTimeout(() => {
      // A service that was told to wait may be silent.
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

  /** Ends it as broken off by the service. */
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
