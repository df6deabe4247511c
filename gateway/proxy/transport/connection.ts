import type { Socket } from "node:net";
import { TurnBatch } from "../../../services/shared/http/turn-batch.ts";
import { ConnectFailed, ConnectionBroken, InvalidResponse } from "./errors.ts";
import { type BodyReader, createBodyReader, parseHead, type ResponseHead } from "./http1.ts";

/** A plain or TLS socket. */
export interface ByteSource {
  readonly socket: Socket;
  /** The event after which the socket can be used. */
  readonly readyEvent: "connect" | "secureConnect";
  /** Called with what is read. `isShared`: the memory is valid during the call only, and must be copied to be kept. */
  onBytes: (bytes: Buffer, isShared: boolean) => void;
}

/** Receives one response. After `onEnd` or `onError` it is not called again. */
export interface Receiver {
  onHead(head: ResponseHead): void;
  onData(piece: Buffer): void;
  onEnd(): void;
  /** ConnectFailed, ConnectionBroken or InvalidResponse. */
  onError(error: Error): void;
}

/** What a connection reports to its pool. */
export interface ConnectionEvents {
  /** The response has been read to its end, and another request can be sent. */
  onIdle(connection: Connection): void;
  /** The connection is closed; called once. */
  onClosed(connection: Connection): void;
}

/** A host that swallows packets must not use up a request's whole deadline. */
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_HEAD_BYTES = 32_768;
const HEAD_END = Buffer.from("\r\n\r\n");

/** A keep-alive connection to a service: one request at a time. */
export class Connection {
  /** When its last response ended; used by the pool. */
  idleSinceMs = 0;
  /** Writes requests at the end of the turn. */
  static readonly #writes = new TurnBatch((connection: Connection) => {
    const text = connection.#requestText;
    connection.#requestText = undefined;
    if (text !== undefined && connection.#receiver !== undefined) connection.#socket.write(text, "latin1");
  });
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  #receiver: Receiver | undefined;
  #head: ResponseHead | undefined;
  #body: BodyReader | undefined;
  /** Bytes of an incomplete head. */
  #headBytes: Buffer | undefined;
  #requestText: string | undefined;
  #isConnected = false;
  #isClosed = false;
  #error: Error | undefined;

  constructor(source: ByteSource, events: ConnectionEvents) {
    const { socket, readyEvent } = source;
    this.#socket = socket;
    this.#events = events;
    socket.setNoDelay(true);
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => {
      if (!this.#isConnected) socket.destroy(new Error(`No connection within ${CONNECT_TIMEOUT_MS} ms`));
    });
    socket.once(readyEvent, () => {
      this.#isConnected = true;
      socket.setTimeout(0);
    });
    source.onBytes = (bytes, isShared) => {
      try {
        this.#read(bytes, isShared);
      } catch (error) {
        const receiver = this.#receiver;
        this.destroy();
        receiver?.onError(error as Error);
      }
    };
    socket.on("error", (error) => {
      this.#error ??= error;
    });
    socket.on("close", () => this.#onClose());
  }

  /** Whether another request can be sent. One that the service has just closed looks open until that is read. */
  get isUsable(): boolean {
    return !this.#isClosed && this.#receiver === undefined && this.#socket.writable;
  }

  /** Sends a whole request. */
  send(requestText: string, receiver: Receiver): void {
    this.#receiver = receiver;
    this.#head = undefined;
    this.#requestText = requestText;
    Connection.#writes.add(this);
  }

  /** Stops reading this response until `resume`: the service then sends at the reader's pace. */
  pause(receiver: Receiver): void {
    if (this.#receiver === receiver) this.#socket.pause();
  }
  resume(receiver: Receiver): void {
    if (this.#receiver === receiver) this.#socket.resume();
  }

  /** Closes the connection without calling the receiver again. No effect after the end of its response. */
  abort(receiver: Receiver): void {
    if (this.#receiver === receiver) this.destroy();
  }

  destroy(): void {
    this.#receiver = undefined;
    this.#socket.destroy();
  }

  #read(chunk: Buffer, isShared: boolean): void {
    const receiver = this.#receiver;
    if (receiver === undefined) throw new InvalidResponse("The service sent bytes without a request");
    let rest: Buffer | undefined = chunk;
    while (this.#head === undefined) {
      rest = this.#readHead(rest, { receiver, isShared });
      // The receiver may have aborted at the head.
      if (rest === undefined || this.#receiver !== receiver) return;
    }
    const behind = this.#body?.read(rest, (piece) => {
      if (this.#receiver === receiver) receiver.onData(isShared ? Buffer.from(piece) : piece);
    });
    if (behind === undefined || this.#receiver !== receiver) return;
    if (behind.length > 0) throw new InvalidResponse("The response is longer than its length");
    this.#receiver = undefined;
    if (this.#head.isKeptAlive && this.#socket.writable) {
      if (this.#socket.isPaused()) this.#socket.resume();
      this.#events.onIdle(this);
    } else this.#socket.destroy();
    receiver.onEnd();
  }

  /** Returns the bytes behind the head; undefined while the head is incomplete. */
  #readHead(
    chunk: Buffer,
    { receiver, isShared }: { readonly receiver: Receiver; readonly isShared: boolean },
  ): Buffer | undefined {
    const bytes = this.#headBytes === undefined ? chunk : Buffer.concat([this.#headBytes, chunk]);
    const end = bytes.indexOf(HEAD_END);
    if ((end === -1 ? bytes.length : end) > MAX_HEAD_BYTES)
      throw new InvalidResponse("The response's head is too long");
    this.#headBytes = end === -1 ? (isShared ? Buffer.from(bytes) : bytes) : undefined;
    if (end === -1) return undefined;
    const head = parseHead(bytes.toString("latin1", 0, end));
    if (head.status === 101) throw new InvalidResponse("The service switches protocols without a request to");
    // Other statuses below 200 announce the response that follows.
    if (head.status >= 200) {
      this.#head = head;
      this.#body = createBodyReader(head.framing);
      receiver.onHead(head);
    }
    return bytes.subarray(end + HEAD_END.length);
  }

  #onClose(): void {
    this.#isClosed = true;
    const receiver = this.#receiver;
    this.#receiver = undefined;
    this.#events.onClosed(this);
    const cause = this.#error;
    receiver?.onError(
      this.#isConnected
        ? new ConnectionBroken("The connection broke before the end of the response", { cause })
        : new ConnectFailed("The connection could not be made", { cause }),
    );
  }
}
