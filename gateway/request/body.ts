import type { IncomingMessage } from "node:http";
import { ServiceError } from "../../services/shared/errors.ts";

/** Reads a body that is no longer than its Content-Length, which Node enforces, and that the caller has bounded. */
export async function readBody(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of req) chunks.push(chunk as Buffer);
  } catch (cause) {
    throw new ServiceError("bad_request", "The body of the request broke off.", { cause });
  }
  return Buffer.concat(chunks);
}

/** Whether a request has a body of a length that is told beforehand and not above `maxBytes`. */
export function hasBoundedBody({ headers }: Pick<IncomingMessage, "headers">, maxBytes: number): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] === undefined && length !== undefined && Number(length) <= maxBytes;
}
