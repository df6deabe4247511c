import { once } from "node:events";
import type { Response } from "express";
import type { Endpoint } from "../contract/endpoint.ts";
import type { Format } from "../contract/format.ts";
import { renderTable } from "../contract/render-table.ts";
import type { Row } from "../format/rows.ts";
import { writeTable } from "../format/write-table.ts";
import { sendText } from "../http/exchange.ts";
import { type Tracing, withSpan } from "../tracing/tracing.ts";

/** The specified JSON as text; other formats as pieces, made while they are sent. */
type Content = string | AsyncIterable<string | Uint8Array>;

/** A table's body; `hashed` stands for it in the entity tag of a result that has no version. */
export function makeBody(
  table: { readonly endpoint: Endpoint; readonly format: Format; readonly rows: readonly Row[] },
  { tracing, isHashed }: { readonly tracing: Tracing | undefined; readonly isHashed: boolean },
): { readonly content: Content; readonly hashed: string } {
  const { endpoint, format, rows } = table;
  const render = () =>
    withSpan(tracing, { name: "render table" }, (span) => {
      const rendered = renderTable(endpoint, rows);
      span?.setAttribute("chaintables.table.characters", rendered.length);
      return rendered;
    });
  if (format === "json") {
    const text = render();
    return { content: text, hashed: text };
  }
  return { content: writeTable(format, { endpoint, rows }), hashed: isHashed ? render() : "" };
}

/** Bodies up to here are sent whole, with their length. */
const MAX_WHOLE_BYTES = 262_144;

/**
 * Sends a body with exactly this media type: whole while it is short, else piece by piece, no faster than it is read. An
 * error in the middle of it is thrown and must cut the connection.
 */
export async function sendBody(
  res: Response,
  { type, content }: { readonly type: string; readonly content: Content },
): Promise<void> {
  if (typeof content === "string") return sendText(res, { status: 200, type, text: content });
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const piece of content) {
    if (res.destroyed) return;
    const buffer =
      typeof piece === "string"
        ? Buffer.from(piece)
        : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    if (res.headersSent) {
      if (!res.write(buffer) && !(await drained(res))) return;
      continue;
    }
    waiting.push(buffer);
    bytes += buffer.length;
    if (bytes <= MAX_WHOLE_BYTES) continue;
    res.statusCode = 200;
    res.setHeader("Content-Type", type);
    res.write(Buffer.concat(waiting));
    waiting = [];
  }
  if (res.headersSent) res.end();
  else sendText(res, { status: 200, type, text: Buffer.concat(waiting) });
}

/** Resolves to true when more can be written, to false when the client has gone. */
async function drained(res: Response): Promise<boolean> {
  if (res.destroyed) return false;
  const stop = new AbortController();
  try {
    await Promise.race([
      once(res, "drain", { signal: stop.signal }),
      once(res, "close", { signal: stop.signal }),
    ]);
  } finally {
    stop.abort();
  }
  return !res.destroyed;
}
