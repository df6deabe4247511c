import type { Fault } from "./fault.ts";

/** A failed call's error; any part may be absent. */
export interface RpcErrorInput {
  readonly method?: string | undefined;
  /** See RpcCall. */
  readonly feature?: string | undefined;
  readonly httpStatus?: number | undefined;
  /** From the Retry-After header. */
  readonly retryAfterMs?: number | undefined;
  /** The JSON-RPC error code. */
  readonly code?: number | string | undefined;
  readonly message?: string | undefined;
  /** The JSON-RPC error's data, in any of the shapes providers use. */
  readonly data?: unknown;
}

/** Classifies a provider's error; each chain combines the rules below with its own. */
export type Classify = (input: RpcErrorInput) => Fault;

/** The input of a rule. */
export interface ErrorText {
  readonly input: RpcErrorInput;
  /** The provider's text, as sent and in lower case. */
  readonly original: string;
  readonly lowerCase: string;
  readonly code: string;
  /** For the log. */
  readonly message: string;
}

export type FaultRule<W extends ErrorText = ErrorText> = (words: W) => Fault | undefined;

export function readErrorText(input: RpcErrorInput): ErrorText {
  const texts = [input.message ?? "", ...collectText(input.data, 0)];
  const original = texts.filter((text) => text !== "").join(" · ");
  return {
    input,
    original,
    lowerCase: original.toLowerCase(),
    code: input.code === undefined ? "" : String(input.code),
    message: describe(input, original),
  };
}

/** The fault of the first matching rule; an unknown text is `transient`. */
export function applyRules<W extends ErrorText>(rules: readonly FaultRule<W>[], words: W): Fault {
  for (const rule of rules) {
    const fault = rule(words);
    if (fault !== undefined) return fault;
  }
  return withPause({ kind: "transient", message: words.message }, words.input.retryAfterMs);
}

const BATCH = /\bbatch(?:es|ed|ing)?\b/;
const BATCH_REFUSED = /too (?:many|large|big)|exceed|limit|max|more than|not (?:supported|allowed)|disabled/;
/** "Too many requests" in the texts of the providers seen so far. */
export const RATE =
  /rate.?limit|\brate (?:is )?exceeded|request rate|too many (?:requests|connections)|requests? (?:count|limit)|per (?:second|minute|day)\b|\/(?:sec|second|s)\b|compute units|throughput|credits?\b|quota|throttl|capacity|daily (?:limit|request)|slow down|monthly/;
const METHOD =
  /method\b.*\b(?:not (?:found|supported|available|exist|allowed|implemented|whitelisted)|does not exist|is disabled|unsupported|unavailable)|does not exist\/is not available|unsupported (?:rpc )?method|not implemented|this method is (?:not|disabled)/;
const FATAL =
  /unauthori[sz]ed|forbidden|authenticat|(?:invalid|incorrect|missing|unknown|expired|revoked) (?:api|access|project|app)\W?(?:key|id|token)?|api\W?key (?:is |not )|must (?:provide|specify|include) .*key|access denied|wrong chain|project id .*not|tenant disabled|account (?:is )?(?:disabled|suspended)/;

export const batchRule: FaultRule = ({ lowerCase, message }) =>
  BATCH.test(lowerCase) && BATCH_REFUSED.test(lowerCase)
    ? withLimit({ kind: "batch", message }, readBatchLimit(lowerCase))
    : undefined;

export function createRateRule(codes: readonly string[]): FaultRule {
  const known = new Set(codes);
  return ({ input, code, lowerCase, message }) =>
    input.httpStatus === 429 || known.has(code) || RATE.test(lowerCase)
      ? withPause({ kind: "rate", message }, input.retryAfterMs)
      : undefined;
}

export function createMethodRule(codes: readonly string[]): FaultRule {
  const known = new Set(codes);
  return ({ code, lowerCase, message }) =>
    known.has(code) || METHOD.test(lowerCase) ? { kind: "method", message } : undefined;
}

export const fatalRule: FaultRule = ({ input, lowerCase, message }) =>
  input.httpStatus === 401 || input.httpStatus === 403 || FATAL.test(lowerCase)
    ? { kind: "fatal", message }
    : undefined;

/** Retry-After in milliseconds from now: whole seconds or an HTTP date; undefined where it is neither. */
export function parseRetryAfter(header: string | null, wallNowMs: number): number | undefined {
  if (header === null) return undefined;
  const value = header.trim();
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - wallNowMs);
}

function readBatchLimit(text: string): number | undefined {
  const found = /(?:limit|max(?:imum)?|more than|up to|exceeds?)\D{0,30}?([\d,]+)/.exec(text)?.[1];
  return found === undefined ? undefined : toCount(found);
}

/** "10,000" and "2k" as numbers. */
export function toCount(written: string): number | undefined {
  const plain = written.replaceAll(",", "").trim();
  const count = plain.endsWith("k") ? Number(plain.slice(0, -1)) * 1000 : Number(plain);
  return Number.isSafeInteger(count) && count > 0 ? count : undefined;
}

export function withLimit(fault: Fault, limit: number | undefined): Fault {
  return limit === undefined ? fault : { ...fault, limit };
}

export function withPause(fault: Fault, retryAfterMs: number | undefined): Fault {
  return retryAfterMs === undefined ? fault : { ...fault, retryAfterMs };
}

/** The texts in `data`: a string, or strings in objects; without revert data and echoed requests. */
function collectText(data: unknown, depth: number): string[] {
  if (typeof data === "string") return data.startsWith("0x") ? [] : [data.slice(0, 500)];
  if (typeof data !== "object" || data === null || depth > 2) return [];
  return Object.entries(data)
    .filter(([key]) => !/request|params|trace|stack/i.test(key))
    .flatMap(([, value]) => collectText(value, depth + 1));
}

function describe(input: RpcErrorInput, said: string): string {
  const parts: string[] = [];
  if (input.httpStatus !== undefined && input.httpStatus !== 200) parts.push(`HTTP ${input.httpStatus}`);
  if (input.code !== undefined) parts.push(`code ${input.code}`);
  if (said !== "") parts.push(said.slice(0, 300));
  return parts.length === 0 ? "no reason given" : parts.join(": ");
}
