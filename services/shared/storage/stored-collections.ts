import type { Collection, Fields, Index } from "./collection.ts";

/** A stored declaration: see CompiledCollection.fingerprint. Shard keys do not count in it. */
interface Declaration {
  readonly fields: Fields;
  readonly key: readonly string[];
  readonly indexes: readonly string[];
  readonly contents?: string;
}

/** Collections of stored declarations, by name: see Store.stored. */
export function collectionsOf(declarations: ReadonlyMap<string, string>): Collection[] {
  return [...declarations].map(([name, text]) => {
    const { fields, key, indexes, contents } = JSON.parse(text) as Declaration;
    return {
      ...{ name, fields, key, shardKey: key, indexes: indexes.map(indexOf) },
      ...(contents !== undefined && { contents }),
    };
  });
}

/** The index of a description as declaration.ts writes it: `unique a,b desc with c`. */
function indexOf(description: string): Index {
  const [, unique, indexed = "", carried] = /^(unique )?(\S.*?)(?: with (\S+))?$/.exec(description) ?? [];
  const parts = indexed.split(",").map((part) => part.split(" "));
  const fields = parts.map(([field = ""]) => field);
  const descending = parts.flatMap(([field = "", way]) => (way === "desc" ? [field] : []));
  return {
    fields,
    ...(unique !== undefined && { unique: true }),
    ...(descending.length > 0 && { descending }),
    ...(carried !== undefined && { carries: carried.split(",") }),
  };
}
