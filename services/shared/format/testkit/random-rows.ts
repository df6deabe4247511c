import fc from "fast-check";
import { formatDateTime, integerCell } from "../../contract/cells.ts";
import type { Cell, Column } from "../../contract/column.ts";
import type { TableShape } from "../../contract/endpoint.ts";
import { parseType, type TypeNode } from "../../contract/type.ts";

/** Rows that the columns allow, with the ends of every type. */
export function randomRows({ columns }: TableShape): fc.Arbitrary<Cell[][]> {
  return fc.array(fc.tuple(...columns.map(randomCell)), { maxLength: 8 });
}

function randomCell({ type, nullable }: Column): fc.Arbitrary<Cell> {
  const cell = randomValue(parseType(type) as TypeNode);
  return nullable === true ? fc.option(cell) : cell;
}

function randomValue(node: TypeNode): fc.Arbitrary<Cell> {
  switch (node.kind) {
    case "nullable":
      return fc.option(randomValue(node.inner));
    case "array":
      return fc.array(randomValue(node.inner), { maxLength: 4 });
    case "tuple":
      return fc.tuple(...node.items.map(randomValue));
    default:
      return randomScalar(node.scalar);
  }
}

function randomScalar(scalar: string): fc.Arbitrary<Cell> {
  const unsigned = (bits: bigint) => fc.bigInt({ min: 0n, max: 2n ** bits - 1n });
  switch (scalar) {
    case "String":
      // Lone surrogates have no UTF-8.
      return fc.oneof(
        fc.string({ unit: "grapheme" }),
        fc.constantFrom("", '"', "a,b", "\r\n", "=1+1", "null", "\0"),
      );
    case "Bool":
      return fc.boolean();
    case "UInt8":
      return fc.integer({ min: 0, max: 255 });
    case "UInt32":
      return fc.integer({ min: 0, max: 2 ** 32 - 1 });
    case "Int32":
      return fc.integer();
    case "UInt64":
      return unsigned(64n).map(integerCell);
    case "Int64":
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(integerCell);
    case "UInt128":
      return unsigned(128n).map(String);
    case "UInt256":
      return unsigned(256n).map(String);
    case "DateTime":
      return fc.integer({ min: 0, max: 253_402_300_799 }).map(formatDateTime);
    default:
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  }
}
