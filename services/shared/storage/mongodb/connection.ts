import type { ClientSession, Db, MongoClient, ReadConcern, TopologyDescription } from "mongodb";
import type { Access } from "../port.ts";
import { isFailover, isTransient, retry, wasNeverSent } from "./retry.ts";
import { checkMongoUrl, hasOption } from "./url.ts";

export interface MongoOptions {
  readonly url: string;
  readonly database: string;
  /** Default "write". */
  readonly access?: Access;
}

/**
 * What no connection string may weaken: a write is done when a majority has it in its journals, and reads come from the
 * primary. One lease and one checkpoint decide who writes and what is served, so no part of a connection is exempt.
 */
const SET_IN_CODE = { writeConcern: { w: "majority", journal: true }, readPreference: "primary" } as const;
const DEFAULTS = { appName: "chaintables", maxPoolSize: 20, serverSelectionTimeoutMS: 5_000 };
/** Whoever answers requests says that the store is away before a client's patience and its own deadline end. */
const DEFAULTS_OF_READERS = { ...DEFAULTS, serverSelectionTimeoutMS: 3_000 };
const PAUSES_OF_READERS_MS = [100];

/**
 * The driver with retries: work that a lost connection ended is repeated, and a client that finds no server is replaced.
 * (7.8.0 can wait forever for a heartbeat on a socket that just closed, as when a server without streaming heartbeats
 * restarts; a new client works at once.)
 */
export class MongoConnection {
  readonly #makeClient: () => MongoClient;
  readonly #database: string;
  readonly #newest: ReadConcern;
  /** Before repetitions. */
  readonly #pausesMs: readonly number[] | undefined;
  #client: MongoClient;
  #closed = false;
  /** The election (replica set) or start (single server) of the server that takes the writes. */
  #primary = "";
  #failovers = 0;

  private constructor(
    makeClient: () => MongoClient,
    {
      database,
      newest,
      pausesMs,
    }: { database: string; newest: ReadConcern; pausesMs?: readonly number[] | undefined },
  ) {
    this.#makeClient = makeClient;
    this.#database = database;
    this.#newest = newest;
    this.#pausesMs = pausesMs;
    this.#client = this.#newClient();
  }

  /** Does not connect yet. @throws ConfigError for a URL that checkMongoUrl refuses. */
  static async create({ url, database, access = "write" }: MongoOptions): Promise<MongoConnection> {
    checkMongoUrl(url);
    // Imported here: loading the driver takes a fifth of a second, which SQLite does not need.
    const { MongoClient, ReadConcern } = await import("mongodb");
    // Options would override those of the URL.
    const isReader = access !== "write";
    const defaults = Object.entries(isReader ? DEFAULTS_OF_READERS : DEFAULTS);
    const unset = Object.fromEntries(defaults.filter(([name]) => !hasOption(url, name)));
    const makeClient = () => new MongoClient(url, { ...unset, ...SET_IN_CODE });
    // What a write that failed has left must be seen to be removed, though no majority may have it yet.
    const newest = new ReadConcern("local");
    return new MongoConnection(makeClient, {
      database,
      newest,
      pausesMs: isReader ? PAUSES_OF_READERS_MS : undefined,
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
    return retry(() => this.#attempt(work), isTransient, this.#retries);
  }

  get #retries(): { pausesMs?: readonly number[] } {
    return this.#pausesMs === undefined ? {} : { pausesMs: this.#pausesMs };
  }

  /** Work that must not run twice: retried only if it was never sent. */
  once<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return retry(() => this.#attempt(work), wasNeverSent);
  }

  /** A command to the `admin` database. */
  admin(command: Record<string, unknown>): Promise<Record<string, unknown>> {
    return this.retryable((db) => db.admin().command(command));
  }

  /** A document of the cluster's own settings; null without. */
  config(collection: string, _id: string): Promise<Record<string, unknown> | null> {
    const find = (db: Db) => db.collection<{ _id: string }>(collection).findOne({ _id });
    return retry(() => this.#attempt(find, "config"), isTransient);
  }

  /** Reads of one state of the database: see snapshot.ts. Not retried: a session ends with its client. */
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
