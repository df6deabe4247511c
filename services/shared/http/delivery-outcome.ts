import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { deferEnd } from "./defer-end.ts";
import { openSendQueue, type SendQueueReader } from "./send-queue.ts";

/**
 * How an answer ended:
 * - `delivered` the connection took all of it, and the peer has acknowledged it as far as the system shows
 * - `aborted`   the connection broke before that, or was reset right after it; at most `bytesLeft` bytes, head included,
 *   were not acknowledged
 */
export type DeliveryOutcome =
  | { readonly kind: "delivered" }
  | { readonly kind: "aborted"; readonly bytesLeft: number };

/**
 * Whether a connection was cut with something left to send. `finish` and `writableFinished` of a response do not say so:
 * Node sets both too where the socket was reset with a write under way.
 */
export function isConnectionBroken(
  socket: Pick<Socket, "destroyed" | "errored" | "writableFinished">,
): boolean {
  // Deno may leave `errored` undefined where Node has null.
  return socket.errored != null || (socket.destroyed && !socket.writableFinished);
}

export interface DeliveryWatchOptions {
  /** Called with the outcome, and again where a delivered answer turns out to be aborted. */
  readonly onOutcome: (outcome: DeliveryOutcome) => void;
  /** How long a reset after the last byte was acknowledged still counts: the client may not have read it all. */
  readonly resetWindowMs?: number;
  /** How long a peer may take to acknowledge what lies in the kernel. */
  readonly ackTimeoutMs?: number;
  /** Where the send queue is read; tests put another one there. */
  readonly openQueue?: (socket: Socket) => SendQueueReader;
}

export interface DeliveryWatch {
  /** Resolves with the first outcome. Never rejects. */
  readonly firstOutcome: Promise<DeliveryOutcome>;
  /** Resolves when the outcome can no longer change. Never rejects. */
  readonly settled: Promise<void>;
  /** Looks at the connection now; after that, a reset that the kernel has seen has been told to `onOutcome`. */
  check(): Promise<void>;
}

/** What watches of one connection do when it is used for another answer. */
const watches = new WeakMap<Socket, Set<() => void>>();
const DOUBT_MS = 15_000;
const DRAIN_MS = 120_000;
const FIRST_PAUSE_MS = 2;
const MAX_PAUSE_MS = 250;
/** In which a socket hears of a reset that the kernel has seen. */
const NEWS_MS = 50;
/**
 * For a client that has said its end before it had everything: once ours is said too, its reset would not be seen.
 * It is also how long a connection that is to be closed waits for the client to close it.
 */
const LINGER_MS = 1_000;

/**
 * Watches how an answer ends. To be called before its first byte is written. The end of the connection is held back
 * until the answer has been acknowledged; where the system does not show that, all that counts is that the socket took
 * every byte without an error. Bytes that a client's kernel (or a proxy) has acknowledged and nobody has read look
 * delivered until the connection is reset.
 */
export function watchDelivery(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  options: DeliveryWatchOptions,
): DeliveryWatch {
  const { onOutcome, resetWindowMs = DOUBT_MS, ackTimeoutMs = DRAIN_MS, openQueue = openSendQueue } = options;
  const { socket } = req;
  const queueOf = openQueue(socket);
  const letGo = deferEnd(socket);
  let latest: DeliveryOutcome | undefined;
  let wasSeen = false;
  const startedAt = bytesWrittenTo(socket);
  /** Bytes of the connection up to the end of this answer. */
  let endsAt: number | undefined;
  let bytesLeft: number | undefined;
  let bytesReadThen = 0;
  let isCertain = false;
  const ended = makeDeferred<DeliveryOutcome>();
  const over = makeDeferred<void>();

  const tell = (outcome: DeliveryOutcome): void => {
    if (latest?.kind === outcome.kind) return;
    latest = outcome;
    onOutcome(outcome);
    ended.resolve(outcome);
  };
  const others = watches.get(socket) ?? new Set();
  // Who asks again has read what was sent before.
  const noteUse = (): void => {
    if (latest?.kind === "delivered" && socket.bytesRead > bytesReadThen) stop();
  };
  const stop = (): void => {
    isCertain = true;
    over.resolve();
    others.delete(noteUse);
    socket.off("close", onClose);
    socket.off("end", onEnd);
    res.off("finish", onFinish);
    letGo();
  };
  const abort = (): void => {
    if (isCertain) return;
    stop();
    // Before the first look, nothing is known to have arrived.
    tell({ kind: "aborted", bytesLeft: bytesLeft ?? (endsAt ?? bytesWrittenTo(socket)) - startedAt });
  };
  const onClose = (): void => {
    if (latest === undefined) {
      // Taken by the kernel, and closed here: it is sent all the same.
      if (endsAt === undefined || socket.errored != null) abort();
    } else if (socket.errored != null && socket.bytesRead === bytesReadThen) abort();
    // Closed in order, or used again before it broke.
    else stop();
  };
  /** A client that closes a connection with something unread resets it: this one has read everything. */
  const onEnd = (): void => {
    if (latest?.kind === "delivered") stop();
  };
  const onFinish = (): void => {
    if (isConnectionBroken(socket)) abort();
    else {
      endsAt = bytesWrittenTo(socket);
      void drain(endsAt);
    }
  };

  /** Learns how much of this answer the peer has not acknowledged. */
  const judge = async (end: number): Promise<void> => {
    const queue = await queueOf.read();
    if (isCertain) return;
    if (typeof queue === "number") {
      wasSeen = true;
      bytesLeft = Math.max(0, end - (bytesTakenOf(socket) - queue));
      return;
    }
    const isGone = queue === "gone" && (wasSeen || queueOf.isShown);
    // Never shown: the table of another network namespace, or a reset that the socket is about to hear of.
    if (queue === "gone" && !isGone) await sleep(NEWS_MS);
    if (isGone || (queue === "gone" && socket.errored != null)) abort();
    else bytesLeft = 0;
  };
  const drain = async (end: number): Promise<void> => {
    const untilMs = performance.now() + ackTimeoutMs;
    for (let pauseMs = FIRST_PAUSE_MS; bytesLeft !== 0; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
      if (bytesLeft !== undefined) await pause(pauseMs);
      if (!isCertain) await judge(end);
      if (isCertain) return;
      if (bytesLeft !== 0 && performance.now() > untilMs) return abort();
    }
    bytesReadThen = socket.bytesRead;
    tell({ kind: "delivered" });
    await doubt();
  };
  const look = async (): Promise<void> => {
    if (latest?.kind === "delivered" && !isCertain) await judge(endsAt ?? 0);
  };
  const doubt = async (): Promise<void> => {
    const isHalfClosed = socket.readableEnded;
    if (isHalfClosed) {
      const untilMs = performance.now() + LINGER_MS;
      while (!isCertain && wasSeen && performance.now() < untilMs) {
        await pause(NEWS_MS);
        await look();
      }
      return stop();
    }
    const isEnding = letGo();
    const untilMs = performance.now() + (isEnding ? LINGER_MS : resetWindowMs);
    while (!isCertain && performance.now() < untilMs) {
      await pause(Math.min(MAX_PAUSE_MS, resetWindowMs));
      noteUse();
    }
    if (isCertain) return;
    if (isEnding) socket.destroy();
    stop();
  };

  for (const noteUseOf of others) noteUseOf();
  watches.set(socket, others.add(noteUse));
  // Before node:http goes on to the next answer of the connection, whose bytes would count too.
  res.prependListener("finish", onFinish);
  socket.on("close", onClose);
  socket.on("end", onEnd);
  if (socket.destroyed) abort();
  return { firstOutcome: ended.promise, settled: over.promise, check: look };
}

function makeDeferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((take) => {
    resolve = take;
  });
  return { promise, resolve };
}

/** Bytes handed to the socket; Deno may not count them. */
function bytesWrittenTo(socket: Socket): number {
  return socket.bytesWritten ?? 0;
}

/**
 * Bytes of them that the kernel has taken. Of a write under way only its handle knows, which matters where the next
 * answer of the connection is being written already.
 */
function bytesTakenOf(socket: Socket): number {
  const { _handle: handle } = socket as unknown as {
    _handle?: { bytesWritten?: number; writeQueueSize?: number } | null;
  };
  const { bytesWritten, writeQueueSize } = handle ?? {};
  if (bytesWritten === undefined || writeQueueSize === undefined)
    return bytesWrittenTo(socket) - socket.writableLength;
  return bytesWritten - writeQueueSize;
}

/** Keeps no process running. */
function pause(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}
