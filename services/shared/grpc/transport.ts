import { type AddressInfo, createServer, type Socket } from "node:net";
import { Duplex } from "node:stream";
import {
  type ChannelCredentials,
  credentials,
  type Server as GrpcServer,
  ServerCredentials,
} from "@grpc/grpc-js";
import { CLIENT_PREFACE_BYTES, createGoawayMask, NEEDS_GOAWAY_MASK } from "./goaway.ts";

/** A socket whose received bytes pass through `mask`; closing either side closes the other. */
class GoawayMaskedSocket extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket, mask: (chunk: Uint8Array) => void) {
    super();
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      mask(chunk);
      if (!this.push(chunk)) socket.pause();
    });
    socket.on("end", () => this.push(null));
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", () => this.destroy());
  }

  // Properties that grpc-js and node:http2 read.
  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }
  get remotePort(): number | undefined {
    return this.#socket.remotePort;
  }
  get localAddress(): string | undefined {
    return this.#socket.localAddress;
  }
  get localPort(): number | undefined {
    return this.#socket.localPort;
  }
  ref(): this {
    this.#socket.ref();
    return this;
  }
  unref(): this {
    this.#socket.unref();
    return this;
  }

  override _read(): void {
    this.#socket.resume();
  }
  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }
  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}

/** Credentials without TLS for a client; on Deno they mask GOAWAY. */
export function clientCredentials(): ChannelCredentials {
  const plain = credentials.createInsecure();
  if (!NEEDS_GOAWAY_MASK) return plain;
  const create = plain._createSecureConnector.bind(plain);
  plain._createSecureConnector = (...args) => {
    const connector = create(...args);
    return {
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
      async connect(socket) {
        const connected = await connector.connect(socket);
        // Typed as a Socket, used as a Duplex.
        return {
          ...connected,
          socket: new GoawayMaskedSocket(connected.socket, createGoawayMask(0)) as unknown as Socket,
        };
      },
    };
  };
  return plain;
}

/** host:port, with the brackets IPv6 needs. */
export function joinAddress({ host, port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface GrpcListener {
  readonly port: number;
  /** Refuses new connections; existing ones stay with the server. */
  close(): void;
}

/** Binds a server without TLS; on Deno it masks GOAWAY. Throws an error that names address and cause. */
export async function listenGrpc(server: GrpcServer, address: Address): Promise<GrpcListener> {
  try {
    return NEEDS_GOAWAY_MASK ? await listenMasked(server, address) : await listenPlain(server, address);
  } catch (cause) {
    throw new Error(`Cannot listen for gRPC on ${joinAddress(address)}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function listenPlain(server: GrpcServer, address: Address): Promise<GrpcListener> {
  return new Promise((resolve, reject) => {
    server.bindAsync(joinAddress(address), ServerCredentials.createInsecure(), (error, port) => {
      // The server's own shutdown closes what it has bound.
      if (error === null) resolve({ port, close: () => {} });
      else reject(error);
    });
  });
}

async function listenMasked(server: GrpcServer, address: Address): Promise<GrpcListener> {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return listenForConnections(address, (socket) => injector.injectConnection(toServerConnection(socket)));
}

/** A connection for an HTTP/2 server; on Deno it masks GOAWAY. */
export function toServerConnection(socket: Socket): Duplex {
  return NEEDS_GOAWAY_MASK ? new GoawayMaskedSocket(socket, createGoawayMask(CLIENT_PREFACE_BYTES)) : socket;
}

/** Rejects with the error of the listener. */
export async function listenForConnections(
  { host, port }: Address,
  onConnection: (socket: Socket) => void,
): Promise<GrpcListener> {
  const listener = createServer((socket) => {
    socket.setNoDelay();
    onConnection(socket);
  });
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(port, host, resolve);
  });
  return { port: (listener.address() as AddressInfo).port, close: () => void listener.close() };
}
