import { connect, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { type ByteSource, Connection } from "./connection.ts";
import { renderLines } from "./http1.ts";

export interface PoolOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Of every request, besides the host. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further requests wait for a connection until they are aborted. */
  readonly maxConnections: number;
}

/** A request that waits for a connection. */
export interface PooledRequest {
  sendOn(connection: Connection): void;
}

export interface Pool {
  /** Header lines of every request, rendered once. */
  readonly fixedLines: string;
  /** Sends a request on an idle or a new connection, or queues it. */
  send(request: PooledRequest): void;
  /** Removes a request that is still queued. */
  leaveQueue(request: PooledRequest): void;
  close(): void;
}

/** Below the 65 s after which our services close idle connections, so that they rarely do. */
const MAX_IDLE_MS = 30_000;
const SWEEP_MS = 5_000;

/** Keep-alive connections to one origin, the last used first: those that a quiet hour does not need become idle. */
export function createPool({ origin, headers, maxConnections }: PoolOptions): Pool {
  const openSource = createConnector(origin);
  const idle: Connection[] = [];
  const all = new Set<Connection>();
  const queue = new Set<PooledRequest>();

  const open = (): Connection => {
    const connection = new Connection(openSource(), { onIdle, onClosed });
    all.add(connection);
    return connection;
  };

  const takeIdle = (): Connection | undefined => {
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (connection.isUsable) return connection;
    }
    return undefined;
  };

  const sendNext = (connection: Connection): boolean => {
    const [next] = queue;
    if (next === undefined) return false;
    queue.delete(next);
    next.sendOn(connection);
    return true;
  };

  function onIdle(connection: Connection): void {
    if (queue.size > 0 && sendNext(connection)) return;
    connection.idleSinceMs = performance.now();
    idle.push(connection);
  }

  function onClosed(connection: Connection): void {
    all.delete(connection);
    const at = idle.indexOf(connection);
    if (at !== -1) idle.splice(at, 1);
    if (queue.size > 0 && all.size < maxConnections) sendNext(open());
  }

  const sweep = setInterval(() => {
    const limitMs = performance.now() - MAX_IDLE_MS;
    // The longest idle come first.
    for (const connection of idle.filter(({ idleSinceMs }) => idleSinceMs < limitMs)) connection.destroy();
  }, SWEEP_MS);
  sweep.unref();

  return {
    fixedLines: renderLines({ host: new URL(origin).host, ...headers }),
    send(request) {
      const connection = takeIdle() ?? (all.size < maxConnections ? open() : undefined);
      if (connection === undefined) queue.add(request);
      else request.sendOn(connection);
    },
    leaveQueue: (request) => void queue.delete(request),
    close() {
      clearInterval(sweep);
      queue.clear();
      for (const connection of all) connection.destroy();
    },
  };
}

/** All plain connections are read into this: a buffer for each read was 3 % of an uncached request's CPU. */
const sharedReadBuffer = Buffer.allocUnsafeSlow(65_536);

/** How to connect to an origin. */
function createConnector(origin: string): () => ByteSource {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, "");
  if (protocol === "https:") {
    // TLS has server names for host names only, not for addresses.
    const address = { host, port: Number(port) || 443, ...(isIP(host) === 0 && { servername: host }) };
    return () => openTls(address);
  }
  const address = { host, port: Number(port) || 80 };
  return () => openPlain(address);
}

type Address = { readonly host: string; readonly port: number };

function openPlain(address: Address): ByteSource {
  const callback = (length: number): boolean => {
    source.onBytes(sharedReadBuffer.subarray(0, length), true);
    return true;
  };
  const socket = connect({ ...address, onread: { buffer: sharedReadBuffer, callback } });
  const source: ByteSource = { socket, readyEvent: "connect", onBytes: () => {} };
  return source;
}

function openTls(address: Address & { readonly servername?: string }): ByteSource {
  const socket = connectTls(address);
  const source: ByteSource = { socket, readyEvent: "secureConnect", onBytes: () => {} };
  socket.on("data", (bytes: Buffer) => source.onBytes(bytes, false));
  return source;
}
