import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { describeTable, readPages, type Server } from "./read-table.ts";
import { createTableFile, type FileFormat } from "./table-file.ts";

/** What to export, and where to. */
export interface Export {
  readonly server: Server;
  readonly path: string;
  readonly query: URLSearchParams;
  /** A file, or - for the standard output. */
  readonly out: string;
  readonly format: FileFormat;
}

export interface ExportSummary {
  readonly path: string;
  readonly rows: number;
  readonly format: FileFormat;
  readonly file: string;
  /** Of the first and the last page; null where the answer names none. */
  readonly firstBlock: number | null;
  readonly lastBlock: number | null;
}

/** Writes all rows. Rejects where the server refuses or the file cannot be written; no file of that name is there then. */
export async function exportTable({ server, path, query, out, format }: Export): Promise<ExportSummary> {
  const table = await describeTable(server, path);
  const file = createTableFile(format, table);
  const sink = out === "-" ? process.stdout : createWriteStream(`${out}.tmp`);
  let failure: unknown;
  sink.on("error", (error) => {
    failure = error;
  });
  const write = async (part: string | Uint8Array): Promise<void> => {
    if (failure !== undefined) throw failure;
    if (part.length > 0 && !sink.write(part)) await once(sink, "drain");
  };
  let rows = 0;
  const blocks = new Set<string>();
  for await (const page of readPages(server, { table, query })) {
    rows += page.rows.length;
    if (page.block !== null) blocks.add(page.block);
    await write(file.add(page.rows));
  }
  await write(file.finish());
  if (out !== "-") {
    sink.end();
    await once(sink, "finish");
    // It has its name only once it is whole.
    await rename(`${out}.tmp`, out);
  }
  const [first] = blocks;
  const last = [...blocks].at(-1);
  return { path, rows, format, file: out, firstBlock: toNumber(first), lastBlock: toNumber(last) };
}

function toNumber(block: string | undefined): number | null {
  return block === undefined ? null : Number(block);
}
