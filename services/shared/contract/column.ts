/**
 * The names of cell types, as `columns[].type` of a table carries them. Compound types are written with
 * Nullable(T), Array(T) and Tuple(T, U, …); a Tuple is an array of fixed length inside a cell.
 */
export type ScalarType =
  | "String"
  | "Bool"
  | "UInt8"
  | "UInt32"
  | "UInt64"
  | "UInt128"
  | "UInt256"
  | "Int32"
  | "Int64"
  | "Float64"
  | "DateTime";

export type ColumnType = ScalarType | `Nullable(${ScalarType})` | `Array(${string})`;

/** A cell on the wire. Integers above 2^53 are decimal strings; a DateTime is ISO 8601 UTC text. */
export type Cell = string | number | boolean | null | readonly Cell[];

/** One column of one endpoint: declared once for responses, OpenAPI, docs and tests. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** "USD", "fraction", "percent", "token units", "hundredths of a bip", …; absent where the type says it all. */
  readonly unit?: string;
  /** One sentence; where the number is computed, the formula with its source. */
  readonly description: string;
  /**
   * True where cells may be null although the type does not say Nullable: the specification fixes some type strings.
   * Never set beside a Nullable type.
   */
  readonly nullable?: true;
  /** True when the column's name is an allowed value of order_asc and order_desc. */
  readonly sortable?: true;
}
