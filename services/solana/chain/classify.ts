import type { Fault } from "../../shared/rpc-client/endpoint/fault.ts";
import {
  applyRules,
  batchRule,
  createMethodRule,
  createRateRule,
  type FaultRule,
  fatalRule,
  type RpcErrorInput,
  readErrorText,
} from "../../shared/rpc-client/endpoint/fault-rules.ts";

/** Few endpoints serve them for every mint, some not at all. */
export const LARGEST_ACCOUNTS = "getTokenLargestAccounts";
export const PROGRAM_ACCOUNTS = "getProgramAccounts";
export const PAGED_PROGRAM_ACCOUNTS = "getProgramAccountsV2";
export const OPTIONAL_METHODS: readonly string[] = [
  LARGEST_ACCOUNTS,
  PROGRAM_ACCOUNTS,
  PAGED_PROGRAM_ACCOUNTS,
];
const isOptional = (method: string | undefined) => method !== undefined && OPTIONAL_METHODS.includes(method);

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

/** Texts go before codes: -32007 is also one provider's rate limit, -32005 another's. */
const RULES: readonly FaultRule[] = [
  batchRule,
  createRateRule(["429", "-32429", "-32029"]),
  createRule("missing", ({ lowerCase }) => MISSING.test(lowerCase)),
  createRule("state", ({ lowerCase }) => PRUNED.test(lowerCase)),
  createRule("behind", ({ lowerCase }) => BEHIND.test(lowerCase)),
  createRule("missing", ({ code }) => MISSING_CODES.has(code)),
  createRule("state", ({ code }) => PRUNED_CODES.has(code)),
  createRule("behind", ({ code }) => BEHIND_CODES.has(code)),
  // The node gives up on this mint, or it is not a mint: the next request may follow at once.
  createRule(
    "state",
    // -32010: the mint is excluded from the node's index.
    ({ input, code }) => isOptional(input.method) && /^-32(?:602|01[02])$/.test(code),
  ),
  // Not offered, or not for this API key, which serves everything else.
  createRule(
    "method",
    ({ input }) => isOptional(input.method) && [401, 403, 410].includes(input.httpStatus ?? 0),
  ),
  createMethodRule(["-32601"]),
  createRule(
    "method",
    ({ input, lowerCase }) => input.httpStatus === 410 || /have been disabled/.test(lowerCase),
  ),
  fatalRule,
];

/** Classifies a Solana provider's error. Pure; an unknown text is `transient`. */
export function classifySolanaError(input: RpcErrorInput): Fault {
  return applyRules(RULES, readErrorText(input));
}
