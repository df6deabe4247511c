import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { ScalarType } from "../contract/column.ts";
import type { TableShape } from "../contract/endpoint.ts";
import {
  type ColumnType,
  columnTypeOf,
  convertColumn,
  splitNullable,
  transpose,
  tupleField,
} from "./column-values.ts";
import type { Row, TableToWrite } from "./rows.ts";

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];

const SCALARS: Readonly<Record<ScalarType, Pick<SchemaElement, "type" | "converted_type" | "logical_type">>> =
  {
    String: { type: "BYTE_ARRAY", converted_type: "UTF8" },
    Bool: { type: "BOOLEAN" },
    UInt8: { type: "INT32", converted_type: "UINT_8" },
    UInt32: { type: "INT32", converted_type: "UINT_32" },
    UInt64: { type: "INT64", converted_type: "UINT_64" },
    UInt128: { type: "BYTE_ARRAY", converted_type: "UTF8" },
    UInt256: { type: "BYTE_ARRAY", converted_type: "UTF8" },
    Int32: { type: "INT32" },
    Int64: { type: "INT64" },
    Float64: { type: "DOUBLE" },
    DateTime: {
      type: "INT64",
      converted_type: "TIMESTAMP_MILLIS",
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
    },
  };

/** A Parquet file of one row group, Snappy. Yields between columns, so that the event loop may turn, and at the end its bytes. */
export function* writeParquet({ endpoint, rows }: TableToWrite): Generator<Uint8Array | undefined> {
  const table = new ParquetTable(endpoint);
  yield* table.add(rows);
  yield table.finish();
}

/** A Parquet file in memory that grows by row groups. */
export class ParquetTable {
  readonly #shape: TableShape;
  readonly #types: readonly ColumnType[];
  readonly #bytes = new ByteWriter();
  readonly #file: ParquetWriter;

  constructor(shape: TableShape) {
    this.#shape = shape;
    this.#types = shape.columns.map(columnTypeOf);
    this.#file = new ParquetWriter({
      writer: this.#bytes,
      schema: [
        { name: "root", num_children: this.#types.length },
        ...this.#types.flatMap((type, at) => toElements(shape.columns[at]?.name ?? "", type)),
      ],
      createdBy: "chaintables",
    });
  }

  /** Adds a row group. Yields between columns. */
  *add(rows: readonly Row[]): Generator<undefined> {
    if (rows.length === 0) return;
    const cells = transpose(rows, this.#types.length);
    const columnData: Parameters<ParquetWriter["write"]>[0]["columnData"] = [];
    for (const [at, { name }] of this.#shape.columns.entries()) {
      const { node } = this.#types[at] as ColumnType;
      const data = convertColumn(cells[at] ?? [], { node, toTime: (ms) => new Date(ms) });
      // Bounds and page offsets are for readers that skip parts of a large file.
      columnData.push({ name, data, statistics: false, offsetIndex: false });
      yield undefined;
    }
    // Nothing to wait for: the writer is memory.
    void this.#file.write({ columnData, rowGroupSize: rows.length });
  }

  finish(): Uint8Array {
    void this.#file.finish();
    return this.#bytes.getBytes();
  }
}

/** The schema of a column: its node, then its children depth first. */
function toElements(name: string, { node, nullable }: ColumnType): SchemaElement[] {
  const own = { name, repetition_type: nullable ? ("OPTIONAL" as const) : ("REQUIRED" as const) };
  switch (node.kind) {
    case "scalar":
      return [{ ...own, ...SCALARS[node.scalar] }];
    case "array":
      return [
        { ...own, num_children: 1, converted_type: "LIST" },
        { name: "list", repetition_type: "REPEATED", num_children: 1 },
        ...toElements("element", splitNullable(node.inner)),
      ];
    case "tuple":
      return [
        { ...own, num_children: node.items.length },
        ...node.items.flatMap((item, at) => toElements(tupleField(at), splitNullable(item))),
      ];
    case "nullable":
      return toElements(name, splitNullable(node));
  }
}
