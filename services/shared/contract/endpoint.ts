import type { z } from "zod";
import type { Cell, Column } from "./column.ts";

/** The service that answers an endpoint; also the scope an API key needs for it. */
export type Family = "evm-dex" | "lending" | "solana";

export type MediaType =
  | "application/vnd.service.table.v2.0.0+json"
  | "application/vnd.service.table.v1.0.0+json"
  | "application/vnd.service.table.v0.0.1+json"
  | "application/json";

export type ParamShape = Readonly<Record<string, z.ZodType>>;

/**
 * Everything the outside can know of one endpoint. The only place that states path, parameters, columns,
 * media type and summary: validation, OpenAPI, docs, routes and the test matrix are derived from it.
 */
export interface Endpoint<P extends ParamShape = ParamShape> {
  readonly family: Family;
  /** The public path, the same at the gateway and at the service. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly mediaType: MediaType;
  /** EVM endpoints answer an array that holds one table, Solana endpoints the table itself. */
  readonly body: "array" | "object";
  readonly params: P;
  readonly columns: readonly Column[];
  /** What an address without data is: an empty table, or 404 on endpoints about one pool or vault. */
  readonly whenAbsent: "empty" | "not_found";
}

export type ParamsOf<E extends Endpoint> = { [K in keyof E["params"]]: z.output<E["params"][K]> };

/** The state of the chain an answer stands on; becomes X-Data-Block, X-Data-As-Of, X-Data-From-Block and the ETag. */
export interface DataVersion {
  readonly block: number;
  /** Unix seconds of that block. */
  readonly time: number;
  readonly blockHash?: string;
  /** First indexed block: numbers say nothing about what lies before. */
  readonly fromBlock?: number;
}

export interface Answer {
  /** Cells in the order of the endpoint's columns. */
  readonly rows: readonly (readonly Cell[])[];
  readonly version?: DataVersion;
}

export interface RequestContext {
  /** Request id, the `session` of an error. */
  readonly session: string;
  /** Aborted when the client is gone or the deadline has passed. */
  readonly signal: AbortSignal;
}

export type Handler<E extends Endpoint = Endpoint> = (
  params: ParamsOf<E>,
  context: RequestContext,
) => Promise<Answer>;
