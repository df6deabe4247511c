import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { deferEnd } from "./defer-end.ts";
import { openSendQueue, type SendQueueReader } from "./send-queue.ts";

/**
 * How a response ended:
 * - `delivered` all bytes were written, and the peer acknowledged them as far as the system shows
 * - `aborted`   the connection broke before that, or was reset right after; at most `bytesLeft` bytes, headers included,
 *   were not acknowledged
 */
export type DeliveryOutcome =
  | { readonly kind: "delivered" }
  | { readonly kind: "aborted"; readonly bytesLeft: number };

/**
 * Whether a connection broke with unsent bytes. `finish` and `writableFinished` of a response do not show it: Node sets
 * both also when the socket was reset during a write.
 */
export function isConnectionBroken(
  socket: Pick<Socket, "destroyed" | "errored" | "writableFinished">,
): boolean {
  // Deno may leave `errored` undefined where Node has null.
  return socket.errored != null || (socket.destroyed && !socket.writableFinished);
}

export interface DeliveryWatchOptions {
  /** Called with the outcome, and again when a delivered response turns out to be aborted. */
  readonly onOutcome: (outcome: DeliveryOutcome) => void;
  /** How long a reset after the last acknowledgement still counts: the client may not have read everything. */
  readonly resetWindowMs?: number;
  /** How long a peer may take to acknowledge the bytes in the kernel. */
  readonly ackTimeoutMs?: number;
  /** Reads the send queue; replaced in tests. */
  readonly openQueue?: (socket: Socket) => SendQueueReader;
}

export interface DeliveryWatch {
  /** Resolves with the first outcome. Never rejects. */
  readonly firstOutcome: Promise<DeliveryOutcome>;
  /** Resolves when the outcome can no longer change. Never rejects. */
  readonly settled: Promise<void>;
  /**
   * Checks the connection now: reports to `onOutcome` that every byte is acknowledged, or a reset that the kernel has seen.
   * A response that is still being written or read stays without an outcome.
   */
  check(): Promise<void>;
}

interface ConnectionWatch {
  /** Called when the connection carries the next response. */
  readonly noteUse: () => void;
  readonly check: () => Promise<void>;
}

const watches = new WeakMap<Socket, Set<ConnectionWatch>>();
const RESET_WINDOW_MS = 15_000;
const ACK_TIMEOUT_MS = 120_000;
const FIRST_PAUSE_MS = 2;
const MAX_PAUSE_MS = 250;
/** Time in which a socket learns of a reset that the kernel has seen. */
const RESET_NOTICE_MS = 50;
/**
 * For a client that sent FIN before it had everything: once ours is sent too, its reset would not be seen. Also how long
 * a connection that is about to close waits for the client to close it.
 */
const LINGER_MS = 1_000;

/**
 * Resolves when the outcomes of earlier responses on a connection are known, as far as the kernel shows. For a handler of
 * requests, before it responds: a client may abort this request, and the reset would make the response before look unread.
 */
export async function checkDeliveries(socket: Socket): Promise<void> {
  await Promise.all([...(watches.get(socket) ?? [])].map(({ check }) => check()));
}

/**
 * Watches how a response ends. Call it before the first byte is written. Defers the end of the connection until the
 * response is acknowledged; where the system does not show that, a response counts as delivered when the socket wrote
 * every byte without an error. Bytes that the client's kernel (or a proxy) acknowledged but the client did not read look
 * delivered until the connection is reset.
 */
export function watchDelivery(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  options: DeliveryWatchOptions,
): DeliveryWatch {
  const {
    onOutcome,
    resetWindowMs = RESET_WINDOW_MS,
    ackTimeoutMs = ACK_TIMEOUT_MS,
    openQueue = openSendQueue,
  } = options;
  const { socket } = req;
  const queueOf = openQueue(socket);
  const releaseEnd = deferEnd(socket);
  let latest: DeliveryOutcome | undefined;
  let wasListed = false;
  const startedAt = bytesWrittenTo(socket);
  /** Bytes of the connection up to the end of this response. */
  let endsAt: number | undefined;
  let bytesLeft: number | undefined;
  /** Bytes that the client had sent by then: more are a request after it. */
  let bytesReadThen = 0;
  let isFinal = false;
  const ended = makeDeferred<DeliveryOutcome>();
  const over = makeDeferred<void>();

  const report = (outcome: DeliveryOutcome): void => {
    if (latest?.kind === outcome.kind) return;
    latest = outcome;
    onOutcome(outcome);
    ended.resolve(outcome);
  };
  const others = watches.get(socket) ?? new Set();
  // A client that sends the next request has read the response before it.
  const noteUse = (): void => {
    if (latest?.kind === "delivered" && socket.bytesRead > bytesReadThen) stop();
  };
  const stop = (): void => {
    isFinal = true;
    over.resolve();
    others.delete(own);
    socket.off("close", onClose);
    socket.off("end", onEnd);
    res.off("finish", onFinish);
    releaseEnd();
  };
  const abort = (): void => {
    noteUse();
    if (isFinal) return;
    stop();
    // Before the first check, no byte is known to have arrived.
    report({ kind: "aborted", bytesLeft: bytesLeft ?? (endsAt ?? bytesWrittenTo(socket)) - startedAt });
  };
  const onClose = (): void => {
    if (latest === undefined) {
      // The kernel has all bytes and the close is ours: they are sent all the same.
      if (endsAt === undefined || socket.errored != null) abort();
    } else if (socket.errored != null) abort();
    // Closed in order.
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
      // Now, not when the delivery is known: the client may send its next request before.
      bytesReadThen = socket.bytesRead;
      void drain(endsAt);
    }
  };

  /** Measures how much of this response the peer has not acknowledged. */
  const measure = async (end: number): Promise<void> => {
    const queue = await queueOf.read();
    if (isFinal) return;
    if (typeof queue === "number") {
      wasListed = true;
      bytesLeft = Math.max(0, end - (bytesTakenOf(socket) - queue));
      return;
    }
    const isGone = queue === "gone" && (wasListed || queueOf.isListed);
    // Never listed: the table of another network namespace, or a reset that the socket is about to report.
    if (queue === "gone" && !isGone) await sleep(RESET_NOTICE_MS);
    if (isGone || (queue === "gone" && socket.errored != null)) abort();
    else bytesLeft = 0;
  };
  const drain = async (end: number): Promise<void> => {
    const untilMs = performance.now() + ackTimeoutMs;
    for (let pauseMs = FIRST_PAUSE_MS; bytesLeft !== 0; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
      if (bytesLeft !== undefined) await pause(pauseMs);
      if (!isFinal) await measure(end);
      if (isFinal) return;
      if (bytesLeft !== 0 && performance.now() > untilMs) return abort();
    }
    if (isFinal) return;
    report({ kind: "delivered" });
    await awaitReset();
  };
  const check = async (): Promise<void> => {
    noteUse();
    if (endsAt === undefined || isFinal) return;
    await measure(endsAt);
    // The next look may be a quarter of a second away, and a client that has everything asks again before.
    if (!isFinal && bytesLeft === 0) report({ kind: "delivered" });
    noteUse();
  };
  const awaitReset = async (): Promise<void> => {
    const isHalfClosed = socket.readableEnded;
    if (isHalfClosed) {
      const untilMs = performance.now() + LINGER_MS;
      while (!isFinal && wasListed && performance.now() < untilMs) {
        await pause(RESET_NOTICE_MS);
        await check();
      }
      return stop();
    }
    const isEnding = releaseEnd();
    const untilMs = performance.now() + (isEnding ? LINGER_MS : resetWindowMs);
    while (!isFinal && performance.now() < untilMs) {
      await pause(Math.min(MAX_PAUSE_MS, resetWindowMs));
      noteUse();
    }
    if (isFinal) return;
    if (isEnding) socket.destroy();
    stop();
  };

  for (const other of others) other.noteUse();
  const own: ConnectionWatch = { noteUse, check };
  watches.set(socket, others.add(own));
  // Before node:http continues with the next response of the connection, whose bytes would count too.
  res.prependListener("finish", onFinish);
  socket.on("close", onClose);
  socket.on("end", onEnd);
  if (socket.destroyed) abort();
  return { firstOutcome: ended.promise, settled: over.promise, check };
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
 * Bytes of them that the kernel has taken. During a write only the handle knows, which matters when the next response of
 * the connection is already being written.
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
