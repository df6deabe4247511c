import type { Connection } from "./connection.ts";

/** Idle connections that are kept for the next view. */
const KEPT = 4;

/**
 * Connections for views of a file: a transaction sees one state from its first read on, and the writer goes on beside
 * it. Each view has a connection of its own while it lives, since all statements of a connection share its transaction.
 */
export class Views {
  readonly #open: () => Promise<Connection>;
  readonly #idle: Connection[] = [];
  #closed = false;

  constructor(open: () => Promise<Connection>) {
    this.#open = open;
  }

  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = this.#idle.pop() ?? (await this.#open());
    let isReusable = false;
    try {
      connection.exec("BEGIN");
      const value = await work(connection);
      connection.exec("COMMIT");
      isReusable = true;
      return value;
    } finally {
      // Closing ends the transaction of a view that failed: an open one would keep the log from being emptied.
      if (isReusable && !this.#closed && this.#idle.length < KEPT) this.#idle.push(connection);
      else connection.close();
    }
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) connection.close();
  }
}
