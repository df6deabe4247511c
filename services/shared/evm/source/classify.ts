import type { Fault } from "../../rpc-client/endpoint/fault.ts";
import {
  applyRules,
  batchRule,
  createMethodRule,
  createRateRule,
  type ErrorText,
  type FaultRule,
  fatalRule,
  RATE,
  type RpcErrorInput,
  readErrorText,
  toCount,
  withLimit,
} from "../../rpc-client/endpoint/fault-rules.ts";
import type { LogRange } from "../port.ts";

const REVERTED =
  /execution reverted|\brevert(?:ed)?\b|vm execution error|invalid (?:opcode|jump)|out of gas|stack (?:under|over)flow|write protection/;
const BEHIND =
  /beyond (?:the )?(?:current )?(?:head|latest|tip)|header (?:for hash )?not found|hash is not currently canonical|unknown block|block (?:\S+ )?(?:was )?not found|could not find block|(?:after|greater than|above|ahead of) (?:the )?(?:latest|last|current|head)|future block|not yet (?:available|indexed|synced)/;
const STATE =
  /missing trie node|prun(?:ed|ing)|archive|(?:historical|old|past) (?:state|data|block)|state (?:\S+ )?(?:is )?(?:not available|unavailable|not found|missing|already discarded)|state (?:at|for|of) .*(?:not available|unavailable|missing)|no state available|missingtrienode|distance to target block exceeds|history (?:is )?(?:unavailable|expired)|before the (?:oldest|earliest)|blockoutofrange/;
/** A node without EIP-1898 that gets an object where it expects a block's number. */
const UNPINNABLE =
  /cannot unmarshal|invalid (?:argument|type|params?\b|parameters?\b|block (?:number|tag|parameter|id))|expected (?:a |an )?(?:hex|string)|hex string expected|must be a (?:hex|string)|deseriali[sz]/;
/** Too many blocks or too many results, in the messages of the providers and nodes seen so far. */
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
/** A log query that times out covers too many blocks. */
const QUERY_TIMEOUT = /time(?:d)?[ -]?out|deadline exceeded|took too long|canceling statement/;

const RATE_CODES = ["429", "-32029", "-32016", "-32012", "-32007", "-32090", "-32097"];

/** The parts of an error that the rules match. */
interface Clues extends ErrorText {
  readonly isLogs: boolean;
  /** An eth_getLogs, or a response to a whole batch that may have held one. */
  readonly mayBeLogs: boolean;
}

/** The first rule that matches decides: their order matters. */
const RULES: readonly FaultRule<Clues>[] = [
  ({ code, lowerCase, input, message }) =>
    code === "3" || (input.method === "eth_call" && REVERTED.test(lowerCase))
      ? { kind: "reverted", message }
      : undefined,
  batchRule,
  ({ mayBeLogs, lowerCase, message }) =>
    mayBeLogs && BEHIND.test(lowerCase) && !/too (?:large|wide|big)/.test(lowerCase)
      ? { kind: "behind", message }
      : undefined,
  ({ mayBeLogs, original, lowerCase, input, message }) => {
    const suggested = mayBeLogs ? readSuggestedRange(original, input.data) : undefined;
    return suggested === undefined
      ? undefined
      : withLimit({ kind: "range", message, suggested }, readBlockLimit(lowerCase));
  },
  // "429" or "requests per second" means a rate limit, unless the message suggests a range.
  ({ mayBeLogs, lowerCase, message }) =>
    mayBeLogs && !RATE.test(lowerCase) && RANGE.some((form) => form.test(lowerCase))
      ? withLimit({ kind: "range", message }, readBlockLimit(lowerCase))
      : undefined,
  createRateRule(RATE_CODES),
  // A bare "limit exceeded" (-32005) to a log query counts as its size: halving a range that was only sent too soon
  // is harmless, waiting with a range that is too large would never end.
  ({ isLogs, input, code, lowerCase, message }) =>
    isLogs &&
    (input.httpStatus === 413 || code === "-32005" || (code !== "" && QUERY_TIMEOUT.test(lowerCase)))
      ? { kind: "range", message }
      : undefined,
  ({ code, message }) => (code === "-32005" ? { kind: "rate", message } : undefined),
  createMethodRule(["-32601", "-32004"]),
  ({ code, lowerCase, message }) =>
    code === "4444" || STATE.test(lowerCase) ? { kind: "state", message } : undefined,
  // -32001 is "Resource not found" of EIP-1474: to a call, its block.
  ({ code, lowerCase, input, message }) =>
    BEHIND.test(lowerCase) || (code === "-32001" && input.method === "eth_call")
      ? { kind: "behind", message }
      : undefined,
  ({ lowerCase, input, message }) =>
    input.feature !== undefined && UNPINNABLE.test(lowerCase) ? { kind: "method", message } : undefined,
  fatalRule,
];

/**
 * Classifies a provider's error. Pure; an unknown lowerCase is `transient`, so that a new error message cannot stop an
 * ingest. Texts win over codes because providers use one code for several meanings (-32005 is a rate limit, a result
 * limit and a time limit).
 */
export function classifyRpcError(input: RpcErrorInput): Fault {
  const isLogs = input.method === "eth_getLogs";
  return applyRules(RULES, {
    ...readErrorText(input),
    isLogs,
    mayBeLogs: isLogs || input.method === undefined,
  });
}

const PAIR = /\[\s*(0x[0-9a-f]+|\d+)\s*,\s*(0x[0-9a-f]+|\d+)\s*\]/i;
const DASHED =
  /(?:retry|try) with (?:the |this )?(?:block )?range\s+(0x[0-9a-f]+|\d+)\s*-\s*(0x[0-9a-f]+|\d+)/i;
const PAIR_MEANT = /should work|try (?:again )?with|retry|suggest|narrow|more than/i;

function readSuggestedRange(original: string, data: unknown): LogRange | undefined {
  const found = DASHED.exec(original) ?? (PAIR_MEANT.test(original) ? PAIR.exec(original) : null);
  if (found !== null) return toRange(found[1], found[2]);
  if (typeof data === "object" && data !== null && "from" in data && "to" in data)
    return toRange(data.from, data.to);
  return undefined;
}

function toRange(from: unknown, to: unknown): LogRange | undefined {
  const fromBlock = toBlockNumber(from);
  const toBlock = toBlockNumber(to);
  // Some nodes suggest a range that ends before it starts.
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

function readBlockLimit(lowerCase: string): number | undefined {
  if (/results|logs matched|number of logs|response size/.test(lowerCase)) return undefined;
  for (const form of BLOCK_LIMITS) {
    const found = form.exec(lowerCase)?.[1];
    if (found !== undefined) return toCount(found);
  }
  return undefined;
}
