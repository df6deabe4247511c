import { createHash } from "node:crypto";
import type { Request } from "express";
import { LRUCache } from "lru-cache";
import { matchesTag } from "../../services/shared/http/conditional.ts";
import { EncodableResponse } from "../proxy/delivery/encodable-response.ts";
import { sendEncoded } from "../proxy/delivery/send-encoded.ts";
import type { Page } from "../request/routes.ts";

export interface DocumentOptions {
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: private, for a minute. */
  readonly cacheControl?: string;
  /** Header of the request that decides whether it gets this document at all. */
  readonly vary?: string;
  /** The base address that a request sees; the only part of it that a document may depend on. */
  readonly baseUrlOf: (req: Request) => string;
  /** The whole text for a base address. Called again after some time, and when `version` returns something else. */
  readonly render: (baseUrl: string) => string;
  /** What the document is made from, besides its base address: compared by identity. */
  readonly version?: (() => unknown) | undefined;
}

/** As long as clients may keep it. */
const KEPT_SECONDS = 60;
/** Base addresses whose documents are kept: the name of this machine has many spellings, and clients choose. */
const MAX_KEPT = 8;

interface Kept {
  readonly answer: EncodableResponse;
  readonly renderedMs: number;
  readonly version: unknown;
}

/** A page that is rendered, tagged and compressed once, and then served from memory. */
export function createDocument(options: DocumentOptions): Page {
  const { type, headers = {}, baseUrlOf, render } = options;
  const vary = [options.vary, "Accept-Encoding"].filter(Boolean).join(", ");
  const kept = new LRUCache<string, Kept>({ max: MAX_KEPT });

  const answerFor = (baseUrl: string): EncodableResponse => {
    const known = kept.peek(baseUrl);
    const nowMs = performance.now();
    const version = options.version?.();
    const isFresh = known !== undefined && nowMs - known.renderedMs < KEPT_SECONDS * 1000;
    if (isFresh && known.version === version) return known.answer;
    const body = Buffer.from(render(baseUrl));
    const etag = `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    const answer =
      known?.answer.etag === etag
        ? known.answer
        : new EncodableResponse({ headers: { "content-type": type, etag }, body });
    kept.set(baseUrl, { answer, renderedMs: nowMs, version });
    return answer;
  };

  return async (req, res) => {
    const answer = answerFor(baseUrlOf(req));
    const etag = answer.etag as string;
    // The document names the host of its request: no shared cache may serve it to others.
    res.setHeader("Cache-Control", options.cacheControl ?? `private, max-age=${KEPT_SECONDS}`);
    res.setHeader("ETag", etag);
    res.setHeader("Vary", vary);
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    if (matchesTag(req.headers["if-none-match"], etag)) {
      res.statusCode = 304;
      res.end();
      return;
    }
    await sendEncoded(req, res, answer);
  };
}
