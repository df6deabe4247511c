import type { ConsistencyCheck } from "../../rpc-client/endpoint/endpoint.ts";
import type { RpcResponse } from "../../rpc-client/endpoint/transport.ts";
import type { RpcRequest } from "../../rpc-client/pending-request.ts";
import { toQuantity } from "../hex.ts";
import type { BlockHeader, Contradiction, FinalBlock, FindKnownBlock, StoredBlock } from "../port.ts";
import { parseHeader } from "./parse.ts";
import { parseFirstReply } from "./requests.ts";

/**
 * Blocks behind the tip that count as final where nodes do not know the tag `finalized`: as deep as kept headers can
 * undo a reorg.
 */
const FINAL_DEPTH = 256;

const OTHER_GENESIS = "another chain: its genesis is";

/** Whether an endpoint is of another chain from block 0 on. */
export function isOtherGenesis({ reason }: Contradiction): boolean {
  return reason.startsWith(OTHER_GENESIS);
}

interface FinalProof extends ConsistencyCheck {
  require(block: FinalBlock, findKnown?: FindKnownBlock): void;
}

/**
 * Compares endpoints with the last final block of an index. An endpoint with another block there, or another genesis,
 * serves another chain; one that lacks the block is only behind.
 */
export function createFinalProof(): FinalProof {
  let required: FinalBlock | undefined;
  let findKnown: FindKnownBlock | undefined;
  return {
    require(block, find) {
      required = block;
      findKnown = find ?? findKnown;
    },
    calls() {
      if (required === undefined) return [];
      const numbers = required.number === 0 ? [0] : [required.number, 0];
      return numbers.map(headerCall);
    },
    read([reply, first]) {
      if (required === undefined) return undefined;
      const { number, hash, genesisHash } = required;
      const genesis = hashOf(first, 0);
      if (genesis !== undefined && genesis !== null && genesis !== genesisHash) {
        const message = `${OTHER_GENESIS} ${genesis}, the index's is ${genesisHash}`;
        return { kind: "contradicts", message };
      }
      const there = hashOf(reply, number);
      // The node has pruned the block, or fails.
      if (there === undefined || there === hash) return undefined;
      if (there === null) return { kind: "behind", message: `the node has no block ${number} yet` };
      const message =
        number === 0
          ? `${OTHER_GENESIS} ${there}, the index's is ${genesisHash}`
          : `its block ${number} is ${there}, final in the index is ${hash}`;
      return { kind: "contradicts", message };
    },
    async checkFurther(request, found) {
      // A node that is behind may also follow another chain.
      if (found?.kind !== "behind") return undefined;
      const head = parseFirstReply(await request([headerCall("latest")]), (result) =>
        parseHeader(result, "latest"),
      );
      if ("fault" in head || required === undefined || head.value.number >= required.number) return undefined;
      // A failure of the store is no evidence against the endpoint.
      const known = await findKnown?.(head.value.number).catch(() => undefined);
      if (known === undefined) return undefined;
      const there = hashOf((await request([headerCall(known.number)]))[0], known.number);
      if (there === undefined || there === null || there === known.hash) return undefined;
      const message = `its block ${known.number} is ${there}, the index has ${known.hash} and is final up to ${required.number}`;
      return { kind: "contradicts", message };
    },
  };
}

/** Null where the node has no such block; undefined where its reply is unusable. */
function hashOf(reply: RpcResponse | undefined, number: number): string | null | undefined {
  if (reply?.ok !== true) return undefined;
  if (reply.result === null) return null;
  const header = parseHeader(reply.result, number);
  return "value" in header ? header.value.hash : undefined;
}

function headerCall(block: number | "finalized" | "latest") {
  const tag = typeof block === "number" ? toQuantity(block) : block;
  return { method: "eth_getBlockByNumber", params: [tag, false] };
}

interface FinalThere {
  readonly block: StoredBlock;
  /** By the tag, not by depth. */
  readonly isTagged: boolean;
}

/**
 * Requests one node's final block on the chain that leads to `tip`, at most the tip; "other" where it has another
 * block at that height, "behind" where it has none yet. `isTagKnown` where nodes have given the tag `finalized` before:
 * then the block that counts by depth is not asked, and one without the tag is "behind" too.
 */
export function createFinalBlockRequest(
  tip: StoredBlock,
  { isTagKnown = false }: { isTagKnown?: boolean } = {},
): RpcRequest<FinalThere | "other" | "behind"> {
  const fallback = Math.max(0, tip.number - FINAL_DEPTH);
  return {
    calls: [headerCall("finalized"), headerCall(tip.number), ...(isTagKnown ? [] : [headerCall(fallback)])],
    read([tagged, own, deep]) {
      const there = parseFirstReply<BlockHeader | null>([own], (result) =>
        result === null ? { value: null } : parseHeader(result, tip.number),
      );
      if ("fault" in there) return there;
      if (there.value === null) return { value: "behind" };
      if (there.value.hash !== tip.hash) return { value: "other" };
      // Depth decides where the node does not know the tag (an error, or null).
      const isTagged = tagged?.ok === true && tagged.result !== null;
      if (!isTagged && isTagKnown) return { value: "behind" };
      const header = isTagged
        ? parseFirstReply([tagged], (result) => parseHeader(result, "latest"))
        : parseFirstReply([deep], (result) => parseHeader(result, fallback));
      if ("fault" in header) return header;
      const { number, hash, timestamp: time } = header.value;
      return { value: { block: number >= tip.number ? tip : { number, hash, time }, isTagged } };
    },
    // Not the contrary too: callers ask for tips that no index has.
    showsChain: (found) => (found === "other" ? false : undefined),
  };
}
