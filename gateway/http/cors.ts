import type { Response } from "express";

const ALLOWED_HEADERS = ["X-API-KEY", "Accept", "If-None-Match"];
const EXPOSED_HEADERS = [
  "Age",
  "ETag",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "X-Cache",
  "X-Data-As-Of",
  "X-Data-Block",
  "X-Data-From-Block",
  "X-Data-Stale",
  "X-Ignored-Parameters",
  "X-Session-Id",
];

/**
 * Lets pages of any origin read answers: names and values in turn, as writeHead takes them.
 * Safe with `*`: keys travel in a header, never in cookies.
 */
export const corsHeaders: readonly string[] = [
  ...["Access-Control-Allow-Origin", "*"],
  ...["Access-Control-Expose-Headers", EXPOSED_HEADERS.join(", ")],
];

/** The same on answers that are put together header by header. */
export function allowAnyOrigin(res: Response): void {
  for (let at = 0; at < corsHeaders.length; at += 2) {
    res.setHeader(corsHeaders[at] as string, corsHeaders[at + 1] as string);
  }
}

/** Answers OPTIONS of a known path. */
export function answerPreflight(res: Response): void {
  res.setHeader("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS");
  res.setHeader("Access-Control-Allow-Headers", ALLOWED_HEADERS.join(", "));
  res.setHeader("Access-Control-Max-Age", "86400");
  res.setHeader("Allow", "GET, HEAD, OPTIONS");
  res.statusCode = 204;
  res.end();
}
