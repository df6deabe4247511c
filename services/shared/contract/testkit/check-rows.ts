import type { Cell, ScalarType } from "../column.ts";
import type { Endpoint } from "../endpoint.ts";
import { parseType, type TypeNode } from "../type.ts";

/**
 * Checks rows against the endpoint's columns, for tests: cell types, nulls, nesting, integer bounds, big integers as
 * decimal strings, dates. Throws a plain Error naming row, column, type and value of the first fault.
 */
export function checkRows(endpoint: Endpoint, rows: readonly (readonly Cell[])[]): void {
  const types = endpoint.columns.map((column) => parseType(column.type));
  for (const [at, row] of rows.entries()) {
    if (row.length !== endpoint.columns.length) {
      throw new Error(
        `${endpoint.path} row ${at}: ${row.length} cells for ${endpoint.columns.length} columns.`,
      );
    }
    for (const [index, column] of endpoint.columns.entries()) {
      const cell = row[index] as Cell;
      const type = types[index];
      if (type === undefined)
        throw new Error(`${endpoint.path}: column ${column.name} has a malformed type.`);
      if (cell === null && column.nullable === true) continue;
      if (!matchesType(cell, type)) {
        const shown = typeof cell === "bigint" ? `${cell}n` : (JSON.stringify(cell) ?? "undefined");
        throw new Error(
          `${endpoint.path} row ${at}: ${column.name} is ${shown}, which is not a ${column.type}.`,
        );
      }
    }
  }
}

function matchesType(cell: unknown, type: TypeNode): boolean {
  switch (type.kind) {
    case "nullable":
      return cell === null || matchesType(cell, type.inner);
    case "array":
      return Array.isArray(cell) && cell.every((item) => matchesType(item, type.inner));
    case "tuple":
      return (
        Array.isArray(cell) &&
        cell.length === type.items.length &&
        type.items.every((item, at) => matchesType(cell[at], item))
      );
    case "scalar":
      return matchesScalar(cell, type.scalar);
  }
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/;
const DECIMAL_INTEGER = /^(0|-?[1-9]\d*)$/;

function matchesScalar(cell: unknown, scalar: ScalarType): boolean {
  switch (scalar) {
    case "String":
      return typeof cell === "string";
    case "Bool":
      return typeof cell === "boolean";
    case "Float64":
      return typeof cell === "number" && Number.isFinite(cell);
    case "DateTime":
      return typeof cell === "string" && DATE_TIME.test(cell) && isValidDate(cell);
    case "UInt8":
      return isIntegerWithin(cell, 0, 255);
    case "UInt32":
      return isIntegerWithin(cell, 0, 2 ** 32 - 1);
    case "Int32":
      return isIntegerWithin(cell, -(2 ** 31), 2 ** 31 - 1);
    case "UInt64":
      return isIntegerWithin(cell, 0, Number.MAX_SAFE_INTEGER) || isBeyondSafe(cell, 0n, 2n ** 64n);
    case "Int64":
      return Number.isSafeInteger(cell) || isBeyondSafe(cell, -(2n ** 63n), 2n ** 63n);
    case "UInt128":
      return isDecimalWithin(cell, 0n, 2n ** 128n);
    case "UInt256":
      return isDecimalWithin(cell, 0n, 2n ** 256n);
  }
}

/** Date moves a day that does not exist (2026-02-30), so that it reads back differently. */
function isValidDate(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 19));
}

function isIntegerWithin(cell: unknown, min: number, max: number): boolean {
  return Number.isSafeInteger(cell) && (cell as number) >= min && (cell as number) <= max;
}

/** `limit` itself is outside. */
function isDecimalWithin(cell: unknown, min: bigint, limit: bigint): boolean {
  return (
    typeof cell === "string" && DECIMAL_INTEGER.test(cell) && BigInt(cell) >= min && BigInt(cell) < limit
  );
}

/** 64-bit integers are strings only where a JSON number would not be exact. */
function isBeyondSafe(cell: unknown, min: bigint, limit: bigint): boolean {
  return isDecimalWithin(cell, min, limit) && !Number.isSafeInteger(Number(cell));
}
