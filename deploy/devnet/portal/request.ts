import type { IncomingMessage } from "node:http";
import { gunzipSync } from "node:zlib";
import type { Random } from "../random.ts";
import { BadQuery } from "./query-members.ts";

/** A request on its way: where it goes, its words, and its draws. */
export interface PortalRequest {
  readonly method: string;
  readonly path: string;
  readonly search: URLSearchParams;
  readonly body: string;
  readonly random: Random;
}

/** Far above what a query may have, which is counted unpacked. */
const MAX_BODY = 8 * 1024 * 1024;

/** The body as text, unpacked. Throws BadQuery. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY) throw new BadQuery(`query is too large: ${size} bytes and more`);
    chunks.push(chunk as Buffer);
  }
  const body = Buffer.concat(chunks);
  if (request.headers["content-encoding"] !== "gzip") return body.toString("utf8");
  try {
    return gunzipSync(body, { maxOutputLength: MAX_BODY }).toString("utf8");
  } catch (error) {
    throw new BadQuery(`body is not gzip: ${error instanceof Error ? error.message : error}`);
  }
}
