import type { Request, Response } from "express";
import { negotiateEncoding } from "../../request/encoding.ts";
import type { EncodableResponse } from "./encodable-response.ts";

/** Sends a body of the gateway's own in the best encoding that the client accepts; other headers are already set. */
export async function sendEncoded(req: Request, res: Response, answer: EncodableResponse): Promise<void> {
  const encoding = answer.isCompressible
    ? negotiateEncoding(req.headers["accept-encoding"] as string | undefined)
    : undefined;
  const bytes = await answer.encode(encoding);
  res.setHeader("Content-Type", answer.headers["content-type"] as string);
  if (encoding !== undefined) res.setHeader("Content-Encoding", encoding);
  res.setHeader("Content-Length", bytes.length);
  res.end(bytes);
}
