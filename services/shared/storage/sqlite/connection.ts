import { LRUCache } from "lru-cache";
import { isDamaged } from "../damage.ts";
import type { Stored } from "../values.ts";
import type { Cell } from "./cell.ts";
import {
  allRows,
  changeRows,
  type Database,
  prepare,
  primaryCodeOf,
  resultCodeOf,
  type Statement,
} from "./driver.ts";
import type { PackedKeys } from "./keys/packed-keys.ts";
import { packedParams } from "./sql.ts";

const MAX_STATEMENTS = 400;
/** Keys in one statement: their text stays small beside the rows. */
const KEYS_A_READ = 5_000;

/** The driver with cached statements and retries on locks. */
export class Connection {
  readonly #db: Database;
  readonly #busyTimeoutMs: number;
  readonly #statements = new LRUCache<string, Statement>({
    max: MAX_STATEMENTS,
    // Without it each lives until the engine collects it, which takes no notice of SQLite's memory.
    dispose: (statement) => statement.close(),
  });
  readonly #onDamage: (error: unknown) => void;
  #closed = false;

  constructor(
    db: Database,
    { busyTimeoutMs, onDamage = () => {} }: { busyTimeoutMs: number; onDamage?: (error: unknown) => void },
  ) {
    this.#db = db;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#onDamage = onDamage;
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = prepare(this.#db, sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Rows as arrays. Never uses the driver's `get`: it leaves its statement open, which blocks checkpoints and writes. */
  all(sql: string, params: readonly Cell[] = []): Stored[][] {
    return allRows(this.prepare(sql), params);
  }

  /** Rows of a statement that takes a JSON list of keys; of many keys in one transaction: all see one snapshot. */
  allOfKeys(sql: string, keys: readonly string[]): Stored[][] {
    return this.#inPages(keys.length, (from, to) => this.all(sql, [`[${keys.slice(from, to).join(",")}]`]));
  }

  /** The same of selectPackedSql; the number that a row begins with is that of its key. */
  allOfPacked(sql: string, packed: PackedKeys): Stored[][] {
    return this.#inPages(packed.keys.length, (from, to) => {
      const rows = this.all(sql, packedParams(packed, from, to));
      if (from > 0) for (const row of rows) row[0] = from + (row[0] as number);
      return rows;
    });
  }

  #inPages(count: number, read: (from: number, to: number) => Stored[][]): Stored[][] {
    if (count === 0) return [];
    if (count <= KEYS_A_READ) return read(0, count);
    return this.transaction("read", () => {
      const found: Stored[][] = [];
      for (let from = 0; from < count; from += KEYS_A_READ)
        for (const row of read(from, Math.min(count, from + KEYS_A_READ))) found.push(row);
      return found;
    });
  }

  /** Runs once and returns how many rows changed. */
  run(sql: string, params: readonly Cell[]): number {
    return changeRows(this.prepare(sql), params);
  }

  /** "write": all or nothing, holds the file's write lock from the first statement on. "read": sees one snapshot. */
  transaction<T>(kind: "read" | "write", work: () => T): T {
    // A view is one already.
    if (kind === "read" && this.#db.isTransaction) return work();
    this.#db.exec(kind === "write" ? "BEGIN IMMEDIATE" : "BEGIN");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
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

const BUSY = 5;
const LOCKED = 6;
/** READONLY_RECOVERY and READONLY_CANTINIT: the writer has yet to make the log's index, which a mere reader cannot. */
const INDEX_IS_COMING: ReadonlySet<unknown> = new Set([264, 1288]);

function isBusy(error: unknown): boolean {
  const code = primaryCodeOf(error);
  return code === BUSY || code === LOCKED || INDEX_IS_COMING.has(resultCodeOf(error));
}
