import type { Endpoint } from "../contract/endpoint.ts";
import type { Format } from "../contract/format.ts";
import { TimeSlices } from "../process/time-slices.ts";
import { writeCsv } from "./csv.ts";
import { writeNdjson, writeObjects } from "./objects.ts";
import { checkRows, type Row } from "./rows.ts";

type Piece = string | Uint8Array;

/**
 * A table in a format other than the specified one, piece by piece, with pauses for the event loop. Every endpoint has
 * every format: they derive from its columns. Throws like `renderTable`, before the first piece.
 */
export async function* writeTable(
  format: Exclude<Format, "json">,
  { endpoint, rows }: { readonly endpoint: Endpoint; readonly rows: readonly Row[] },
): AsyncGenerator<Piece, void> {
  const table = { endpoint, rows, body: endpoint.body };
  checkRows(table);
  const slices = new TimeSlices();
  for (const piece of await openWriter(format, table)) {
    if (piece !== undefined) yield piece;
    if (slices.due()) await slices.pause();
  }
}

/** Libraries are loaded when they are needed: most processes never do. */
async function openWriter(
  format: Exclude<Format, "json">,
  table: Parameters<typeof writeObjects>[0],
): Promise<Generator<Piece | undefined>> {
  switch (format) {
    case "objects":
      return writeObjects(table);
    case "ndjson":
      return writeNdjson(table);
    case "csv":
      return writeCsv(table);
    case "arrow":
      return (await import("./arrow.ts")).writeArrow(table);
    case "parquet":
      return (await import("./parquet.ts")).writeParquet(table);
  }
}
