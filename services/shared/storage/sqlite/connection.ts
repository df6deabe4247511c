import type Libsql from "libsql";
import { LRUCache } from "lru-cache";
import { isDamaged } from "../damage.ts";
import type { Stored } from "../values.ts";

const MAX_STATEMENTS = 400;
/** Keys in one statement: their text stays small beside the rows. */
const KEYS_A_READ = 5_000;

/** The driver with cached statements and retries on locks. */
export class Connection {
  readonly #db: Libsql.Database;
  readonly #busyTimeoutMs: number;
  readonly #statements = new LRUCache<string, Libsql.Statement<unknown[]>>({ max: MAX_STATEMENTS });
  readonly #onDamage: (error: unknown) => void;
  #closed = false;

  constructor(
    db: Libsql.Database,
    { busyTimeoutMs, onDamage = () => {} }: { busyTimeoutMs: number; onDamage?: (error: unknown) => void },
  ) {
    this.#db = db;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#onDamage = onDamage;
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  prepare(sql: string): Libsql.Statement<unknown[]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Rows as arrays. Never uses the driver's `get`: it leaves its statement open, which blocks checkpoints and writes. */
  all(sql: string, params: readonly Stored[] = []): Stored[][] {
    return this.prepare(sql).raw().all(params) as Stored[][];
  }

  /** Rows of a statement that takes a JSON list of keys; of many keys in one transaction: all see one snapshot. */
  allOfKeys(sql: string, keys: readonly string[]): Stored[][] {
    const readPage = (from: number) => this.all(sql, [`[${keys.slice(from, from + KEYS_A_READ).join(",")}]`]);
    if (keys.length === 0) return [];
    if (keys.length <= KEYS_A_READ) return readPage(0);
    return this.transaction("read", () => {
      const found: Stored[][] = [];
      for (let from = 0; from < keys.length; from += KEYS_A_READ)
        for (const row of readPage(from)) found.push(row);
      return found;
    });
  }

  /** Runs once and returns how many rows changed. */
  run(sql: string, params: readonly Stored[]): number {
    return this.prepare(sql).run(params as unknown[]).changes;
  }

  /** "write": all or nothing, holds the file's write lock from the first statement on. "read": sees one snapshot. */
  transaction<T>(kind: "read" | "write", work: () => T): T {
    // A view is one already.
    if (kind === "read" && this.#db.inTransaction) return work();
    this.#db.exec(kind === "write" ? "BEGIN IMMEDIATE" : "BEGIN");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  /** Retries work that failed on another process's lock; it must be one statement or one transaction. */
  async retrying<T>(work: () => T): Promise<T> {
    const deadline = Date.now() + this.#busyTimeoutMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
      if (this.#closed) throw new Error("Cannot use the store: it is closed");
      try {
        return work();
      } catch (error) {
        if (isDamaged(error)) this.#onDamage(error);
        if (!isBusy(error) || Date.now() >= deadline) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#statements.clear();
    this.#db.close();
  }
}

/** READONLY_RECOVERY and READONLY_CANTINIT: the writer has yet to make the log's index, which a mere reader cannot. */
const INDEX_IS_COMING: ReadonlySet<unknown> = new Set([264, 1288]);

function isBusy(error: unknown): boolean {
  const { code, rawCode } = error as { code?: unknown; rawCode?: unknown };
  if (INDEX_IS_COMING.has(rawCode)) return true;
  return typeof code === "string" && (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED"));
}
