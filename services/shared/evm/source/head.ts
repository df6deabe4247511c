import type { Clock } from "../../rpc-client/endpoint/clock.ts";
import type { SourceLog } from "../../rpc-client/endpoint/endpoint.ts";
import type { RpcRequest } from "../../rpc-client/pending-request.ts";
import type { Pool } from "../../rpc-client/pool.ts";
import type { BlockHeader, Hex } from "../port.ts";
import { parseHeader } from "./parse.ts";
import { parseFirstReply } from "./requests.ts";

interface HeadTracker {
  head(): Promise<BlockHeader>;
  /** Records a header, which distinguishes a reorg from a node that is behind. */
  record(header: BlockHeader): void;
  /** Records a header that was found as the head by a question for it alone. */
  raise(header: BlockHeader): void;
  /** Forgets all headers: they may come from an endpoint that serves another chain. */
  reset(): void;
}

interface HeadTrackerOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: SourceLog;
  readonly chainId: number;
}

/** A lower head that every endpoint reports for this long is accepted (a local chain was restored). */
const ACCEPT_LOWER_MS = 60_000;
const MAX_SEEN = 1024;

/**
 * The head never goes back because another node responded: a lower one is accepted only if its block has another hash
 * than the one seen at that height (a reorg), or if all endpoints report it for a minute.
 */
export function createHeadTracker({ pool, clock, log, chainId }: HeadTrackerOptions): HeadTracker {
  const seen = new Map<number, Hex>();
  let highest: BlockHeader | undefined;
  let lowerSince: number | undefined;
  let resets = 0;

  function record({ number, hash }: BlockHeader): void {
    seen.delete(number);
    seen.set(number, hash);
    if (seen.size <= MAX_SEEN) return;
    for (const oldest of seen.keys()) {
      seen.delete(oldest);
      break;
    }
  }

  function accept(header: BlockHeader): BlockHeader {
    highest = header;
    lowerSince = undefined;
    record(header);
    return header;
  }

  function raise(header: BlockHeader): void {
    if (highest === undefined || header.number >= highest.number) accept(header);
    else record(header);
  }

  function reset(): void {
    seen.clear();
    highest = undefined;
    lowerSince = undefined;
    resets += 1;
  }

  async function head(): Promise<BlockHeader> {
    const known = highest;
    const resetsBefore = resets;
    const lower: BlockHeader[] = [];
    const request: RpcRequest<BlockHeader | null> = {
      calls: [{ method: "eth_getBlockByNumber", params: ["latest", false] }],
      read: (replies) =>
        parseFirstReply(replies, (result) => {
          const header = parseHeader(result, "latest");
          if ("fault" in header || known === undefined || header.value.number >= known.number) return header;
          lower.push(header.value);
          return {
            fault: {
              kind: "missing",
              message: `the node's head is ${header.value.number}, ${known.number} was seen`,
            },
          };
        }),
      conclude: () => (lower.length === 0 ? undefined : { value: null }),
    };
    const [found] = await pool.request([request], "eth_getBlockByNumber latest");
    // The response may come from the endpoint that was just set aside.
    if (resets !== resetsBefore) return head();
    if (found !== null && found !== undefined) {
      // Requests may overtake one another: an older response does not move the head back.
      if (highest !== undefined && found.number < highest.number) return highest;
      return accept(found);
    }
    const best = lower.reduce((a, b) => (b.number > a.number ? b : a));
    const hashThere = seen.get(best.number);
    if (hashThere !== undefined && hashThere !== best.hash) return accept(best);
    lowerSince ??= clock.now();
    if (known === undefined || clock.now() - lowerSince >= ACCEPT_LOWER_MS) {
      log("the chain's head has been lower for a minute: accepted", {
        chainId,
        from: known?.number,
        to: best.number,
      });
      return accept(best);
    }
    return known;
  }

  return { head, record, raise, reset };
}
