import type { Fault } from "../../shared/rpc-client/endpoint/fault.ts";
import {
  applyRules,
  batchRule,
  createMethodRule,
  createRateRule,
  fatalRule,
  type RpcErrorInput,
  type FaultRule,
  readErrorText,
} from "../../shared/rpc-client/endpoint/fault-rules.ts";

/** Offered by few endpoints for every mint, and by some not at all. */
export const LARGEST_ACCOUNTS = "getTokenLargestAccounts";

const MISSING =
  /(?:slot \S+ )?was skipped|skipped, or missing|missing (?:due to|in long-term)|block not available/;
const PRUNED = /cleaned up|first available block|history is not available/;
const BEHIND = /not yet available|minimum context slot|node is (?:behind|unhealthy)/;

/** -32004 no block (yet), -32007 skipped or missing, -32009 skipped or missing in long-term storage. */
const MISSING_CODES = new Set(["-32004", "-32007", "-32009"]);
/** -32001 cleaned up, -32011 no history, -32015 a transaction of a version that is not known. */
const PRUNED_CODES = new Set(["-32001", "-32011", "-32015"]);
/** -32005 unhealthy, -32014 status not yet available, -32016 below the minimum context slot. */
const BEHIND_CODES = new Set(["-32005", "-32014", "-32016"]);

const createRule =
  (kind: Fault["kind"], applies: (words: Parameters<FaultRule>[0]) => boolean): FaultRule =>
  (words) =>
    applies(words) ? { kind, message: words.message } : undefined;

/** The words go before the codes: -32007 is also one provider's rate limit, -32005 another's. */
const RULES: readonly FaultRule[] = [
  batchRule,
  createRateRule(["429", "-32429", "-32029"]),
  createRule("missing", ({ lowerCase }) => MISSING.test(lowerCase)),
  createRule("state", ({ lowerCase }) => PRUNED.test(lowerCase)),
  createRule("behind", ({ lowerCase }) => BEHIND.test(lowerCase)),
  createRule("missing", ({ code }) => MISSING_CODES.has(code)),
  createRule("state", ({ code }) => PRUNED_CODES.has(code)),
  createRule("behind", ({ code }) => BEHIND_CODES.has(code)),
  // Nodes give up on this mint, or it is none: the next one may be asked about at once.
  createRule(
    "state",
    ({ input, code }) => input.method === LARGEST_ACCOUNTS && /^-32(?:602|012)$/.test(code),
  ),
  // Not offered, or not for this key, which is good for everything else.
  createRule(
    "method",
    ({ input }) => input.method === LARGEST_ACCOUNTS && [401, 403, 410].includes(input.httpStatus ?? 0),
  ),
  createMethodRule(["-32601"]),
  createRule("method", ({ input, lowerCase }) => input.httpStatus === 410 || /have been disabled/.test(lowerCase)),
  fatalRule,
];

/** What a Solana provider's error means for us. Pure; an unknown lowerCase is `transient`. */
export function classifySolanaError(input: RpcErrorInput): Fault {
  return applyRules(RULES, readErrorText(input));
}
