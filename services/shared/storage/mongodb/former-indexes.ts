import type { Db } from "mongodb";
import { type CompiledCollection, extensionOf, isComplete } from "../declaration.ts";
import type { MongoConnection, MongoOptions } from "./connection.ts";
import { DECLARATIONS, type StoredDeclaration } from "./declare.ts";
import { indexName } from "./query.ts";

/**
 * Services of an earlier version find rows by a former index until they are replaced, which an upgrade does after the
 * ingest's: without it their reads would go through the whole collection.
 */
const DROP_AFTER_MS = 3_600_000;

/** Drops former indexes of a writer's collections, some time after it has declared them. */
export class FormerIndexes {
  readonly #connection: Pick<MongoConnection, "retryable">;
  /** Undefined where this process leaves it to others. */
  readonly #afterMs: number | undefined;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(
    connection: Pick<MongoConnection, "retryable">,
    { access = "write", dropAfterMs = DROP_AFTER_MS }: MongoOptions,
  ) {
    this.#connection = connection;
    this.#afterMs = access === "write" ? dropAfterMs : undefined;
  }

  dropLater(declared: CompiledCollection): void {
    if (this.#afterMs === undefined) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      // Where that fails, the next start does it.
      this.#connection.retryable((db) => dropFormer(db, declared)).catch(() => {});
    }, this.#afterMs);
    this.#timers.add(timer.unref());
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}

/** Drops the indexes of a declared collection that only earlier versions read by. May be repeated. */
async function dropFormer(db: Db, declared: CompiledCollection): Promise<void> {
  const declarations = db.collection<StoredDeclaration>(DECLARATIONS);
  const stored = (await declarations.findOne({ _id: declared.name }))?.declaration;
  if (stored === undefined) return;
  const extension = extensionOf(stored, declared);
  if (extension === undefined || !isComplete(extension)) return;
  const documents = db.collection(declared.name);
  // Of a collection that has any: it was made with them.
  const names = new Set((await documents.listIndexes().toArray()).map(({ name }) => name as string));
  for (const name of extension.former.map(indexName)) if (names.has(name)) await documents.dropIndex(name);
  // Recorded last, as above.
  const filter = { _id: declared.name, declaration: stored };
  await declarations.updateOne(filter, { $set: { declaration: declared.fingerprint } });
}
