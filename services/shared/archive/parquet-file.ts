import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";

/** text: UTF-8. int: 64 bits. time: Unix seconds, kept as a UTC timestamp in milliseconds. */
export type ColumnType = "text" | "int" | "float" | "bool" | "time";

export interface ParquetColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
}

/** The values of each column, in the order of the columns, all of one length. Ints and times are numbers. */
export type ColumnValues = readonly (readonly unknown[])[];

const ELEMENTS = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  int: { type: "INT64" },
  float: { type: "DOUBLE" },
  bool: { type: "BOOLEAN" },
  time: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
} as const;

/**
 * A Parquet file that grows by row groups. It has its name only once it is whole and on the disk: until then it is
 * `<name>.tmp`, which the next attempt replaces. Snappy, readable by DuckDB, pandas and everything else that reads
 * Parquet.
 */
export class ParquetFile {
  readonly #path: string;
  readonly #columns: readonly ParquetColumn[];
  readonly #writer: ParquetWriter;
  #file: number | undefined;

  /** @throws where the folder or file cannot be made. `about`: texts kept in the file. */
  constructor(
    path: string,
    { about, columns }: { columns: readonly ParquetColumn[]; about: Readonly<Record<string, string>> },
  ) {
    mkdirSync(dirname(path), { recursive: true });
    const file = openSync(`${path}.tmp`, "w");
    this.#file = file;
    this.#path = path;
    this.#columns = columns;
    this.#writer = new ParquetWriter({
      writer: new FileWriter(file),
      schema: [
        { name: "root", num_children: columns.length },
        ...columns.map(({ name, nullable, type }) => ({
          ...{ name, repetition_type: nullable ? ("OPTIONAL" as const) : ("REQUIRED" as const) },
          ...ELEMENTS[type],
        })),
      ],
      createdBy: "chaintables",
      kvMetadata: Object.entries(about).map(([key, value]) => ({ key, value })),
    });
  }

  /** Adds rows as one row group. @throws where the disk is full. */
  async add(values: ColumnValues): Promise<void> {
    const rowGroupSize = values[0]?.length ?? 0;
    if (rowGroupSize === 0) return;
    const columnData = this.#columns.map(({ name, type }, i) => {
      const data = values[i] ?? [];
      // Filters are by block and time: bounds of texts and offsets of pages would make small groups twice as dear.
      const options = { statistics: type === "int" || type === "time", offsetIndex: false };
      if (type === "int") return { name, data: data.map(toInt64), ...options };
      return { name, data: type === "time" ? data.map(toDate) : [...data], ...options };
    });
    await this.#writer.write({ columnData, rowGroupSize });
  }

  /** Ends the file and gives it its name. */
  async finish(): Promise<void> {
    const file = this.#file as number;
    await this.#writer.finish();
    fsyncSync(file);
    this.close();
    renameSync(`${this.#path}.tmp`, this.#path);
  }

  /** Also of a file that is given up. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** Writes out what a row group has left in memory. */
class FileWriter extends ByteWriter {
  readonly #file: number;

  constructor(file: number) {
    super();
    this.#file = file;
  }

  flush(): void {
    writeFileSync(this.#file, this.getBytes());
    this.index = 0;
  }

  override finish(): void {
    this.flush();
  }
}

function toInt64(value: unknown): bigint | null {
  return value === null ? null : BigInt(value as number);
}

function toDate(value: unknown): Date | null {
  return value === null ? null : new Date((value as number) * 1000);
}
