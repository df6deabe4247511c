import type { Connection, Receiver } from "./connection.ts";
import { InvalidResponse } from "./errors.ts";
import { type ResponseHead, renderRequest } from "./http1.ts";
import type { Pool, PooledRequest } from "./pool.ts";
import { type FlowControl, StreamedBody } from "./streamed-body.ts";

/** A service's response on its way to the client: its head has arrived, its body has too or is streamed. */
export interface UpstreamResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | StreamedBody;
}

/** Called once with the end of a request, unless that was aborted. Functions, since promises cost more than the rest. */
export interface ResponseListener {
  onResponse(response: UpstreamResponse): void;
  onError(error: Error): void;
}

export interface ReceiveOptions {
  /** Bodies up to this size are buffered and returned whole. */
  readonly maxBufferedBytes: number;
  /** Longer ones are streamed, or rejected with InvalidResponse. */
  readonly overflow: "stream" | "reject";
  /** How long the service may send nothing within a streamed body. */
  readonly maxSilenceMs: number;
}

/** A GET. */
export interface TransportRequest {
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: ReceiveOptions;
}

const NO_BYTES = Buffer.alloc(0);
/** Errors are short. */
const MAX_ERROR_BYTES = 65_536;

/** One request to a service, from the queue of its pool to the end of its response. */
export class ResponseReceiver implements PooledRequest, Receiver, FlowControl {
  readonly #pool: Pool;
  readonly #requestText: string;
  readonly #options: ReceiveOptions;
  readonly #listener: ResponseListener;
  #connection: Connection | undefined;
  #head: ResponseHead | undefined;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #limit = 0;
  #streamed: StreamedBody | undefined;

  /** For `pool.send`. Throws where the request cannot be rendered. */
  constructor(pool: Pool, request: TransportRequest, listener: ResponseListener) {
    this.#pool = pool;
    this.#requestText = renderRequest(request, pool.fixedLines);
    this.#options = request.options;
    this.#listener = listener;
  }

  sendOn(connection: Connection): void {
    this.#connection = connection;
    connection.send(this.#requestText, this);
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
    this.#limit = head.status < 400 ? this.#options.maxBufferedBytes : MAX_ERROR_BYTES;
    if (head.framing.kind === "length" && head.framing.bytes > this.#limit) this.#overflow(head);
  }

  onData(piece: Buffer): void {
    if (this.#streamed !== undefined) {
      this.#streamed.accept(piece);
      return;
    }
    this.#bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#bytes > this.#limit) this.#overflow(this.#head as ResponseHead);
  }

  onEnd(): void {
    if (this.#streamed !== undefined) {
      this.#streamed.end();
      return;
    }
    const { status, headers } = this.#head as ResponseHead;
    this.#listener.onResponse({ status, headers, body: this.#takeBuffered() });
  }

  onError(error: Error): void {
    if (this.#streamed !== undefined) this.#streamed.fail(error);
    else this.#listener.onError(error);
  }

  pause(): void {
    this.#connection?.pause(this);
  }
  resume(): void {
    this.#connection?.resume(this);
  }
  /** Closes the connection, or leaves the queue; the listener is not called any more. No effect after the end. */
  abort(): void {
    if (this.#connection === undefined) this.#pool.leaveQueue(this);
    else this.#connection.abort(this);
  }

  #overflow({ status, headers, framing }: ResponseHead): void {
    if (this.#options.overflow === "reject" || status >= 400) {
      this.abort();
      this.#listener.onError(new InvalidResponse(`The response is longer than ${this.#limit} bytes`));
      return;
    }
    const byteLength = framing.kind === "length" ? framing.bytes : undefined;
    this.#streamed = new StreamedBody(this, { byteLength, maxSilenceMs: this.#options.maxSilenceMs });
    if (this.#bytes > 0) this.#streamed.accept(this.#takeBuffered());
    this.#listener.onResponse({ status, headers, body: this.#streamed });
  }

  #takeBuffered(): Buffer {
    const [first = NO_BYTES] = this.#pieces;
    const buffered = this.#pieces.length > 1 ? Buffer.concat(this.#pieces, this.#bytes) : first;
    this.#pieces = [];
    return buffered;
  }
}
