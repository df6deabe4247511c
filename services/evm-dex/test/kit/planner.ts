import { DatabaseSync } from "@photostructure/sqlite";
import { expect } from "chai";
import type { Collection, RowOf } from "../../../shared/storage/collection.ts";
import { compileCollection } from "../../../shared/storage/declaration.ts";
import type { Query } from "../../../shared/storage/port.ts";
import { parseQuery } from "../../../shared/storage/query.ts";
import type { Cell } from "../../../shared/storage/sqlite/cell.ts";
import { type Key, packKeys } from "../../../shared/storage/sqlite/keys/packed-keys.ts";
import { entryOf } from "../../../shared/storage/sqlite/rows.ts";
import {
  createSql,
  packedParams,
  SQLITE_DIALECT,
  selectByKeysSql,
  selectPackedSql,
  selectSql,
} from "../../../shared/storage/sqlite/sql.ts";
import { encoderOf } from "../../../shared/storage/values.ts";
import { COLLECTIONS } from "../../store/collections.ts";

/** SQLite's own plan of a query: unlike `store.plan` it shows whether rows are sorted. */
export class Planner {
  readonly #database = new DatabaseSync(":memory:");

  constructor() {
    for (const collection of COLLECTIONS) {
      for (const sql of createSql(compileCollection(collection))) this.#database.exec(sql);
    }
  }

  explain<C extends Collection>(from: C, query: Query<RowOf<C>>): string[] {
    const declared = compileCollection(from);
    const encoders = new Map(
      declared.fields.map((field) => [field.name, encoderOf(declared.name, field, SQLITE_DIALECT)] as const),
    );
    const { text, params } = selectSql(declared, parseQuery(declared, encoders, query as never));
    return this.#explain(text, params);
  }

  /** The plans of getMany: of packed keys, and of those that cannot be. */
  explainKeys(from: Collection, key: Key): { packed: string[]; json: string[] } {
    const declared = compileCollection(from);
    const packed = packKeys([key], entryOf(declared).key);
    if (packed === undefined) throw new Error(`The key of ${declared.name} cannot be packed.`);
    return {
      packed: this.#explain(selectPackedSql(declared, packed), packedParams(packed, 0, 1)),
      json: this.#explain(selectByKeysSql(declared), ["[]"]),
    };
  }

  #explain(text: string, params: readonly Cell[]): string[] {
    const steps = this.#database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...params);
    return (steps as { detail: string }[]).map(({ detail }) => detail);
  }

  close(): void {
    this.#database.close();
  }
}

/** One search of an index in the requested order, without a sort or a scan. */
export function expectSearch(plan: readonly string[], title: string): void {
  expect(plan, `${title}: ${plan.join("; ")}`).to.have.length(1);
  expect(plan[0], title).to.match(/^SEARCH /);
}
