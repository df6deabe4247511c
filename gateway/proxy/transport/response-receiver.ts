import type { Receiver } from "./connection.ts";
import { BadHttp } from "./errors.ts";
import type { Pool, Running } from "./pool.ts";
import type { Head } from "./response-parser.ts";
import { type BodySource, LiveBody } from "./streamed-body.ts";

/** An answer whose head is there, and its body either whole or on its way. */
export interface ReceivedAnswer {
  readonly head: Head;
  readonly body: Buffer | LiveBody;
}

export interface ReceiveOptions {
  /** Bodies up to this size are waited for and given whole. */
  readonly holdBytes: number;
  /** What becomes of longer ones: given while they come, or refused (BadHttp). */
  readonly beyond: "live" | "refuse";
  /** How long the service may be silent within a body that is given while it comes. */
  readonly maxSilenceMs: number;
}

const NOTHING = Buffer.alloc(0);
/** Errors are short. */
const MAX_ERROR_BYTES = 65_536;

/** Who waits for an answer: told once, or never where it is given up. */
export interface AnswerWaiter {
  resolve(answer: ReceivedAnswer): void;
  /** With what `Receiver.onFail` hears. */
  reject(error: Error): void;
}

/** Receives one answer. */
export class AnswerReceiver implements Receiver, BodySource {
  readonly #options: ReceiveOptions;
  readonly #waiter: AnswerWaiter;
  #running: Running | undefined;
  #head: Head | undefined;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #limit = 0;
  #live: LiveBody | undefined;

  constructor(options: ReceiveOptions, waiter: AnswerWaiter) {
    this.#options = options;
    this.#waiter = waiter;
  }

  sendOn(pool: Pool, text: string): this {
    this.#running = pool.send(text, this);
    return this;
  }

  onHead(head: Head): void {
    this.#head = head;
    this.#limit = head.status < 400 ? this.#options.holdBytes : MAX_ERROR_BYTES;
    if (head.framing.kind === "length" && head.framing.bytes > this.#limit) this.#goBeyond(head);
  }

  onPiece(piece: Buffer): void {
    if (this.#live !== undefined) {
      this.#live.accept(piece);
      return;
    }
    this.#bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#bytes > this.#limit) this.#goBeyond(this.#head as Head);
  }

  onEnd(): void {
    if (this.#live !== undefined) this.#live.end();
    else this.#waiter.resolve({ head: this.#head as Head, body: this.#takeHeld() });
  }

  onFail(error: Error): void {
    if (this.#live !== undefined) this.#live.fail(error);
    else this.#waiter.reject(error);
  }

  pause(): void {
    this.#running?.pause();
  }
  resume(): void {
    this.#running?.resume();
  }
  /** Gives the answer up; without effect on one that has been received. */
  abort(): void {
    this.#running?.abort();
  }

  #goBeyond(head: Head): void {
    if (this.#options.beyond === "refuse" || head.status >= 400) {
      this.abort();
      this.#waiter.reject(new BadHttp(`The answer is longer than ${this.#limit} bytes`));
      return;
    }
    const { framing } = head;
    const byteLength = framing.kind === "length" ? framing.bytes : undefined;
    this.#live = new LiveBody(this, { byteLength, maxSilenceMs: this.#options.maxSilenceMs });
    if (this.#bytes > 0) this.#live.accept(this.#takeHeld());
    this.#waiter.resolve({ head, body: this.#live });
  }

  #takeHeld(): Buffer {
    const [first = NOTHING] = this.#pieces;
    const held = this.#pieces.length > 1 ? Buffer.concat(this.#pieces, this.#bytes) : first;
    this.#pieces = [];
    return held;
  }
}
