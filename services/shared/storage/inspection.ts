import type { StoreSize } from "./port.ts";

/** What a table and its indexes take. */
export interface TableSize {
  readonly name: string;
  /** Null where the engine would have to read them to know. */
  readonly rows: number | null;
  readonly bytes: number;
  readonly indexBytes: number;
}

/** Of every page of an SQLite file: whether it is whole and fits the others, or, in full, whether the indexes fit the rows. */
export type PageCheck = "none" | "quick" | "full";

/** What a store is like from outside its rows. */
export interface StoreInspection {
  /** For people; without credentials. */
  readonly place: string;
  /** What each collection was declared as, by name: the store's version. */
  readonly declarations: ReadonlyMap<string, string>;
  readonly size: StoreSize;
  /** Undefined where that would take reading every page, and none was to be read. */
  readonly tables: readonly TableSize[] | undefined;
  /** What is wrong with pages; undefined where they were not read, or the server sees to its files. */
  readonly pageFaults: readonly string[] | undefined;
}
