/** What a write does, in terms of statements: compiled beside the rows, run beside the connection. */
import { ConflictError, type WriteStep } from "../port.ts";
import { parseFilter } from "../query.ts";
import type { Rows } from "../row-list.ts";
import type { Stored } from "../values.ts";
import type { Cell } from "./cell.ts";
import type { Connection } from "./connection.ts";
import { changeRows } from "./driver.ts";
import type { NextRow, PackedCells } from "./packed/cells.ts";
import { readCells } from "./packed/reader.ts";
import { PackedRows } from "./packed/row-list.ts";
import { type Entry, encodeCells, keyPredicates, ROWS_A_CALL } from "./rows.ts";
import { countSql, deleteByKeySql, deleteSql } from "./sql.ts";

/** Rows to insert or replace. */
export interface PutRows {
  readonly kind: "put";
  /** Statement for one row, and for ROWS_A_CALL. */
  readonly one: string;
  readonly many: string;
  /** Cells of a row. */
  readonly width: number;
  readonly count: number;
  /** Reads from the first row on, as often as a write is tried. */
  readonly read: () => NextRow;
  /** The same, where they are packed. */
  readonly cells?: PackedCells;
  /** To be called once they are read no more. */
  readonly release?: () => void;
}

export type Operation =
  | PutRows
  /** A statement for each list of parameters. */
  | { readonly kind: "each"; readonly text: string; readonly params: readonly (readonly Stored[])[] }
  /** A statement that must count one row of the collection. */
  | {
      readonly kind: "require";
      readonly text: string;
      readonly params: readonly Stored[];
      readonly collection: string;
    };

/** @throws TypeError for a value that its field cannot hold; of rows to put, once they are read. */
export function operationsOf(entry: Entry, step: WriteStep): Operation[] {
  const { declared, encoders } = entry;
  switch (step.kind) {
    case "claim":
      return [];
    case "put":
      return [putRows(entry, step.rows)];
    case "remove":
      return [
        {
          kind: "each",
          text: deleteByKeySql(declared),
          params: step.keys.map((key) => keyPredicates(entry, key).map(({ value }) => value)),
        },
      ];
    case "require": {
      const where = [...keyPredicates(entry, step.key), ...parseFilter(declared, encoders, step.expected)];
      const { text, params } = countSql(declared, { where, anyOf: [], via: undefined });
      return [{ kind: "require", text, params, collection: declared.name }];
    }
    case "removeWhere": {
      const { text, params } = deleteSql(declared, parseFilter(declared, encoders, step.filter));
      return [{ kind: "each", text, params: [params] }];
    }
  }
}

type ObjectRow = Readonly<Record<string, unknown>>;

function putRows(entry: Entry, rows: Rows<ObjectRow>): PutRows {
  const { upsert: one, upsertMany: many, declared } = entry;
  const put = { kind: "put", one, many, width: declared.fields.length, count: rows.length } as const;
  if (rows instanceof PackedRows) {
    const { cells } = rows;
    return { ...put, cells, read: () => readCells(cells), release: () => rows.release() };
  }
  return {
    ...put,
    read() {
      const each = rows[Symbol.iterator]();
      return (into, place) => {
        encodeCells(entry, each.next().value as ObjectRow, into, place);
      };
    },
  };
}

/** To be called once operations have been run, or will not be. */
export function release(operations: readonly Operation[]): void {
  for (const operation of operations) if (operation.kind === "put") operation.release?.();
}

/** Runs operations in order, within the caller's transaction. @throws ConflictError where a required row is not there. */
export function runOperations(connection: Connection, operations: Iterable<Operation>): void {
  for (const operation of operations) {
    if (operation.kind === "put") runPut(connection, operation);
    else if (operation.kind === "each") {
      const statement = connection.prepare(operation.text);
      for (const params of operation.params) changeRows(statement, params);
    } else if (connection.all(operation.text, operation.params)[0]?.[0] !== 1)
      throw new ConflictError(operation.collection);
  }
}

function runPut(connection: Connection, { one, many, width, count, read }: PutRows): void {
  const next = read();
  const left = count % ROWS_A_CALL;
  if (count > left) {
    const statement = connection.prepare(many);
    const params: Cell[] = new Array(width * ROWS_A_CALL).fill(null);
    for (let done = left; done < count; done += ROWS_A_CALL) {
      for (let i = 0; i < ROWS_A_CALL; i++) next(params, width * i);
      changeRows(statement, params);
    }
  }
  if (left === 0) return;
  const statement = connection.prepare(one);
  const params: Cell[] = new Array(width).fill(null);
  for (let i = 0; i < left; i++) {
    next(params, 0);
    changeRows(statement, params);
  }
}
