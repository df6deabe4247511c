import type { Response } from "express";

const ALLOWED_HEADERS = ["X-API-KEY", "Accept", "If-None-Match"];
const EXPOSED_HEADERS = [
  "ETag",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "X-Data-As-Of",
  "X-Data-Block",
  "X-Data-From-Block",
  "X-Data-Stale",
  "X-Ignored-Parameters",
  "X-Session-Id",
];
const exposed = EXPOSED_HEADERS.join(", ");

/** Lets pages of any origin read answers. Safe with `*`: keys travel in a header, never in cookies. */
export function allowAnyOrigin(res: Response): void {
  res.setHeader("Access-Control-Allow-Origin", "*");
  res.setHeader("Access-Control-Expose-Headers", exposed);
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
