import type { Fault } from "./fault.ts";
import type { LogRange } from "./port.ts";

/** What is known of a failed call: any part may be absent. */
export interface RpcErrorInput {
  readonly method?: string | undefined;
  readonly httpStatus?: number | undefined;
  /** From the Retry-After header. */
  readonly retryAfterMs?: number | undefined;
  /** The JSON-RPC error code. */
  readonly code?: number | string | undefined;
  readonly message?: string | undefined;
  /** The JSON-RPC error's data, in any of the shapes providers use. */
  readonly data?: unknown;
}

const REVERTED =
  /execution reverted|\brevert(?:ed)?\b|vm execution error|invalid (?:opcode|jump)|out of gas|stack (?:under|over)flow|write protection/;
const BATCH = /\bbatch(?:es|ed|ing)?\b/;
const BATCH_REFUSED = /too (?:many|large|big)|exceed|limit|max|more than|not (?:supported|allowed)|disabled/;
const RATE =
  /rate.?limit|\brate (?:is )?exceeded|request rate|too many (?:requests|connections)|requests? (?:count|limit)|per (?:second|minute|day)\b|\/(?:sec|second|s)\b|compute units|throughput|credits?\b|quota|throttl|capacity|daily (?:limit|request)|slow down|monthly/;
const BEHIND =
  /beyond (?:the )?(?:current )?(?:head|latest|tip)|header not found|unknown block|block (?:\S+ )?(?:was )?not found|could not find block|(?:after|greater than|above|ahead of) (?:the )?(?:latest|last|current|head)|future block|not yet (?:available|indexed|synced)/;
const STATE =
  /missing trie node|prun(?:ed|ing)|archive|(?:historical|old|past) (?:state|data|block)|state (?:\S+ )?(?:is )?(?:not available|unavailable|not found|missing|already discarded)|state (?:at|for|of) .*(?:not available|unavailable|missing)|no state available|missingtrienode|distance to target block exceeds|history (?:is )?(?:unavailable|expired)|before the (?:oldest|earliest)|blockoutofrange/;
const METHOD =
  /method\b.*\b(?:not (?:found|supported|available|exist|allowed|implemented|whitelisted)|does not exist|is disabled|unsupported|unavailable)|does not exist\/is not available|unsupported (?:rpc )?method|not implemented|this method is (?:not|disabled)/;
const FATAL =
  /unauthori[sz]ed|forbidden|authenticat|(?:invalid|incorrect|missing|unknown|expired|revoked) (?:api|access|project|app)\W?(?:key|id|token)?|api\W?key (?:is |not )|must (?:provide|specify|include) .*key|access denied|wrong chain|project id .*not|tenant disabled|account (?:is )?(?:disabled|suspended)/;

/** Too many blocks or too many results, in the words of the providers and nodes seen so far. */
const RANGE = [
  /\branges?\b.*\b(?:too (?:large|wide|big|high|long)|limit|exceed|not supported|(?:larger|bigger|greater|wider) than|maximum|max\b|allowed|must be|less than|reduce|should work)/,
  /(?:max(?:imum)?|exceed(?:s|ed)?|limit(?:ed)?|reduce|smaller|narrow|up to|over)\b.*\b(?:range|blocks? distance|fromblock|toblock)/,
  /limit(?:ed)? (?:the query )?to (?:at most |a )?[\d,]+ ?k? blocks?/,
  /(?:too many|maximum) (?:\[from, to\] )?blocks/,
  /(?:returned|returns|return) more than|more than [\d,]+ (?:results|logs)|too many (?:results|logs|events)/,
  /(?:max(?:imum)? |exceeds? (?:the )?(?:max(?:imum)? )?)(?:results|logs|number of (?:results|logs)|allowed number)/,
  /(?:logs|results)\b.*\bexceed/,
  /response (?:size|body|is|length)?.*(?:exceed|too (?:large|big)|limit|should not)/,
  /result set too large|query exceeds limit|length limit exceeded|content too large|try paginating|entity too large/,
];
/** A node that gives up on a log query in time has been asked for too much. */
const QUERY_TIMEOUT = /time(?:d)?[ -]?out|deadline exceeded|took too long|canceling statement/;

const RATE_CODES = new Set(["429", "-32029", "-32016", "-32012", "-32007", "-32090", "-32097"]);

/** What the rules below look at. */
interface Clues {
  readonly input: RpcErrorInput;
  /** The provider's words, as written and in lower case. */
  readonly said: string;
  readonly text: string;
  readonly code: string;
  readonly message: string;
  readonly isLogs: boolean;
  /** An eth_getLogs, or an answer to a whole batch that may have held one. */
  readonly mayBeLogs: boolean;
}

type Rule = (clues: Clues) => Fault | undefined;

/** The first rule that says something decides; their order is part of what they mean. */
const RULES: readonly Rule[] = [
  ({ code, text, input, message }) =>
    code === "3" || (input.method === "eth_call" && REVERTED.test(text))
      ? { kind: "reverted", message }
      : undefined,
  ({ text, message }) =>
    BATCH.test(text) && BATCH_REFUSED.test(text)
      ? withLimit({ kind: "batch", message }, readBatchLimit(text))
      : undefined,
  ({ mayBeLogs, text, message }) =>
    mayBeLogs && BEHIND.test(text) && !/too (?:large|wide|big)/.test(text)
      ? { kind: "behind", message }
      : undefined,
  ({ mayBeLogs, said, text, input, message }) => {
    const suggested = mayBeLogs ? readSuggestedRange(said, input.data) : undefined;
    return suggested === undefined
      ? undefined
      : withLimit({ kind: "range", message, suggested }, readBlockLimit(text));
  },
  // "429" or "requests per second" in the words means the rate, unless a range that works was named.
  ({ mayBeLogs, text, message }) =>
    mayBeLogs && !RATE.test(text) && RANGE.some((form) => form.test(text))
      ? withLimit({ kind: "range", message }, readBlockLimit(text))
      : undefined,
  ({ input, code, text, message }) =>
    input.httpStatus === 429 || RATE_CODES.has(code) || RATE.test(text)
      ? withPause({ kind: "rate", message }, input.retryAfterMs)
      : undefined,
  // A bare "limit exceeded" (-32005) to a log query is its size: halving a range that was only sent too soon is
  // harmless, waiting for a range that is too large would never end.
  ({ isLogs, input, code, text, message }) =>
    isLogs && (input.httpStatus === 413 || code === "-32005" || (code !== "" && QUERY_TIMEOUT.test(text)))
      ? { kind: "range", message }
      : undefined,
  ({ code, message }) => (code === "-32005" ? { kind: "rate", message } : undefined),
  ({ code, text, message }) =>
    code === "-32601" || code === "-32004" || METHOD.test(text) ? { kind: "method", message } : undefined,
  ({ code, text, message }) => (code === "4444" || STATE.test(text) ? { kind: "state", message } : undefined),
  ({ text, message }) => (BEHIND.test(text) ? { kind: "behind", message } : undefined),
  ({ input, text, message }) =>
    input.httpStatus === 401 || input.httpStatus === 403 || FATAL.test(text)
      ? { kind: "fatal", message }
      : undefined,
];

/**
 * What a provider's error means for us. Pure; an unknown text is `transient`, so that nothing a provider
 * thinks of tomorrow stops an ingest. Texts win over codes because providers share codes between meanings
 * (-32005 is a rate limit, a result limit and a time limit).
 */
export function classifyRpcError(input: RpcErrorInput): Fault {
  const said = [input.message ?? "", ...collectText(input.data, 0)].filter((part) => part !== "").join(" · ");
  const isLogs = input.method === "eth_getLogs";
  const clues: Clues = {
    input,
    said,
    text: said.toLowerCase(),
    code: input.code === undefined ? "" : String(input.code),
    message: describe(input, said),
    isLogs,
    mayBeLogs: isLogs || input.method === undefined,
  };
  for (const rule of RULES) {
    const fault = rule(clues);
    if (fault !== undefined) return fault;
  }
  return withPause({ kind: "transient", message: clues.message }, input.retryAfterMs);
}

/** Retry-After in milliseconds from now: whole seconds or an HTTP date; undefined where it is neither. */
export function parseRetryAfter(header: string | null, wallNowMs: number): number | undefined {
  if (header === null) return undefined;
  const value = header.trim();
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - wallNowMs);
}

const PAIR = /\[\s*(0x[0-9a-f]+|\d+)\s*,\s*(0x[0-9a-f]+|\d+)\s*\]/i;
const DASHED =
  /(?:retry|try) with (?:the |this )?(?:block )?range\s+(0x[0-9a-f]+|\d+)\s*-\s*(0x[0-9a-f]+|\d+)/i;
const PAIR_MEANT = /should work|try (?:again )?with|retry|suggest|narrow|more than/i;

function readSuggestedRange(said: string, data: unknown): LogRange | undefined {
  const found = DASHED.exec(said) ?? (PAIR_MEANT.test(said) ? PAIR.exec(said) : null);
  if (found !== null) return toRange(found[1], found[2]);
  if (typeof data === "object" && data !== null && "from" in data && "to" in data)
    return toRange(data.from, data.to);
  return undefined;
}

function toRange(from: unknown, to: unknown): LogRange | undefined {
  const fromBlock = toBlockNumber(from);
  const toBlock = toBlockNumber(to);
  // Some nodes name a range that ends before it starts: that is no help.
  if (fromBlock === undefined || toBlock === undefined || toBlock < fromBlock) return undefined;
  return { fromBlock, toBlock };
}

function toBlockNumber(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (typeof value !== "string" || !/^(?:0x[0-9a-f]+|\d+)$/i.test(value)) return undefined;
  const parsed = Number(value);
  return Number.isSafeInteger(parsed) ? parsed : undefined;
}

const NUMBER = "(\\d[\\d,]* ?k?)";
const BLOCK_LIMITS = [
  `limited to (?:a |at most )?(?:0 ?- ?)?${NUMBER} ?(?:blocks? )?range`,
  `(?:max(?:imum)?(?: allowed)?(?: block)? range|range limit)(?: (?:is|of))?[ :=]*${NUMBER}`,
  `up to an? ${NUMBER} block range`,
  `ranges? over ${NUMBER} blocks`,
  `range (?:[\\d,]+ |of [\\d,]+ )?(?:exceeds?|is (?:larger|bigger|greater) than|larger than)(?: the)?(?: (?:range )?limit)?(?: of)? ${NUMBER}`,
  `range [\\d,]+ ?- ?[\\d,]+ exceeds limit of ${NUMBER}`,
  `(?:at most|limit(?:ed)? to) ${NUMBER} blocks?`,
  `maximum(?: is set to)?[ :]*${NUMBER}\\)?$`,
  `blocks distance: ${NUMBER}`,
  `(?:less than|smaller than|below|within) ${NUMBER}(?: blocks?)?`,
  `> ${NUMBER}\\)`,
].map((form) => new RegExp(form));

function readBlockLimit(text: string): number | undefined {
  if (/results|logs matched|number of logs|response size/.test(text)) return undefined;
  for (const form of BLOCK_LIMITS) {
    const found = form.exec(text)?.[1];
    if (found !== undefined) return toCount(found);
  }
  return undefined;
}

function readBatchLimit(text: string): number | undefined {
  const found = /(?:limit|max(?:imum)?|more than|up to|exceeds?)\D{0,30}?([\d,]+)/.exec(text)?.[1];
  return found === undefined ? undefined : toCount(found);
}

function toCount(written: string): number | undefined {
  const plain = written.replaceAll(",", "").trim();
  const count = plain.endsWith("k") ? Number(plain.slice(0, -1)) * 1000 : Number(plain);
  return Number.isSafeInteger(count) && count > 0 ? count : undefined;
}

function withLimit(fault: Fault, limit: number | undefined): Fault {
  return limit === undefined ? fault : { ...fault, limit };
}

function withPause(fault: Fault, retryAfterMs: number | undefined): Fault {
  return retryAfterMs === undefined ? fault : { ...fault, retryAfterMs };
}

/** The words inside `data`: a string, or strings in objects; revert data and echoed requests say nothing. */
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
