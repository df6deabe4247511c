/** Requests to this host, with the visitor's key. */
/** @import { Answer, Question } from "./types.ts" */
import { pathWithQuery } from "./request.js";

const KEY = "chaintables.key";

/** Kept for this tab alone: it ends with the tab, and no other page reads it. */
export function readKey() {
  return sessionStorage.getItem(KEY);
}

/** @param {string | null} key */
export function keepKey(key) {
  if (key === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
}

/** An answer that is no table, as the API words it. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {number | null} retryAfterS
   */
  constructor(status, message, retryAfterS) {
    super(message);
    this.status = status;
    this.retryAfterS = retryAfterS;
  }
}

/**
 * Requests a table. The browser keeps it and asks with its ETag: between two blocks the answer is a 304.
 * @param {Question} question
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export async function askTable({ table, params }, signal) {
  const key = readKey();
  const response = await send(pathWithQuery(table.path, params), {
    ...{ signal, cache: "no-cache" },
    ...(key !== null && { headers: { "X-API-KEY": key } }),
  });
  const { headers } = response;
  const body = await response.json();
  const { data } = Array.isArray(body) ? body[0] : body;
  const asOf = headers.get("x-data-as-of");
  const total = headers.get("x-total-count");
  return {
    rows: data,
    block: headers.get("x-data-block"),
    asOfMs: asOf === null ? null : Date.parse(asOf),
    total: total === null ? null : Number(total),
    hasNext: /rel="next"/.test(headers.get("link") ?? ""),
    stale: headers.get("x-data-stale"),
  };
}

/**
 * Requests one of the host's own documents.
 * @param {string} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function askDocument(path, signal) {
  return (await send(path, signal === undefined ? {} : { signal })).json();
}

/**
 * @param {string} path
 * @param {RequestInit} init
 */
async function send(path, init) {
  const response = await fetch(path, init);
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  const retryAfter = response.headers.get("retry-after");
  throw new ApiError(
    response.status,
    typeof body.message === "string" ? body.message : `The host answered ${response.status}.`,
    retryAfter === null ? null : Number(retryAfter),
  );
}
