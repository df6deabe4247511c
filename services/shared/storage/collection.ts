/**
 * Declarations of collections, which both engines make tables of.
 *
 * Field types and their values in a row:
 *   text → string · int → number (exact to ±2^53) · float → number · bool → boolean
 *   hex → string of 0x and lower-case hex digits in pairs, or "": an address, a hash; SQLite stores its bytes
 *   bigint → bigint (any size up to ±2^256, ordered numerically) · json → plain arrays/objects (not filterable)
 */
export type FieldType = "text" | "hex" | "int" | "float" | "bool" | "bigint" | "json";
export type FieldSpec = FieldType | `${FieldType}?`;
export type Fields = Readonly<Record<string, FieldSpec>>;

interface ValueOfType {
  text: string;
  hex: string;
  int: number;
  float: number;
  bool: boolean;
  bigint: bigint;
  json: unknown;
}
export type ValueOf<S extends FieldSpec> = S extends `${infer T extends FieldType}?`
  ? ValueOfType[T] | null
  : S extends FieldType
    ? ValueOfType[S]
    : never;

export type RowOf<C extends Collection> = { -readonly [K in keyof C["fields"]]: ValueOf<C["fields"][K]> };
export type FieldOf<C extends Collection> = keyof RowOf<C> & string;
/** The fields of a collection that can be summed: int and float, nullable or not. */
export type SummableField<C extends Collection> = {
  [K in keyof C["fields"]]: C["fields"][K] extends "int" | "float" | "int?" | "float?" ? K : never;
}[keyof C["fields"]] &
  string;
export type Value = string | number | boolean | bigint | null;

/** Ends in the rest of the key, ascending: ties are returned in key order without sorting. */
export interface Index<Field extends string = string> {
  readonly fields: readonly Field[];
  readonly unique?: true;
  /** Fields stored in descending order, for orders with mixed directions. */
  readonly descending?: readonly Field[];
  /** Further fields stored after the key (a covering index): conditions on them need no look-up of the row. */
  readonly carries?: readonly Field[];
}

/**
 * Where SQLite puts rows. "heap": one after the other as they are written, found by an index of their key. For rows that
 * are written in the order of another index: in the order of their key each would change the page of another one. Else
 * narrow rows lie in the order of their key. A table that exists stays as it is.
 */
export type Layout = "heap";

/** A declared collection, its field names checked against its fields. */
export interface TypedCollection<F extends Fields> {
  readonly name: string;
  readonly fields: F;
  /** Describes contents that the field types do not show: changing it changes the declaration. */
  readonly contents?: string;
  /** Primary key: unique, and the order of rows where none is asked for. */
  readonly key: readonly (keyof F & string)[];
  readonly indexes: readonly Index<keyof F & string>[];
  /** Indexes that earlier versions declared: what is stored loses them (see Store.declare). */
  readonly formerIndexes?: readonly Index<keyof F & string>[];
  /**
   * How MongoDB spreads the collection over shards; a prefix of the key or of an index. It ends in a field with many
   * values where one value of the fields before it may have more rows than a shard should hold.
   */
  readonly shardKey: readonly (keyof F & string)[];
  readonly layout?: Layout;
}

/** Any declared collection: what the adapters work with. */
export interface Collection {
  readonly name: string;
  readonly fields: Fields;
  readonly contents?: string;
  readonly key: readonly string[];
  readonly indexes: readonly Index[];
  readonly formerIndexes?: readonly Index[];
  readonly shardKey: readonly string[];
  readonly layout?: Layout;
}

/** Preserves the literal types of a declaration. */
export function collection<const F extends Fields>(declaration: TypedCollection<F>): TypedCollection<F> {
  return declaration;
}
