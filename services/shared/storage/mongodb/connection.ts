import type { Db, MongoClient } from "mongodb";
import { isTransient, retry, wasNeverSent } from "./retry.ts";

export interface MongoOptions {
  readonly url: string;
  readonly database: string;
}

/**
 * The driver with retries: work that a lost connection ended is repeated, and a client that finds no server is replaced.
 * (7.8.0 can wait forever for a heartbeat on a socket that just closed, as when a server without streaming heartbeats
 * restarts; a new client works at once.)
 */
export class MongoConnection {
  readonly #makeClient: () => MongoClient;
  readonly #database: string;
  #client: MongoClient;
  #closed = false;

  private constructor(makeClient: () => MongoClient, database: string) {
    this.#makeClient = makeClient;
    this.#database = database;
    this.#client = makeClient();
  }

  /** Does not connect yet. */
  static async create({ url, database }: MongoOptions): Promise<MongoConnection> {
    // Imported here: loading the driver takes a fifth of a second, which SQLite does not need.
    const { MongoClient } = await import("mongodb");
    const defaults = { appName: "chaintables", maxPoolSize: 20, serverSelectionTimeoutMS: 5_000 };
    // Options would override those of the URL.
    const unset = Object.fromEntries(
      Object.entries(defaults).filter(([name]) => !url.toLowerCase().includes(`${name.toLowerCase()}=`)),
    );
    return new MongoConnection(() => new MongoClient(url, unset), database);
  }

  get database(): string {
    return this.#database;
  }

  /** Idempotent work: retried a few times after lost connections. */
  retryable<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return retry(() => this.#attempt(work), isTransient);
  }

  /** Work that must not run twice: retried only if it was never sent. */
  once<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return retry(() => this.#attempt(work), wasNeverSent);
  }

  /** A command to the `admin` database. */
  admin(command: Record<string, unknown>): Promise<Record<string, unknown>> {
    return this.retryable((db) => db.admin().command(command));
  }

  async #attempt<T>(work: (db: Db) => Promise<T>): Promise<T> {
    // The driver would reconnect after close.
    if (this.#closed) throw new Error("Cannot use the store: it is closed");
    const client = this.#client;
    try {
      return await work(client.db(this.#database));
    } catch (error) {
      if (wasNeverSent(error) && client === this.#client && !this.#closed) {
        this.#client = this.#makeClient();
        client.close().catch(() => {});
      }
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client.close();
  }
}
