import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";

/** How a server goes away: it refuses connections at once, as after a crash, or says nothing, as behind a dead network. */
export type Outage = "refuses" | "is silent";

/** A TCP server in front of another one, which can go away and come back at the same address. */
export class CutProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #sockets = new Set<Socket>();
  #server: Server;
  #port = 0;
  #isSilent = false;

  private constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
    this.#server = this.#listener();
  }

  static async start(target: { readonly host: string; readonly port: number }): Promise<CutProxy> {
    const proxy = new CutProxy(target);
    await proxy.#listen();
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** What clients had sent may have been done or not: they hear nothing of it. */
  async cut(how: Outage): Promise<void> {
    if (how === "is silent") {
      this.#isSilent = true;
      for (const socket of this.#sockets) socket.pause().unpipe();
      return;
    }
    await this.#close();
  }

  /** Connections of before are gone, as with another server at this address. */
  async restore(): Promise<void> {
    this.#isSilent = false;
    await this.#close();
    await this.#listen();
  }

  async stop(): Promise<void> {
    await this.#close();
  }

  async #listen(): Promise<void> {
    this.#server = this.#listener();
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async #close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
  }

  #listener(): Server {
    return createServer((client) => {
      this.#keep(client);
      if (this.#isSilent) return;
      const server = createConnection(this.#target);
      this.#keep(server);
      client.pipe(server).pipe(client);
      client.once("close", () => server.destroy());
      server.once("close", () => client.destroy());
    });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {}).once("close", () => this.#sockets.delete(socket));
  }
}
