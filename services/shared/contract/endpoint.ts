import type { z } from "zod";
import type { Cell, Column } from "./column.ts";
import type { OrderTerm } from "./order.ts";

/** The service that answers an endpoint; also the scope an API key needs for it. */
export type Family = "evm-dex" | "lending" | "solana";

export type MediaType =
  | "application/vnd.service.table.v2.0.0+json"
  | "application/vnd.service.table.v1.0.0+json"
  | "application/vnd.service.table.v0.0.1+json"
  | "application/json";

/** Parameters by their name on the wire. */
export type ParamShape = Readonly<Record<string, z.ZodType>>;

/**
 * What a stream tells of a table: of `row` its one row, whenever it has changed; of `list` the rows that were added, changed
 * or removed; of `appends`, whose rows never change, the new ones, and in a reorg those that are taken back.
 * `key`: columns that name a row; `block`: the column of the row's block or slot; `clocks`: columns that change with every block
 * although nothing has happened, beside those that are so in every table.
 */
export type LiveForm<Name extends string = string> =
  | { readonly kind: "row" }
  | { readonly kind: "list"; readonly key: readonly [Name, ...Name[]]; readonly clocks?: readonly Name[] }
  | { readonly kind: "appends"; readonly key: readonly [Name, ...Name[]]; readonly block: Name };

/**
 * The public declaration of one endpoint. The only place that states path, parameters, columns, media type and
 * summary: validation, OpenAPI, docs, routes and the test matrix derive from it.
 * Where columns are sortable, order_asc and order_desc are parameters too, over those names in column order.
 */
export interface Endpoint<
  P extends ParamShape = ParamShape,
  C extends readonly Column[] = readonly Column[],
> {
  readonly family: Family;
  /** The public path, the same at the gateway and at the service. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly mediaType: MediaType;
  /** EVM endpoints answer an array that holds one table, Solana endpoints the table itself. */
  readonly body: "array" | "object";
  readonly params: P;
  /** Other wire names of parameters: alias → parameter. Sending both is an error. */
  readonly aliases?: Readonly<Record<string, keyof P & string>>;
  readonly columns: C;
  /** The default order of rows, in words; ends in a unique tie-break. */
  readonly rowOrder: string;
  /** The response for an address without data: an empty table, or 404 on endpoints about one pool or vault. */
  readonly whenAbsent: "empty" | "not_found";
  /** How its table is told as a stream of server-sent events; absent where it is not. */
  readonly live?: LiveForm<C[number]["name"]>;
  /** Price of a request on the pay-per-request host; absent where the endpoint is not sold there. */
  readonly priceUsd?: number;
  /** Rules between parameters; throws bad_request. The parameters' descriptions state them. */
  check?(params: { [K in keyof P]: z.output<P[K]> }): void;
}

/** The part of an endpoint that the layout of rows needs: its columns, and a name for errors. */
export type TableShape = Pick<Endpoint, "path" | "columns">;

/** Names of the columns an endpoint can be ordered by. */
export type SortableOf<E extends Endpoint> = Extract<
  E["columns"][number],
  { readonly sortable: true }
>["name"];

/** Parameters that may be left out and have no default. */
type OptionalParam<P extends ParamShape> = {
  [K in keyof P]: undefined extends z.output<P[K]> ? (unknown extends z.output<P[K]> ? never : K) : never;
}[keyof P];

/** Parsed parameters under their wire names; `order` (empty when none was sent) where columns are sortable. */
export type ParamsOf<E extends Endpoint> = {
  readonly [K in Exclude<keyof E["params"], OptionalParam<E["params"]>>]: z.output<E["params"][K]>;
} & {
  readonly [K in OptionalParam<E["params"]>]?: z.output<E["params"][K]>;
} & ([SortableOf<E>] extends [never] ? unknown : { readonly order: readonly OrderTerm<SortableOf<E>>[] });

/**
 * The block that a result was computed at: X-Data-Block, X-Data-Block-Hash, X-Data-As-Of, X-Data-Head, X-Data-From-Block,
 * X-Data-Positions-From-Block, X-Data-Swap-Share, X-Data-Stale and the ETag.
 */
export interface DataVersion {
  readonly block: number;
  /** Unix seconds of that block. */
  readonly time: number;
  readonly blockHash?: string;
  /** X-Data-Head: the indexed head, of a result that is of an earlier block (at_block, at_time). */
  readonly head?: number;
  /** Whether the block is final: the response may be kept for long. Not part of the ETag. */
  readonly isFinal?: boolean;
  /** First indexed block: numbers cover nothing before it. */
  readonly fromBlock?: number;
  /** X-Data-Positions-From-Block: from this block on all LP positions of the wallet are known. */
  readonly positionsFromBlock?: number;
  /** X-Data-Swap-Share: the indexed programs' share of a cluster's recent swaps, 0 to 1. */
  readonly swapShare?: number | undefined;
  /**
   * Distinguishes results at the same block, for example by the prices used. Part of the ETag only, and derived from the
   * data, so that replicas agree on it.
   */
  readonly tag?: string;
  /** Which part is older than it should be, and its age: `prices; age=123`. Not part of the ETag. */
  readonly stale?: string;
}

declare const rowText: unique symbol;
/** A row's cells as JSON, checked by `toRowText`. A list that stores its rows so need not read each cell. */
export type RowText = string & { readonly [rowText]: true };

export interface TableResult {
  /** Cells in the order of the endpoint's columns. */
  readonly rows: readonly (readonly Cell[] | RowText)[];
  /** Rows of all pages of a paged list, where that is known without reading them. */
  readonly total?: number;
  readonly version?: DataVersion;
}

export interface HandlerContext {
  /** Request id, the `session` of an error. */
  readonly session: string;
  /** Aborted when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal;
}

export type Handler<E extends Endpoint = Endpoint> = (
  params: ParamsOf<E>,
  context: HandlerContext,
) => Promise<TableResult>;
