/**
 * A small MongoDB of one process for what a test server may lack: elections, acknowledged writes that a failover takes
 * back, reads at a past time, and a router that records which fields each filter names. In memory; every write makes a
 * new version of its collection, so a past state is just an older version. The driver is the real one.
 */
import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";
import { BSON } from "mongodb";
import { aggregate, type Doc, matches, projected, sorted } from "./documents.ts";
import { serve } from "./wire.ts";

export interface TestMongodOptions {
  /** A router of a sharded cluster; a replica set of one member otherwise. */
  readonly router?: boolean;
  /** A single server: no sessions, no snapshots, no elections. */
  readonly standalone?: boolean;
  /** A further member of the replica set, which nobody can reach. */
  readonly otherMember?: string;
  /** Before each command but hello: time for others. */
  readonly delayMs?: number;
  /** Versions of a collection that are kept for reads at a past time. */
  readonly keptVersions?: number;
  /** The one role of everybody who connects, on every database; without it there are no users, and all may do all. */
  readonly role?: "read" | "readWrite";
}

type Docs = ReadonlyMap<unknown, Doc>;

interface Version {
  readonly time: number;
  readonly docs: Docs;
}

interface Failure {
  readonly command: string;
  readonly collection: string;
  readonly code: number;
  /** Whether the command is done nevertheless. */
  readonly done: boolean;
}

class CommandError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const DUPLICATE = 11_000;
const SNAPSHOT_TOO_OLD = 239;
const NOT_PRIMARY = 10_107;
const UNAUTHORIZED = 13;
const CODE_NAMES: Record<number, string> = { 23: "AlreadyInitialized", [NOT_PRIMARY]: "NotWritablePrimary" };
const WRITES: ReadonlySet<string> = new Set(["insert", "update", "delete"]);
/** Of the roles of MongoDB by these names, as connectionStatus shows them. */
const ACTIONS = {
  read: ["find", "listCollections", "listIndexes", "dbStats", "collStats"],
  readWrite: ["find", "listCollections", "listIndexes", "insert", "update", "remove", "createIndex"],
} as const;
/** What the role "read" is refused. */
const CHANGES: ReadonlySet<string> = new Set([...WRITES, "createindexes", "dropdatabase", "shardcollection"]);

export class TestMongod {
  readonly #options: TestMongodOptions;
  /** See TestMongodOptions.role. */
  role: TestMongodOptions["role"];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #versions = new Map<string, Version[]>();
  readonly #indexes = new Map<string, Doc[]>();
  /** The collections that writes changed, oldest first: what a failover takes back. */
  readonly #written: string[] = [];
  readonly #failures: Failure[] = [];
  readonly #processId = new BSON.ObjectId();
  #address = "";
  #topology = 1;
  #electionId = new BSON.ObjectId();
  #time = 1;
  #waiters: (() => void)[] = [];
  #isSilent = false;
  /** Every command but hello and connectionStatus, as it arrived. */
  readonly commands: Doc[] = [];

  private constructor(options: TestMongodOptions) {
    this.#options = options;
    this.role = options.role;
    this.#server = serve((command, socket) => this.#answer(command, socket));
  }

  static async start(options: TestMongodOptions = {}): Promise<TestMongod> {
    const server = new TestMongod(options);
    await once(server.#server.listen(0, "127.0.0.1"), "listening");
    server.#address = `127.0.0.1:${(server.#server.address() as AddressInfo).port}`;
    return server;
  }

  get url(): string {
    return `mongodb://${this.#address}/?${this.#options.router || this.#options.standalone ? "" : "replicaSet=rs0"}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** From now on it accepts connections and answers nothing, as behind a dead network; until `speak`. */
  hush(): void {
    this.#isSilent = true;
  }

  /** Connections from before are gone: what was asked stays without an answer. */
  speak(): void {
    this.#isSilent = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The next such command fails with this code: not the primary, by default. */
  failNext(failure: Pick<Failure, "command" | "collection"> & Partial<Failure>): void {
    this.#failures.push({ code: NOT_PRIMARY, done: false, ...failure });
  }

  /** Once a client is told of elections as they happen: half a second after it has connected. */
  async watched(): Promise<void> {
    while (this.#waiters.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** Another member is elected, which lacks the last `lost` writes: as after a write concern below majority. */
  failover(lost = 0): void {
    for (const name of this.#written.splice(this.#written.length - lost)) this.#versions.get(name)?.pop();
    this.#electionId = new BSON.ObjectId();
    this.#topology++;
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** All documents of a collection, newest state. */
  docsOf(database: string, collection: string): Doc[] {
    return [...this.#docs(`${database}.${collection}`).values()];
  }

  async #answer(command: Doc, socket: Socket): Promise<Doc> {
    this.#sockets.add(socket);
    if (this.#isSilent) return new Promise(() => {});
    const name = Object.keys(command)[0] ?? "";
    const lower = name.toLowerCase();
    if (lower === "hello" || lower === "ismaster") return this.#hello(command);
    if (lower === "connectionstatus") return this.#stamped(this.#connectionStatus());
    this.commands.push(command);
    await new Promise((resolve) => setTimeout(resolve, this.#options.delayMs ?? 0));
    try {
      return this.#stamped(this.#withFailure(lower, command));
    } catch (error) {
      const code = error instanceof CommandError ? error.code : 8;
      return this.#stamped({
        ok: 0,
        // As servers do: without it a driver trusts this one again only after its next hello.
        topologyVersion: this.#topologyVersion,
        code,
        codeName: CODE_NAMES[code] ?? `Code${code}`,
        errmsg: (error as Error).message,
      });
    }
  }

  #withFailure(name: string, command: Doc): Doc {
    const at = this.#failures.findIndex(
      (each) => each.command === name && each.collection === Object.values(command)[0],
    );
    const failure = at < 0 ? undefined : this.#failures.splice(at, 1)[0];
    if (this.role === "read" && CHANGES.has(name))
      throw new CommandError(
        UNAUTHORIZED,
        `not authorized on ${String(command.$db)} to execute command ${name}`,
      );
    if (failure === undefined) return this.#run(name, command);
    if (failure.done) this.#run(name, command);
    throw new CommandError(failure.code, "injected");
  }

  async #hello({ maxAwaitTimeMS, topologyVersion }: Doc): Promise<Doc> {
    const known = (topologyVersion as { counter?: BSON.Long } | undefined)?.counter;
    if (maxAwaitTimeMS !== undefined && Number(known) === this.#topology) {
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve);
        setTimeout(resolve, Number(maxAwaitTimeMS)).unref();
      });
      if (this.#isSilent) return new Promise(() => {});
    }
    const host = this.#address;
    const member = {
      ...{ setName: "rs0", setVersion: 1, me: host, primary: host },
      hosts: [host, ...(this.#options.otherMember === undefined ? [] : [this.#options.otherMember])],
      ...{ secondary: false, electionId: this.#electionId },
    };
    const kind = this.#options.router ? { msg: "isdbgrid" } : this.#options.standalone ? {} : member;
    return this.#stamped({
      ...{
        helloOk: true,
        isWritablePrimary: true,
        ismaster: true,
        minWireVersion: 0,
        maxWireVersion: 21,
        ok: 1,
      },
      ...{ maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 },
      ...(this.#options.standalone ? {} : { logicalSessionTimeoutMinutes: 30 }),
      topologyVersion: this.#topologyVersion,
      ...kind,
    });
  }

  #connectionStatus(): Doc {
    const { role } = this;
    const users = role === undefined ? [] : [{ user: "tester", db: "admin" }];
    const privileges =
      role === undefined ? [] : [{ resource: { db: "", collection: "" }, actions: ACTIONS[role] }];
    return { ok: 1, authInfo: { authenticatedUsers: users, authenticatedUserPrivileges: privileges } };
  }

  get #topologyVersion(): Doc {
    return { processId: this.#processId, counter: BSON.Long.fromNumber(this.#topology) };
  }

  #stamped(answer: Doc): Doc {
    if (this.#options.standalone) return answer;
    const clusterTime = toTimestamp(this.#time);
    const signature = { hash: new BSON.Binary(Buffer.alloc(20)), keyId: BSON.Long.fromNumber(0) };
    return { ...answer, operationTime: clusterTime, $clusterTime: { clusterTime, signature } };
  }

  #run(name: string, command: Doc): Doc {
    const space = `${String(command.$db)}.${String(Object.values(command)[0])}`;
    if (WRITES.has(name)) return this.#write(name, { command, space });
    switch (name) {
      case "find": {
        const filter = (command.filter ?? {}) as Doc;
        const all = [...this.#read(space, command)].filter((doc) => matches(doc, filter));
        const from = Number(command.skip ?? 0);
        const limit = Number(command.limit ?? 0);
        const page = sorted(all, (command.sort ?? { _id: 1 }) as Doc).slice(
          from,
          limit === 0 ? undefined : from + Math.abs(limit),
        );
        const { time } = this.#readTime(command);
        return cursor(
          space,
          page.map((doc) => projected(doc, command.projection as Doc)),
          time,
        );
      }
      case "aggregate":
        return cursor(space, aggregate(this.#read(space, command), command.pipeline as Doc[]));
      case "listcollections": {
        const database = `${String(command.$db)}.`;
        const spaces = [...this.#versions.keys(), ...this.#indexes.keys()];
        const names = [...new Set(spaces)].filter((each) => each.startsWith(database));
        return cursor(
          `${database}$cmd.listCollections`,
          names.map((each) => ({ name: each.slice(database.length), type: "collection" })),
        );
      }
      case "collstats": {
        const docs = this.#docs(space);
        const size = [...docs.values()].reduce((sum, doc) => sum + BSON.calculateObjectSize(doc), 0);
        return { ok: 1, count: docs.size, size, storageSize: size, totalIndexSize: 0 };
      }
      case "createindexes":
        this.#indexes.set(space, [...(this.#indexes.get(space) ?? []), ...(command.indexes as Doc[])]);
        return { ok: 1 };
      case "listindexes":
        return cursor(space, [{ v: 2, key: { _id: 1 }, name: "_id_" }, ...(this.#indexes.get(space) ?? [])]);
      case "dropdatabase":
        for (const map of [this.#versions, this.#indexes])
          for (const each of map.keys()) if (each.startsWith(`${String(command.$db)}.`)) map.delete(each);
        return { ok: 1 };
      default:
        return { ok: 1 };
    }
  }

  #docs(space: string): Docs {
    return this.#versions.get(space)?.at(-1)?.docs ?? new Map();
  }

  /** Undefined: the newest state. The first read of a session chooses its time, and is told which. */
  #readTime({ readConcern }: Doc): { readonly time: number | undefined } {
    const { atClusterTime, level } = (readConcern ?? {}) as {
      atClusterTime?: BSON.Timestamp;
      level?: string;
    };
    if (level !== "snapshot") return { time: undefined };
    return { time: atClusterTime === undefined ? this.#time : atClusterTime.getLowBits() };
  }

  *#read(space: string, command: Doc): Iterable<Doc> {
    const versions = this.#versions.get(space) ?? [];
    const { time } = this.#readTime(command);
    if (time === undefined) return yield* versions.at(-1)?.docs.values() ?? [];
    const at = versions.findLastIndex((version) => version.time <= time);
    const kept = this.#options.keptVersions ?? 1_000;
    if (at >= 0 && at < versions.length - kept) throw new CommandError(SNAPSHOT_TOO_OLD, "SnapshotTooOld");
    yield* versions[at]?.docs.values() ?? [];
  }

  #write(name: string, { command, space }: { command: Doc; space: string }): Doc {
    const docs = new Map(this.#docs(space));
    const writeErrors: Doc[] = [];
    const upserted: Doc[] = [];
    let [n, nModified] = [0, 0];
    for (const [index, item] of (
      (command.documents ?? command.updates ?? command.deletes) as Doc[]
    ).entries()) {
      try {
        const result = writeOne(docs, { name, item, now: toTimestamp(this.#time) });
        n += result.n;
        nModified += result.modified;
        if (result.upserted !== undefined) upserted.push({ index, _id: result.upserted });
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        writeErrors.push({ index, code: error.code, errmsg: error.message });
        if (command.ordered !== false) break;
      }
    }
    const versions = this.#versions.get(space) ?? [];
    versions.push({ time: ++this.#time, docs });
    this.#versions.set(space, versions);
    this.#written.push(space);
    return {
      ...{ ok: 1, n, nModified },
      ...(upserted.length > 0 && { upserted }),
      ...(writeErrors.length > 0 && { writeErrors }),
    };
  }
}

function toTimestamp(time: number): BSON.Timestamp {
  return new BSON.Timestamp({ t: 1_700_000_000, i: time });
}

function cursor(ns: string, firstBatch: Doc[], time?: number): Doc {
  const at = time === undefined ? {} : { atClusterTime: toTimestamp(time) };
  return { ok: 1, cursor: { id: BSON.Long.fromNumber(0), ns, firstBatch, ...at } };
}

interface Written {
  readonly n: number;
  readonly modified: number;
  readonly upserted?: unknown;
}

function writeOne(
  docs: Map<unknown, Doc>,
  { name, item, now }: { name: string; item: Doc; now: BSON.Timestamp },
): Written {
  if (name === "insert") return insertOne(docs, item);
  const found = [...docs.values()].filter((doc) => matches(doc, item.q as Doc));
  if (name === "delete") {
    for (const doc of found) docs.delete(doc._id);
    return { n: found.length, modified: 0 };
  }
  const [first] = found;
  const { u } = item as { u: Doc | Doc[] };
  if (first === undefined) {
    if (item.upsert !== true) return { n: 0, modified: 0 };
    const base = Object.fromEntries(
      Object.entries(item.q as Doc).filter(([field, value]) => field === "_id" || typeof value !== "object"),
    );
    const doc = updated(base, { u, now });
    insertOne(docs, doc);
    return { n: 1, modified: 0, upserted: doc._id };
  }
  docs.set(first._id, updated(first, { u, now }));
  return { n: 1, modified: 1 };
}

function insertOne(docs: Map<unknown, Doc>, doc: Doc): Written {
  if (docs.has(doc._id)) throw new CommandError(DUPLICATE, `E11000 duplicate key: ${String(doc._id)}`);
  docs.set(doc._id, doc);
  return { n: 1, modified: 0 };
}

function updated(doc: Doc, { u, now }: { u: Doc | Doc[]; now: BSON.Timestamp }): Doc {
  const [stage] = Array.isArray(u) ? u : [u];
  if (stage === undefined || !("$set" in stage)) return { _id: doc._id, ...stage };
  const set = Object.entries(stage.$set as Doc).map(([k, v]) => [k, v === "$$CLUSTER_TIME" ? now : v]);
  return { ...doc, ...Object.fromEntries(set) };
}
