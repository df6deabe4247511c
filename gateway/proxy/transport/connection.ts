import type { Socket } from "node:net";
import { TurnEnd } from "../../../services/shared/http/batch-writes.ts";
import { type BodyReader, createBodyReader } from "./body.ts";
import { BadHttp, BrokenOff, NotReached } from "./errors.ts";
import { type Head, parseHead } from "./response-parser.ts";
import type { Wire } from "./wire.ts";

/** Hears one answer. After `onEnd` or `onFail` it hears nothing more. */
export interface Receiver {
  onHead(head: Head): void;
  onPiece(piece: Buffer): void;
  onEnd(): void;
  /** NotReached, BrokenOff or BadHttp. */
  onFail(error: Error): void;
}

/** What a connection tells its pool. */
export interface ConnectionEvents {
  /** The answer has been read to its end, and another request may be sent. */
  onIdle(connection: Connection): void;
  /** It carries nothing any more; told once. */
  onGone(connection: Connection): void;
}

/** A host that swallows packets must not use up a request's whole deadline. */
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_HEAD_BYTES = 32_768;
const HEAD_END = Buffer.from("\r\n\r\n");

const sending = new TurnEnd((connection: Connection) => connection.write());

/** A kept connection to a service: one request at a time. */
export class Connection {
  /** When its last answer ended; for the pool. */
  idleSinceMs = 0;
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  #receiver: Receiver | undefined;
  #head: Head | undefined;
  #body: BodyReader | undefined;
  /** Bytes of a head that is not complete. */
  #begun: Buffer | undefined;
  #text: string | undefined;
  #isMade = false;
  #isGone = false;
  #failure: Error | undefined;

  constructor(wire: Wire, events: ConnectionEvents) {
    const { socket, madeBy } = wire;
    this.#socket = socket;
    this.#events = events;
    socket.setNoDelay(true);
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => {
      if (!this.#isMade) socket.destroy(new Error(`No connection within ${CONNECT_TIMEOUT_MS} ms`));
    });
    socket.once(madeBy, () => {
      this.#isMade = true;
      socket.setTimeout(0);
    });
    wire.onBytes = (bytes, isLent) => this.#onBytes(bytes, isLent);
    socket.on("error", (error) => {
      this.#failure ??= error;
    });
    socket.on("close", () => this.#onClose());
  }

  /** Whether another request may be sent. One that the service has just closed looks open until that is read. */
  get isUsable(): boolean {
    return !this.#isGone && this.#receiver === undefined && this.#socket.writable;
  }

  /** Sends a whole request. */
  send(text: string, receiver: Receiver): void {
    this.#receiver = receiver;
    this.#head = undefined;
    this.#text = text;
    sending.add(this);
  }

  /** Writes the request that is waiting for the end of the turn. */
  write(): void {
    const text = this.#text;
    this.#text = undefined;
    if (text !== undefined && this.#receiver !== undefined) this.#socket.write(text, "latin1");
  }

  /** Stops reading this answer until resumed: the reader's pace becomes the service's. */
  pause(receiver: Receiver): void {
    if (this.#receiver === receiver) this.#socket.pause();
  }
  resume(receiver: Receiver): void {
    if (this.#receiver === receiver) this.#socket.resume();
  }

  /** Gives this answer up; it hears nothing more. Without effect on one that has ended. */
  abort(receiver: Receiver): void {
    if (this.#receiver === receiver) this.destroy();
  }

  destroy(): void {
    this.#receiver = undefined;
    this.#socket.destroy();
  }

  #onBytes(chunk: Buffer, isLent: boolean): void {
    try {
      this.#read(chunk, isLent);
    } catch (error) {
      const receiver = this.#receiver;
      this.destroy();
      receiver?.onFail(error as Error);
    }
  }

  #read(chunk: Buffer, isLent: boolean): void {
    const receiver = this.#receiver;
    if (receiver === undefined) throw new BadHttp("Bytes came that nobody asked for");
    let rest: Buffer | undefined = chunk;
    while (this.#head === undefined) {
      rest = this.#readHead(rest, { receiver, isLent });
      // The receiver may have given up at what it saw.
      if (rest === undefined || this.#receiver !== receiver) return;
    }
    const behind = this.#body?.read(rest, (piece) => {
      if (this.#receiver === receiver) receiver.onPiece(isLent ? Buffer.from(piece) : piece);
    });
    if (behind === undefined || this.#receiver !== receiver) return;
    if (behind.length > 0) throw new BadHttp("The answer is longer than it says");
    this.#receiver = undefined;
    if (this.#head.isKept && this.#socket.writable) {
      if (this.#socket.isPaused()) this.#socket.resume();
      this.#events.onIdle(this);
    } else this.#socket.destroy();
    receiver.onEnd();
  }

  /** Bytes behind the head; undefined while it is not complete. */
  #readHead(
    chunk: Buffer,
    { receiver, isLent }: { readonly receiver: Receiver; readonly isLent: boolean },
  ): Buffer | undefined {
    const bytes = this.#begun === undefined ? chunk : Buffer.concat([this.#begun, chunk]);
    const end = bytes.indexOf(HEAD_END);
    if ((end === -1 ? bytes.length : end) > MAX_HEAD_BYTES)
      throw new BadHttp("The answer's head is too long");
    this.#begun = end === -1 ? (isLent ? Buffer.from(bytes) : bytes) : undefined;
    if (end === -1) return undefined;
    const head = parseHead(bytes.toString("latin1", 0, end));
    if (head.status === 101) throw new BadHttp("The service changes protocols, which nobody asked for");
    // Anything else below 200 announces the answer that follows.
    if (head.status >= 200) {
      this.#head = head;
      this.#body = createBodyReader(head.framing);
      receiver.onHead(head);
    }
    return bytes.subarray(end + HEAD_END.length);
  }

  #onClose(): void {
    this.#isGone = true;
    const receiver = this.#receiver;
    this.#receiver = undefined;
    this.#events.onGone(this);
    const cause = this.#failure;
    receiver?.onFail(
      this.#isMade
        ? new BrokenOff("The connection broke before the answer's end", { cause })
        : new NotReached("The connection was not made", { cause }),
    );
  }
}
