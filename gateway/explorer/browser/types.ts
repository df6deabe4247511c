import type { DeclaredColumn, DeclaredParam, DeclaredTable } from "../declared-tables.ts";

export type Table = DeclaredTable;
export type Column = DeclaredColumn;
export type Param = DeclaredParam;

export interface Catalogue {
  readonly version: string;
  readonly tables: readonly Table[];
}

export type Cell = string | number | boolean | null | readonly Cell[];
export type Row = readonly Cell[];
export type Params = Readonly<Record<string, string>>;

/** What an address may be of. */
export type Kind = "pool" | "vault" | "token" | "wallet" | "curator";

/** A table as it came, with what its headers say. */
export interface Answer {
  readonly rows: readonly Row[];
  readonly block: string | null;
  /** Unix milliseconds of that block. */
  readonly asOfMs: number | null;
  readonly total: number | null;
  readonly hasNext: boolean;
  readonly stale: string | null;
}

/** A table with the parameters to ask it with, as a panel shows it. */
export interface Question {
  readonly table: Table;
  readonly params: Params;
}

export interface Route {
  readonly view: string;
  readonly rest: string;
  readonly params: Params;
}

/** A link of a cell, or none. */
export interface Link {
  readonly kind: Kind;
  readonly address: string;
  /** Parameters that tell apart several rows of one address. */
  readonly within: Params;
}

/** What a view is made with. */
export interface Context {
  readonly catalogue: Catalogue;
  readonly route: Route;
  /** Aborted when the visitor leaves the view. */
  readonly signal: AbortSignal;
}
