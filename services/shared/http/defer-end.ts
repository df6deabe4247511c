import type { Socket } from "node:net";

const HELD = Symbol("held end");

interface DeferredEnd {
  holders: number;
  /** Whether somebody wanted to end the connection meanwhile. */
  isAsked: boolean;
}

type HoldableSocket = Socket & { [HELD]?: DeferredEnd | undefined };

/**
 * Puts off the end of a connection: node:http says it as soon as its own buffers are empty, and from then on a client
 * that acknowledges everything and one that resets the connection look the same. Returns what lets go; it says whether
 * the end was wanted, and has been said by now.
 */
export function deferEnd(socket: HoldableSocket): () => boolean {
  const held = socket[HELD] ?? beginHolding(socket);
  held.holders += 1;
  let isHeld = true;
  return () => {
    if (isHeld) held.holders -= 1;
    isHeld = false;
    if (held.holders > 0) return false;
    if (socket[HELD] === held) stopHolding(socket);
    if (held.isAsked && !socket.destroyed) socket.end();
    return held.isAsked;
  };
}

function beginHolding(socket: HoldableSocket): DeferredEnd {
  const held: DeferredEnd = { holders: 0, isAsked: false };
  const { end } = socket;
  socket[HELD] = held;
  socket.end = ((...args: Parameters<typeof end>) => {
    // The last words of whoever gives the connection up.
    if (args[0] !== undefined && typeof args[0] !== "function") return end.apply(socket, args);
    held.isAsked = true;
    return socket;
  }) as typeof end;
  socket.destroySoon = () => {
    held.isAsked = true;
  };
  return held;
}

/** The methods of the prototype stand behind those that are taken off. */
function stopHolding(socket: HoldableSocket): void {
  Reflect.deleteProperty(socket, "end");
  Reflect.deleteProperty(socket, "destroySoon");
  Reflect.deleteProperty(socket, HELD);
}
