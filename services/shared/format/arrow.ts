import {
  bool,
  columnFromArray,
  type DataType,
  field,
  float64,
  int32,
  int64,
  list,
  struct,
  Table,
  TimeUnit,
  tableToIPC,
  timestamp,
  uint8,
  uint32,
  uint64,
  utf8,
} from "@uwdata/flechette";
import type { Column, ScalarType } from "../contract/column.ts";
import type { TypeNode } from "../contract/type.ts";
import { columnTypeOf, convertColumn, splitNullable, transpose, tupleField } from "./column-values.ts";
import type { TableToWrite } from "./rows.ts";

const SCALARS: Readonly<Record<ScalarType, () => DataType>> = {
  String: utf8,
  Bool: bool,
  UInt8: uint8,
  UInt32: uint32,
  UInt64: uint64,
  UInt128: utf8,
  UInt256: utf8,
  Int32: int32,
  Int64: int64,
  Float64: float64,
  DateTime: () => timestamp(TimeUnit.MILLISECOND, "UTC"),
};

/** Metadata version 5 of the format, little endian: what every reader since 2020 knows. */
const VERSION_5 = 4;
const LITTLE_ENDIAN = 0;

/** An Arrow IPC stream of one record batch. Yields between columns, so that the event loop may turn, and at the end its bytes. */
export function* writeArrow({ endpoint, rows }: TableToWrite): Generator<Uint8Array | undefined> {
  const cells = transpose(rows, endpoint.columns.length);
  const columns: ReturnType<typeof columnFromArray>[] = [];
  const fields: ReturnType<typeof field>[] = [];
  for (const [at, column] of endpoint.columns.entries()) {
    const { node, nullable } = columnTypeOf(column);
    const type = toDataType(node);
    const values = convertColumn(cells[at] ?? [], { node, toTime: (ms) => ms });
    columns.push(columnFromArray(values, type));
    fields.push(field(column.name, type, nullable, describe(column)));
    yield undefined;
  }
  const schema = { version: VERSION_5, endianness: LITTLE_ENDIAN, fields, metadata: null } as const;
  yield tableToIPC(new Table(schema as never, columns), { format: "stream" }) as Uint8Array;
}

function toDataType(node: TypeNode): DataType {
  switch (node.kind) {
    case "scalar":
      return SCALARS[node.scalar]();
    case "array": {
      const item = splitNullable(node.inner);
      return list(field("item", toDataType(item.node), item.nullable));
    }
    case "tuple":
      return struct(
        node.items.map((inner, at) => {
          const item = splitNullable(inner);
          return field(tupleField(at), toDataType(item.node), item.nullable);
        }),
      );
    case "nullable":
      return toDataType(node.inner);
  }
}

/** Unit and meaning travel with the column. */
function describe({ unit, description }: Column): Map<string, string> {
  return new Map([...(unit === undefined ? [] : [["unit", unit] as const]), ["description", description]]);
}
