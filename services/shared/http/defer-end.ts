import type { Socket } from "node:net";

const DEFERRED = Symbol("deferred end");

interface DeferredEnd {
  holders: number;
  /** Whether `end` was called meanwhile. */
  isRequested: boolean;
  /** The server's own way to close (lingering-close.ts). */
  readonly close: (() => void) | undefined;
}

type DeferrableSocket = Socket & { [DEFERRED]?: DeferredEnd | undefined };

/**
 * Defers the end (FIN) of a connection: node:http sends it as soon as its own buffers are empty, and after that a client
 * that acknowledges everything and one that resets the connection look the same. Returns a release function, which
 * returns whether the end was requested and has been sent by now.
 */
export function deferEnd(socket: DeferrableSocket): () => boolean {
  const deferred = socket[DEFERRED] ?? beginDeferring(socket);
  deferred.holders += 1;
  let isHolding = true;
  return () => {
    if (isHolding) deferred.holders -= 1;
    isHolding = false;
    if (deferred.holders > 0) return false;
    if (socket[DEFERRED] === deferred) stopDeferring(socket);
    if (deferred.isRequested && !socket.destroyed) (deferred.close ?? socket.end).call(socket);
    return deferred.isRequested;
  };
}

function beginDeferring(socket: DeferrableSocket): DeferredEnd {
  const { end } = socket;
  const close = Object.hasOwn(socket, "destroySoon") ? socket.destroySoon : undefined;
  const deferred: DeferredEnd = { holders: 0, isRequested: false, close };
  socket[DEFERRED] = deferred;
  socket.end = ((...args: Parameters<typeof end>) => {
    // An end with data: its last bytes are sent when the connection closes.
    if (args[0] !== undefined && typeof args[0] !== "function") return end.apply(socket, args);
    deferred.isRequested = true;
    return socket;
  }) as typeof end;
  socket.destroySoon = () => {
    deferred.isRequested = true;
  };
  return deferred;
}

/** Deleting the own properties restores the methods of the prototype. */
function stopDeferring(socket: DeferrableSocket): void {
  const close = socket[DEFERRED]?.close;
  Reflect.deleteProperty(socket, "end");
  if (close === undefined) Reflect.deleteProperty(socket, "destroySoon");
  else socket.destroySoon = close;
  Reflect.deleteProperty(socket, DEFERRED);
}
