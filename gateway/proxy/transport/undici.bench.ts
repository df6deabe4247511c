/**
 * The transport on undici's Pool.dispatch, for `npm run bench:gateway` alone: the bench builds the gateway a second time
 * with this file in place of pool.ts and response-receiver.ts. The handler interface without promises and streams is
 * undici's fastest. Figures and verdict: docs/decisions/0020.
 */
import { type Dispatcher, Pool as UndiciPool } from "undici";
import { memoizeHeaderName } from "../../request/response-head.ts";
import { ConnectFailed, ConnectionBroken, InvalidResponse } from "./errors.ts";
import { type FlowControl, StreamedBody } from "./streamed-body.ts";

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | StreamedBody;
}

export interface ResponseListener {
  onResponse(response: UpstreamResponse): void;
  onError(error: Error): void;
}

export interface ReceiveOptions {
  readonly maxBufferedBytes: number;
  readonly overflow: "stream" | "reject";
  readonly maxSilenceMs: number;
}

export interface TransportRequest {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: ReceiveOptions;
}

export interface Pool {
  readonly headers: Readonly<Record<string, string>>;
  send(receiver: ResponseReceiver): void;
  close(): void;
}

export function createPool(options: {
  readonly origin: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxConnections: number;
}): Pool {
  const { origin, headers = {}, maxConnections } = options;
  const pool = new UndiciPool(origin, {
    connections: maxConnections,
    pipelining: 1,
    // The gateway has deadlines of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 30_000,
    keepAliveMaxTimeout: 30_000,
    maxHeaderSize: 32_768,
    connect: { timeout: 2_000 },
  });
  return { headers, send: (receiver) => receiver.dispatchOn(pool), close: () => void pool.destroy() };
}

const NO_BYTES = Buffer.alloc(0);
const MAX_ERROR_BYTES = 65_536;
const lowerCase = memoizeHeaderName((name) => name.toLowerCase());

export class ResponseReceiver implements FlowControl, Dispatcher.DispatchHandler {
  readonly #pool: Pool;
  readonly #request: TransportRequest;
  readonly #listener: ResponseListener;
  #abort: (() => void) | undefined;
  #resume: (() => void) | undefined;
  #isAborted = false;
  #isPaused = false;
  #status = 0;
  #headers: Record<string, string> = {};
  #pieces: Buffer[] = [];
  #bytes = 0;
  #limit = 0;
  #streamed: StreamedBody | undefined;

  constructor(pool: Pool, request: TransportRequest, listener: ResponseListener) {
    this.#pool = pool;
    this.#request = request;
    this.#listener = listener;
  }

  dispatchOn(pool: UndiciPool): void {
    const { target, headers } = this.#request;
    pool.dispatch({ path: target, method: "GET", headers: { ...this.#pool.headers, ...headers } }, this);
  }

  onConnect(abort: () => void): void {
    this.#abort = abort;
    if (this.#isAborted) abort();
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    const headers: Record<string, string> = Object.create(null);
    for (let at = 0; at < raw.length; at += 2) {
      const name = lowerCase((raw[at] as Buffer).toString("latin1"));
      const value = (raw[at + 1] as Buffer).toString("latin1");
      const before = headers[name];
      headers[name] = before === undefined ? value : `${before}, ${value}`;
    }
    this.#status = status;
    this.#headers = headers;
    this.#resume = resume;
    this.#limit = status < 400 ? this.#request.options.maxBufferedBytes : MAX_ERROR_BYTES;
    if (Number(headers["content-length"] ?? 0) > this.#limit) this.#overflow();
    return true;
  }

  onData(piece: Buffer): boolean {
    if (this.#streamed !== undefined) {
      this.#streamed.accept(piece);
      return !this.#isPaused;
    }
    this.#bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#bytes > this.#limit) this.#overflow();
    return !this.#isPaused;
  }

  onComplete(): void {
    if (this.#streamed !== undefined) this.#streamed.end();
    else {
      this.#listener.onResponse({ status: this.#status, headers: this.#headers, body: this.#takeBuffered() });
    }
  }

  onError(cause: Error): void {
    if (this.#isAborted) return;
    const error =
      this.#abort === undefined
        ? new ConnectFailed("The connection could not be made", { cause })
        : new ConnectionBroken("The connection broke before the end of the response", { cause });
    if (this.#streamed !== undefined) this.#streamed.fail(error);
    else this.#listener.onError(error);
  }

  pause(): void {
    this.#isPaused = true;
  }
  resume(): void {
    this.#isPaused = false;
    this.#resume?.();
  }
  abort(): void {
    this.#isAborted = true;
    this.#abort?.();
  }

  #overflow(): void {
    const { overflow, maxSilenceMs } = this.#request.options;
    if (overflow === "reject" || this.#status >= 400) {
      this.abort();
      this.#listener.onError(new InvalidResponse(`The response is longer than ${this.#limit} bytes`));
      return;
    }
    const length = this.#headers["content-length"];
    const byteLength = length === undefined ? undefined : Number(length);
    this.#streamed = new StreamedBody(this, { byteLength, maxSilenceMs });
    if (this.#bytes > 0) this.#streamed.accept(this.#takeBuffered());
    this.#listener.onResponse({ status: this.#status, headers: this.#headers, body: this.#streamed });
  }

  #takeBuffered(): Buffer {
    const [first = NO_BYTES] = this.#pieces;
    const buffered = this.#pieces.length > 1 ? Buffer.concat(this.#pieces, this.#bytes) : first;
    this.#pieces = [];
    return buffered;
  }
}
