import { Connection, type Receiver } from "./connection.ts";
import { wiresTo } from "./wire.ts";

export interface PoolOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Further requests wait for a connection until they are given up. */
  readonly maxConnections: number;
}

/** A request on its way. */
export interface Running {
  pause(): void;
  resume(): void;
  /** Gives it up: the receiver hears nothing more, and the connection is closed. */
  abort(): void;
}

export interface Pool {
  /** Sends the text of a GET; it must be a whole head. */
  send(text: string, receiver: Receiver): Running;
  close(): void;
}

/** Below the 65 s after which our services close idle connections, so that it is seldom they who do. */
const MAX_IDLE_MS = 30_000;
const SWEEP_MS = 5_000;

/** Kept connections to one origin. The last one used is used first, so that those a quiet hour needs not go idle. */
export function createPool({ origin, maxConnections }: PoolOptions): Pool {
  const openWire = wiresTo(origin);
  const idle: Connection[] = [];
  const all = new Set<Connection>();
  const queue = new Set<Request>();

  const leaveQueue = (request: Request) => void queue.delete(request);

  const open = (): Connection => {
    const connection = new Connection(openWire(), { onIdle, onGone });
    all.add(connection);
    return connection;
  };

  const takeIdle = (): Connection | undefined => {
    for (let found = idle.pop(); found !== undefined; found = idle.pop()) {
      if (found.isUsable) return found;
    }
    return undefined;
  };

  const startNext = (connection: Connection): boolean => {
    const [next] = queue;
    if (next === undefined) return false;
    queue.delete(next);
    next.start(connection);
    return true;
  };

  function onIdle(connection: Connection): void {
    if (queue.size > 0 && startNext(connection)) return;
    connection.idleSinceMs = performance.now();
    idle.push(connection);
  }

  function onGone(connection: Connection): void {
    all.delete(connection);
    const at = idle.indexOf(connection);
    if (at !== -1) idle.splice(at, 1);
    if (queue.size > 0 && all.size < maxConnections) startNext(open());
  }

  const sweep = setInterval(() => {
    const limitMs = performance.now() - MAX_IDLE_MS;
    // The longest idle come first.
    for (const connection of idle.filter(({ idleSinceMs }) => idleSinceMs < limitMs)) connection.destroy();
  }, SWEEP_MS);
  sweep.unref();

  return {
    send(text, receiver) {
      const request = new Request(text, receiver, leaveQueue);
      const connection = takeIdle() ?? (all.size < maxConnections ? open() : undefined);
      if (connection === undefined) queue.add(request);
      else request.start(connection);
      return request;
    },
    close() {
      clearInterval(sweep);
      queue.clear();
      for (const connection of all) connection.destroy();
    },
  };
}

class Request implements Running {
  readonly #text: string;
  readonly #receiver: Receiver;
  readonly #leaveQueue: (request: Request) => void;
  #connection: Connection | undefined;

  constructor(text: string, receiver: Receiver, leaveQueue: (request: Request) => void) {
    this.#text = text;
    this.#receiver = receiver;
    this.#leaveQueue = leaveQueue;
  }

  start(connection: Connection): void {
    this.#connection = connection;
    connection.send(this.#text, this.#receiver);
  }
  pause(): void {
    this.#connection?.pause(this.#receiver);
  }
  resume(): void {
    this.#connection?.resume(this.#receiver);
  }
  abort(): void {
    if (this.#connection === undefined) this.#leaveQueue(this);
    else this.#connection.abort(this.#receiver);
  }
}
