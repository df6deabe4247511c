import type { Response } from "express";

/** What pages of other origins may do and see at one of our hosts. */
export interface Cors {
  /**
   * Lets pages of any origin read answers: names and values in turn, as writeHead takes them. Safe with `*`:
   * credentials travel in headers, never in cookies.
   */
  readonly headers: readonly string[];
  /** The same on answers that are put together header by header. */
  allowAnyOrigin(res: Response): void;
  /** Answers OPTIONS of a known path. */
  answerPreflight(res: Response): void;
}

const EXPOSED_HEADERS = [
  "Age",
  "ETag",
  "Link",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "X-Cache",
  "X-Data-As-Of",
  "X-Data-Block",
  "X-Data-Block-Hash",
  "X-Data-From-Block",
  "X-Data-Head",
  "X-Data-Positions-From-Block",
  "X-Data-Stale",
  "X-Ignored-Parameters",
  "X-Session-Id",
  "X-Total-Count",
];

export function createCors(options: {
  readonly methods: readonly string[];
  /** Headers that a request may bear. */
  readonly allowed: readonly string[];
  /** Headers of a response that a page may read, besides those of every response. */
  readonly exposed?: readonly string[];
}): Cors {
  const exposed = [...EXPOSED_HEADERS, ...(options.exposed ?? [])].join(", ");
  const methods = options.methods.join(", ");
  const allowed = options.allowed.join(", ");
  return {
    headers: ["Access-Control-Allow-Origin", "*", "Access-Control-Expose-Headers", exposed],
    allowAnyOrigin(res) {
      res.setHeader("Access-Control-Allow-Origin", "*");
      res.setHeader("Access-Control-Expose-Headers", exposed);
    },
    answerPreflight(res) {
      res.setHeader("Access-Control-Allow-Methods", methods);
      res.setHeader("Access-Control-Allow-Headers", allowed);
      res.setHeader("Access-Control-Max-Age", "86400");
      res.setHeader("Allow", methods);
      res.statusCode = 204;
      res.end();
    },
  };
}

/** Of the host with API keys. */
export const keyCors = createCors({
  methods: ["GET", "HEAD", "OPTIONS"],
  allowed: ["X-API-KEY", "Accept", "If-None-Match", "Last-Event-ID"],
});

/** Of the pay-per-request host. Its clients ask for the exposed headers by a header of the request. */
export const payCors = createCors({
  methods: ["GET", "OPTIONS"],
  allowed: ["PAYMENT-SIGNATURE", "Accept", "Access-Control-Expose-Headers"],
  exposed: ["PAYMENT-REQUIRED", "PAYMENT-RESPONSE"],
});

/** Of /mcp there, whose payments are in the message. */
export const mcpPayCors = createCors({
  methods: ["POST", "OPTIONS"],
  allowed: ["Accept", "Content-Type", "Mcp-Protocol-Version", "Mcp-Session-Id", "Last-Event-ID"],
});
