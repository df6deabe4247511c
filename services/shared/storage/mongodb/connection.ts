import type { ClientSession, Db, MongoClient, ReadConcern, TopologyDescription } from "mongodb";
import type { Access } from "../port.ts";
import { isFailover, isTransient, markAway, type RetryOptions, retry, wasNeverSent } from "./retry.ts";
import { checkMongoUrl, hasOption } from "./url.ts";

export interface MongoOptions {
  readonly url: string;
  readonly database: string;
  /** Default "write". */
  readonly access?: Access;
  /** When a writer drops former indexes, after it has declared a collection that has any; default an hour. */
  readonly dropAfterMs?: number;
}

/**
 * What no connection string may weaken: a write is done when a majority has it in its journals, and reads come from the
 * primary. One lease and one checkpoint decide who writes and what is served, so no part of a connection is exempt.
 */
const SET_IN_CODE = { writeConcern: { w: "majority", journal: true }, readPreference: "primary" } as const;
const DEFAULTS = { appName: "chaintables", maxPoolSize: 20, serverSelectionTimeoutMS: 5_000 };
/**
 * Whoever answers requests says that the store is away before its own deadline ends. A server that is silent has neither
 * refused nor answered: without the limit of a socket it is waited for (timeoutMS does nothing in 7.8.0). The driver would
 * repeat a read over up to three new connections, each of which it waits for; the store's own repetitions look at the time.
 */
export const DEFAULTS_OF_SERVICES = {
  ...DEFAULTS,
  serverSelectionTimeoutMS: 3_000,
  socketTimeoutMS: 8_000,
  connectTimeoutMS: 3_000,
  retryReads: false,
};
/** No attempt begins so late that the deadline would pass meanwhile. */
export const RETRIES_OF_SERVICES = { pausesMs: [100, 400], patienceMs: 3_500 };

/**
 * The driver with retries: work that a lost connection ended is repeated, and a client that finds no server is replaced.
 * Where that does not help, its methods throw StoreAwayError.
 * (7.8.0 can wait forever for a heartbeat on a socket that just closed, as when a server without streaming heartbeats
 * restarts; a new client works at once.)
 */
export class MongoConnection {
  readonly #makeClient: () => MongoClient;
  readonly #database: string;
  readonly #newest: ReadConcern;
  readonly #retries: RetryOptions;
  #client: MongoClient;
  #closed = false;
  /** The election (replica set) or start (single server) of the server that takes the writes. */
  #primary = "";
  #failovers = 0;

  private constructor(
    makeClient: () => MongoClient,
    { database, newest, retries }: { database: string; newest: ReadConcern; retries: RetryOptions },
  ) {
    this.#makeClient = makeClient;
    this.#database = database;
    this.#newest = newest;
    this.#retries = retries;
    this.#client = this.#newClient();
  }

  /** Does not connect yet. @throws ConfigError for a URL that checkMongoUrl refuses. */
  static async create({ url, database, access = "write" }: MongoOptions): Promise<MongoConnection> {
    checkMongoUrl(url);
    // Imported here: loading the driver takes a fifth of a second, which SQLite does not need.
    const { MongoClient, ReadConcern } = await import("mongodb");
    // Options would override those of the URL.
    // What only reads may be a long look at everything: the doctor's, the audit's.
    const isService = access === "either";
    const defaults = Object.entries(isService ? DEFAULTS_OF_SERVICES : DEFAULTS);
    const unset = Object.fromEntries(defaults.filter(([name]) => !hasOption(url, name)));
    const makeClient = () => new MongoClient(url, { ...unset, ...SET_IN_CODE });
    // What a write that failed has left must be seen to be removed, though no majority may have it yet.
    const newest = new ReadConcern("local");
    return new MongoConnection(makeClient, {
      database,
      newest,
      retries: isService ? RETRIES_OF_SERVICES : {},
    });
  }

  get database(): string {
    return this.#database;
  }

  /** See Store.term. */
  get term(): string {
    return `${this.#primary}/${this.#failovers}`;
  }

  /** Idempotent work: retried a few times after lost connections. */
  retryable<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return markAway(retry(() => this.#attempt(work), isTransient, this.#retries));
  }

  /** Whether work that began then may be tried again. */
  hasPatience(startedMs: number): boolean {
    return performance.now() - startedMs <= (this.#retries.patienceMs ?? Number.POSITIVE_INFINITY);
  }

  /** Work that must not run twice: retried only if it was never sent. */
  once<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return markAway(retry(() => this.#attempt(work), wasNeverSent));
  }

  /** A command to the `admin` database. */
  admin(command: Record<string, unknown>): Promise<Record<string, unknown>> {
    return this.retryable((db) => db.admin().command(command));
  }

  /** A document of the cluster's own settings; null without. */
  config(collection: string, _id: string): Promise<Record<string, unknown> | null> {
    const find = (db: Db) => db.collection<{ _id: string }>(collection).findOne({ _id });
    return markAway(retry(() => this.#attempt(find, "config"), isTransient));
  }

  /** Reads of one state of the database: see snapshot.ts. Not retried: a session ends with its client. Throws
   * the driver's errors. */
  async inSession<T>(work: (session: ClientSession, db: Db) => Promise<T>): Promise<T> {
    this.#requireOpen();
    const client = this.#client;
    const session = client.startSession({ snapshot: true });
    try {
      // No read concern of the database: it would replace the session's.
      return await work(session, client.db(this.#database));
    } finally {
      await session.endSession();
    }
  }

  async #attempt<T>(work: (db: Db) => Promise<T>, database = this.#database): Promise<T> {
    this.#requireOpen();
    const client = this.#client;
    try {
      return await work(client.db(database, { readConcern: this.#newest }));
    } catch (error) {
      if (isFailover(error)) this.#failovers++;
      if (wasNeverSent(error) && client === this.#client && !this.#closed) {
        this.#client = this.#newClient();
        client.close().catch(() => {});
      }
      throw error;
    }
  }

  #requireOpen(): void {
    // The driver would reconnect after close.
    if (this.#closed) throw new Error("Cannot use the store: it is closed");
  }

  #newClient(): MongoClient {
    const client = this.#makeClient();
    client.on("topologyDescriptionChanged", ({ newDescription }) => {
      // While no server takes writes, the last one that did stays.
      this.#primary = primaryOf(newDescription) ?? this.#primary;
    });
    return client;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client.close();
  }
}

function primaryOf({ servers }: TopologyDescription): string | undefined {
  for (const { electionId, isWritable, setName, topologyVersion, type } of servers.values()) {
    // Routers are many and equal; failovers of shards show as errors.
    if (!isWritable || type === "Mongos") continue;
    if (setName !== null) return `${setName} ${electionId?.toHexString() ?? ""}`;
    return topologyVersion?.processId.toHexString() ?? "";
  }
  return undefined;
}
