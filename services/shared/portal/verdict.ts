import { parseRetryAfter } from "../rpc-client/endpoint/fault-rules.ts";
import { type PortalBlockId, PortalFailure, PortalFork } from "./failures.ts";

/** What an answer that is not 200 says to do. */
export type Verdict =
  /** It has no block from the first one on yet; it has waited before it said so. */
  | { readonly kind: "empty" }
  | {
      readonly kind: "again";
      readonly reason: string;
      /** After these many in a row without a new block it counts as unavailable. */
      readonly tries: number;
      readonly retryAfterMs: number | undefined;
      /** The pause before the second try where the server names none; doubled from try to try. */
      readonly pauseMs: number;
      /** Whether it limits all requests, not this one. */
      readonly isLimit: boolean;
    }
  | { readonly kind: "fatal"; readonly error: PortalFailure | PortalFork };

/** A verdict that passes: the same request may be sent again. */
export type Passing = Exclude<Verdict, { kind: "fatal" }>;

export interface Refusal {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
  /** For dates in Retry-After. */
  readonly wallNowMs: number;
}

const TRIES = 6;
/** A failed worker may be the query's fault. */
const TRIES_AFTER_500 = 3;
/** A limit passes. */
const TRIES_AT_LIMIT = 10;
const LIMITS = new Set([429, 529]);
const PASSING = new Set([408, 502, 503, 504, 521, 522, 523, 524]);
const LONGEST_TEXT = 300;

/** Decides by the status; texts only explain. */
export function judgeAnswer(refusal: Refusal): Verdict {
  const { status, retryAfter, wallNowMs } = refusal;
  if (status === 204) return { kind: "empty" };
  const said = readError(refusal.body);
  const reason = `HTTP ${status}${said === "" ? "" : `: ${said}`}`;
  if (status === 409) {
    const previous = readPreviousBlocks(refusal.body);
    return previous.length === 0
      ? { kind: "fatal", error: new PortalFailure("malformed", `${reason} without previous blocks`) }
      : { kind: "fatal", error: new PortalFork(reason, previous) };
  }
  const retryAfterMs = parseRetryAfter(retryAfter, wallNowMs);
  const again = { kind: "again", reason, retryAfterMs, isLimit: false, tries: TRIES, pauseMs: 500 } as const;
  if (LIMITS.has(status)) return { ...again, tries: TRIES_AT_LIMIT, pauseMs: 1_000, isLimit: true };
  if (PASSING.has(status) || retryAfterMs !== undefined) return again;
  if (status >= 500) return { ...again, tries: TRIES_AFTER_500 };
  return { kind: "fatal", error: new PortalFailure("refused", reason) };
}

/** The text of an error: JSON since July 2026, plain text before and from HotblocksDB. */
function readError(body: string): string {
  const parsed = parseJson(body);
  const error = isObject(parsed) ? parsed.error : undefined;
  const parts = isObject(error) ? [error.code, error.message] : [error ?? body];
  return parts
    .filter((part) => typeof part === "string")
    .join(": ")
    .replace(/<[^>]*>|\s+/g, " ")
    .trim()
    .slice(0, LONGEST_TEXT);
}

/** Ascending: portals differ in the order. */
function readPreviousBlocks(body: string): PortalBlockId[] {
  const parsed = parseJson(body);
  const list = isObject(parsed) && Array.isArray(parsed.previousBlocks) ? parsed.previousBlocks : [];
  return list
    .flatMap((block: unknown) => parseBlockId(block) ?? [])
    .sort((a: PortalBlockId, b: PortalBlockId) => a.number - b.number);
}

export function parseBlockId(value: unknown): PortalBlockId | undefined {
  if (!isObject(value)) return undefined;
  const { number, hash } = value;
  const isBlock = typeof number === "number" && Number.isSafeInteger(number) && number >= 0;
  return isBlock && typeof hash === "string" ? { number, hash } : undefined;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
