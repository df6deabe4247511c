import type { RpcCall } from "../../shared/rpc-client/endpoint/transport.ts";
import type { RpcRequest } from "../../shared/rpc-client/pending-request.ts";
import { LARGEST_ACCOUNTS, PAGED_PROGRAM_ACCOUNTS, PROGRAM_ACCOUNTS } from "./classify.ts";
import {
  createTransactionList,
  distrust,
  isHash,
  parseAccounts,
  parseBlock,
  parseFirst,
  parseLargestAccounts,
  parseLink,
  parseSlot,
  parseSlots,
  parseTokenAccounts,
} from "./parse-response.ts";
import type {
  AccountsAt,
  BlockLink,
  Commitment,
  SolanaBlock,
  SolanaTransaction,
  TokenAccountPage,
  TokenAccountQuery,
} from "./port.ts";
import { TOKEN_PROGRAM } from "./program-address.ts";

/**
 * An endpoint reports that there is no block, and no other endpoint returns one: the surrounding chain proves or refutes
 * it.
 */
const MISSING_BLOCK: Pick<RpcRequest<null>, "conclude" | "maxFailures"> = {
  conclude: (refusals) => (refusals.some(({ kind }) => kind === "missing") ? { value: null } : undefined),
  maxFailures: 4,
};

/** One full block, of whose transactions `read` keeps what is needed; null if an endpoint reports that the slot has none, and no other has it. */
export function createBlockRequest<T>(
  slot: number,
  commitment: Commitment,
  read: (transaction: SolanaTransaction) => T,
): RpcRequest<SolanaBlock<T> | null> {
  const params = [slot, createBlockOptions("full", commitment)];
  return {
    calls: [{ method: "getBlock", params, list: createTransactionList(read) }],
    read: (replies) => parseFirst(replies, (result) => parseBlock<T>(result, slot)),
    ...MISSING_BLOCK,
  };
}

/** A block without its transactions. */
export function createLinkRequest(slot: number, commitment: Commitment): RpcRequest<BlockLink | null> {
  return {
    calls: [createLinkCall(slot, commitment)],
    read: (replies) => parseFirst(replies, (result) => parseLink(result, slot)),
    ...MISSING_BLOCK,
  };
}

export function createLinkCall(slot: number, commitment: Commitment): RpcCall {
  return { method: "getBlock", params: [slot, createBlockOptions("none", commitment)] };
}

export function createProducedCall([from, to]: readonly [number, number], commitment: Commitment): RpcCall {
  return { method: "getBlocks", params: [from, to, { commitment }] };
}

function createBlockOptions(transactionDetails: "full" | "none", commitment: Commitment) {
  return {
    encoding: "json",
    transactionDetails,
    maxSupportedTransactionVersion: 0,
    rewards: false,
    commitment,
  };
}

export interface ProducedSlots {
  /** Ascending, none beyond `head`. */
  readonly slots: readonly number[];
  /** Head of the node that responded: its list ends there. */
  readonly head: number;
}

/**
 * The produced slots of a range, from a node that has its beginning. Nodes do not report what they lack: getBlocks
 * silently begins at their first block and ends at their own head. The request for the head goes first, so that the head
 * cannot have passed the range after the slots were read.
 */
export function createProducedSlotsRequest(
  [from, to]: readonly [number, number],
  commitment: Commitment,
): RpcRequest<ProducedSlots> {
  return {
    calls: [
      { method: "getSlot", params: [{ commitment }] },
      { method: "getFirstAvailableBlock", params: [] },
      createProducedCall([from, to], commitment),
    ],
    read(replies) {
      const head = parseFirst(replies, (result) => parseSlot(result, "getSlot"));
      const first = parseFirst(replies.slice(1), (result) => parseSlot(result, "getFirstAvailableBlock"));
      const slots = parseFirst(replies.slice(2), (result) => parseSlots(result, [from, to]));
      if ("fault" in head) return head;
      if ("fault" in first) return first;
      if ("fault" in slots) return slots;
      if (first.value > from)
        return {
          fault: {
            kind: "state",
            message: `the node has no slots before ${first.value}, ${from} was requested`,
          },
        };
      return { value: { slots: slots.value.filter((slot) => slot <= head.value), head: head.value } };
    },
  };
}

export function createFirstAvailableRequest(): RpcRequest<number> {
  return {
    calls: [{ method: "getFirstAvailableBlock", params: [] }],
    read: (replies) => parseFirst(replies, (result) => parseSlot(result, "getFirstAvailableBlock")),
  };
}

export function createGenesisRequest(): RpcRequest<string | undefined> {
  return {
    calls: [{ method: "getGenesisHash", params: [] }],
    read: (replies) =>
      parseFirst(replies, (result) =>
        isHash(result) ? { value: result } : distrust("getGenesisHash gave no hash"),
      ),
    conclude: () => ({ value: undefined }),
  };
}

export function createAccountsRequest(
  addresses: readonly string[],
  commitment: Commitment,
): RpcRequest<AccountsAt> {
  const options = { encoding: "base64", commitment };
  return {
    calls: [{ method: "getMultipleAccounts", params: [addresses, options], needsConsistencyCheck: true }],
    read: (replies) => parseFirst(replies, (result) => parseAccounts(result, addresses.length)),
  };
}

type LargestAccounts = readonly { readonly address: string; readonly amount: bigint }[];

/** Undefined once no endpoint offers it, or after some failures: nodes give up on mints with many accounts. */
export function createLargestAccountsRequest(mint: string): RpcRequest<LargestAccounts | undefined> {
  return {
    calls: [
      { method: LARGEST_ACCOUNTS, params: [mint, { commitment: "confirmed" }], needsConsistencyCheck: true },
    ],
    read: (replies) => parseFirst(replies, parseLargestAccounts),
    conclude: () => ({ value: undefined }),
    maxFailures: 4,
  };
}

/** The most that providers allow. */
const ACCOUNTS_IN_PAGE = 10_000;
/** The mint is the first field of a token account, its owner the second, its amount the third. */
const OWNER_AND_AMOUNT = { offset: 32, length: 40 };
/** Accounts of Token-2022 have extensions behind that. */
const ACCOUNT_LENGTH = 165;

/** Undefined once no endpoint offers it, or after some failures: nodes give up on mints with many accounts. */
export function createTokenAccountsRequest(
  mint: string,
  { program, minSlot, after, isPaged }: TokenAccountQuery & { readonly isPaged: boolean },
): RpcRequest<TokenAccountPage | undefined> {
  const options = {
    encoding: "base64",
    commitment: "finalized",
    dataSlice: OWNER_AND_AMOUNT,
    filters: [
      { memcmp: { offset: 0, bytes: mint } },
      ...(program === TOKEN_PROGRAM ? [{ dataSize: ACCOUNT_LENGTH }] : []),
    ],
    minContextSlot: minSlot,
    withContext: true,
    ...(isPaged && { limit: ACCOUNTS_IN_PAGE }),
    ...(after !== null && { paginationKey: after }),
  };
  const method = isPaged ? PAGED_PROGRAM_ACCOUNTS : PROGRAM_ACCOUNTS;
  return {
    calls: [{ method, params: [program, options], needsConsistencyCheck: true }],
    read: (replies) => parseFirst(replies, parseTokenAccounts),
    conclude: () => ({ value: undefined }),
    maxFailures: 4,
  };
}
