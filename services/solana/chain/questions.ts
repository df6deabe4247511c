import type { RpcCall } from "../../shared/rpc-client/endpoint/transport.ts";
import type { RpcRequest } from "../../shared/rpc-client/pending-request.ts";
import { LARGEST_ACCOUNTS } from "./classify.ts";
import type { AccountsAt, BlockLink, Commitment, SolanaBlock } from "./port.ts";
import {
  distrust,
  isHash,
  readAccounts,
  readBlock,
  readFirst,
  readLargest,
  readLink,
  readSlot,
  readSlots,
} from "./read.ts";

/**
 * An endpoint says that there is no block, and no other has one, or none that answers: what that is worth is found out
 * by the chain around it.
 */
const whenMissing: Pick<RpcRequest<null>, "conclude" | "maxFailures"> = {
  conclude: (refusals) => (refusals.some(({ kind }) => kind === "missing") ? { value: null } : undefined),
  maxFailures: 4,
};

/** One full block; null where an endpoint says that the slot has none, and no other has it. */
export function askBlock(slot: number, commitment: Commitment): RpcRequest<SolanaBlock | null> {
  return {
    calls: [{ method: "getBlock", params: [slot, blockOptions("full", commitment)] }],
    read: (replies) => readFirst(replies, (result) => readBlock(result, slot)),
    ...whenMissing,
  };
}

/** A block without its transactions. */
export function askLink(slot: number, commitment: Commitment): RpcRequest<BlockLink | null> {
  return {
    calls: [linkCall(slot, commitment)],
    read: (replies) => readFirst(replies, (result) => readLink(result, slot)),
    ...whenMissing,
  };
}

export function linkCall(slot: number, commitment: Commitment): RpcCall {
  return { method: "getBlock", params: [slot, blockOptions("none", commitment)] };
}

export function producedCall([from, to]: readonly [number, number], commitment: Commitment): RpcCall {
  return { method: "getBlocks", params: [from, to, { commitment }] };
}

function blockOptions(transactionDetails: "full" | "none", commitment: Commitment) {
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
  /** The head of the node that answered: what it says ends there. */
  readonly head: number;
}

/**
 * The produced slots of a range, from a node that has its beginning. Nodes say nothing of what they do not have:
 * getBlocks ends at their own head and begins at their first block without a word. The head is asked first, so that it
 * cannot have moved past the range after the slots were read.
 */
export function askProduced(
  [from, to]: readonly [number, number],
  commitment: Commitment,
): RpcRequest<ProducedSlots> {
  return {
    calls: [
      { method: "getSlot", params: [{ commitment }] },
      { method: "getFirstAvailableBlock", params: [] },
      producedCall([from, to], commitment),
    ],
    read(replies) {
      const head = readFirst(replies, (result) => readSlot(result, "getSlot"));
      const first = readFirst(replies.slice(1), (result) => readSlot(result, "getFirstAvailableBlock"));
      const slots = readFirst(replies.slice(2), (result) => readSlots(result, [from, to]));
      if ("fault" in head) return head;
      if ("fault" in first) return first;
      if ("fault" in slots) return slots;
      if (first.value > from)
        return {
          fault: {
            kind: "state",
            message: `slots before ${first.value} are not there, ${from} was asked for`,
          },
        };
      return { value: { slots: slots.value.filter((slot) => slot <= head.value), head: head.value } };
    },
  };
}

export function askFirstAvailable(): RpcRequest<number> {
  return {
    calls: [{ method: "getFirstAvailableBlock", params: [] }],
    read: (replies) => readFirst(replies, (result) => readSlot(result, "getFirstAvailableBlock")),
  };
}

export function askGenesis(): RpcRequest<string | undefined> {
  return {
    calls: [{ method: "getGenesisHash", params: [] }],
    read: (replies) =>
      readFirst(replies, (result) =>
        isHash(result) ? { value: result } : distrust("getGenesisHash gave no hash"),
      ),
    conclude: () => ({ value: undefined }),
  };
}

export function askAccounts(addresses: readonly string[], commitment: Commitment): RpcRequest<AccountsAt> {
  const options = { encoding: "base64", commitment };
  return {
    calls: [{ method: "getMultipleAccounts", params: [addresses, options], needsConsistencyCheck: true }],
    read: (replies) => readFirst(replies, (result) => readAccounts(result, addresses.length)),
  };
}

type Largest = readonly { readonly address: string; readonly amount: bigint }[];

/** Undefined once no endpoint offers it, or after some failures: nodes give up on mints with many accounts. */
export function askLargest(mint: string): RpcRequest<Largest | undefined> {
  return {
    calls: [
      { method: LARGEST_ACCOUNTS, params: [mint, { commitment: "confirmed" }], needsConsistencyCheck: true },
    ],
    read: (replies) => readFirst(replies, readLargest),
    conclude: () => ({ value: undefined }),
    maxFailures: 4,
  };
}
