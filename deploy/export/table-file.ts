import type { TableShape } from "../../services/shared/contract/endpoint.ts";
import { writeArrow } from "../../services/shared/format/arrow.ts";
import { writeCsv } from "../../services/shared/format/csv.ts";
import { writeNdjson } from "../../services/shared/format/objects.ts";
import { ParquetTable } from "../../services/shared/format/parquet.ts";
import { cellsOf, type Row } from "../../services/shared/format/rows.ts";

export const FILE_FORMATS = ["csv", "ndjson", "arrow", "parquet"] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** A table that is written page by page. Each call returns what can be written to the file by then. */
export interface TableFile {
  add(rows: readonly Row[]): string;
  finish(): string | Uint8Array;
}

export function createTableFile(format: FileFormat, shape: TableShape): TableFile {
  switch (format) {
    case "csv": {
      let isFirst = true;
      return {
        add(rows) {
          const [head = "", ...pieces] = [...writeCsv({ endpoint: shape, rows })];
          const text = (isFirst ? head : "") + pieces.join("");
          isFirst = false;
          return text;
        },
        finish: () => "",
      };
    }
    case "ndjson":
      return { add: (rows) => [...writeNdjson({ endpoint: shape, rows })].join(""), finish: () => "" };
    case "parquet": {
      const table = new ParquetTable(shape);
      return {
        add(rows) {
          Array.from(table.add(rows));
          return "";
        },
        finish: () => table.finish(),
      };
    }
    case "arrow": {
      // One record batch: its columns are built of all rows.
      const all: Row[] = [];
      return {
        add(rows) {
          for (const row of rows) all.push(cellsOf(row));
          return "";
        },
        finish: () => [...writeArrow({ endpoint: shape, rows: all })].at(-1) as Uint8Array,
      };
    }
  }
}
