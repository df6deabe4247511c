import { Connection } from "./connection.ts";
import { type Database, openDatabase, primaryCodeOf } from "./driver.ts";

export interface SqliteOptions {
  /** A file whose folder exists, or ":memory:". */
  readonly path: string;
  /** How much of the file is memory-mapped; 64 MiB by default. Mapped pages count as memory of the process. */
  readonly mappedBytes?: number;
  /**
   * How long the log grows before its pages are copied into the file; 64 MB by default. A page that many transactions change
   * is copied once. All processes that write a file should agree.
   */
  readonly logBytes?: number;
  /** Of the pages of a file that is made anew; 8,192 by default. An existing one keeps its own. */
  readonly pageBytes?: number;
  /**
   * Default true: a power cut may lose the last transactions, never consistency. False: it may damage the file, for nothing
   * waits for the disk. A killed process loses nothing in either case.
   */
  readonly survivesPowerCut?: boolean;
  /** Most pages that the connection keeps in memory, in KB; 32 MB by default. */
  readonly cacheKb?: number;
  /** Rejects every write; the file must exist. */
  readonly readOnly?: boolean;
  /** How long a write waits for another process's transaction before it fails; 30 s by default. */
  readonly busyTimeoutMs?: number;
  /** Called when a read or write finds that the file is damaged. */
  readonly onDamage?: (error: unknown) => void;
}

/** Opens or creates the file, with the settings of the store. @throws Error that names the path. */
export async function openConnection(options: SqliteOptions): Promise<Connection> {
  const { existsSync } = await import("node:fs");
  const inMemory = options.path === MEMORY;
  if (options.readOnly && !inMemory && !existsSync(options.path)) {
    throw new Error(`Cannot open ${options.path} for reading: there is no such file yet`);
  }
  let db: Database;
  try {
    db = await openDatabase(options.path, DRIVER_WAIT_MS);
  } catch (cause) {
    throw new Error(`Cannot open the SQLite file ${options.path}: ${messageOf(cause)}`, { cause });
  }
  const connection = new Connection(db, {
    busyTimeoutMs: options.busyTimeoutMs ?? 30_000,
    ...(options.onDamage && { onDamage: options.onDamage }),
  });
  try {
    await connection.retrying(() => configure(connection, options));
  } catch (cause) {
    db.close();
    throw new Error(`Cannot open the SQLite file ${options.path}: ${reasonOf(cause, options)}`, { cause });
  }
  return connection;
}

const PAGE_BYTES = 8_192;

export const MEMORY = ":memory:";

/** The driver blocks the event loop while it waits for a lock, so it waits briefly and `retrying` waits asynchronously. */
const DRIVER_WAIT_MS = 10;

const READONLY = 8;
const CANTOPEN = 14;

/** A file with a write-ahead log can be read without the right to write only beside a process that has that right. */
function reasonOf(cause: unknown, { readOnly }: SqliteOptions): string {
  const code = primaryCodeOf(cause);
  if (readOnly !== true || (code !== READONLY && code !== CANTOPEN)) return messageOf(cause);
  return (
    `${messageOf(cause)}. This process may not write there, so the log (-wal, -shm) must exist and be readable: ` +
    "start the ingest, which makes it, or read a copy of npm run backup."
  );
}

function configure(connection: Connection, options: SqliteOptions): void {
  if (options.readOnly) {
    connection.exec("PRAGMA query_only = 1");
    // Settings alone do not open the file.
    connection.all("SELECT count(*) FROM sqlite_schema");
  } else {
    connection.exec(`PRAGMA page_size = ${options.pageBytes ?? PAGE_BYTES}`);
    const mode = connection.all("PRAGMA journal_mode = WAL")[0]?.[0];
    if (mode !== "wal" && mode !== "memory")
      throw new Error("this file system does not allow write-ahead logging");
    connection.exec(
      "CREATE TABLE IF NOT EXISTS _collections (name TEXT NOT NULL PRIMARY KEY, declaration TEXT NOT NULL) STRICT, WITHOUT ROWID",
    );
  }
  connection.exec(`PRAGMA synchronous = ${options.survivesPowerCut === false ? "OFF" : "NORMAL"}`);
  limitCache(connection, options.cacheKb ?? CACHE_KB);
  connection.exec(`PRAGMA mmap_size = ${Math.trunc(options.mappedBytes ?? 2 ** 26)}`);
  connection.exec("PRAGMA temp_store = MEMORY");
  const logBytes = options.logBytes ?? 2 ** 26;
  // Fewer pages than fit: the transaction that passes the mark must not make the file longer than it may stay.
  const [[pageBytes] = []] = connection.all("PRAGMA page_size");
  connection.exec(`PRAGMA wal_autocheckpoint = ${Math.floor((0.975 * logBytes) / (pageBytes as number))}`);
  connection.all(`PRAGMA journal_size_limit = ${logBytes}`);
}

export const CACHE_KB = 32_768;

export function limitCache(connection: Connection, kilobytes: number): void {
  connection.exec(`PRAGMA cache_size = -${kilobytes}`);
  connection.exec("PRAGMA shrink_memory");
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
