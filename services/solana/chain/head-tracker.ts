import type { Clock } from "../../shared/rpc-client/endpoint/clock.ts";
import type { SourceLog } from "../../shared/rpc-client/endpoint/endpoint.ts";
import type { RpcRequest } from "../../shared/rpc-client/pending-request.ts";
import type { Pool } from "../../shared/rpc-client/pool.ts";
import { parseFirst, parseSlot } from "./parse-response.ts";
import type { Commitment, SlotHead } from "./port.ts";

/** After this time a head that every endpoint reports lower is believed (a local chain that was reset). */
const ACCEPT_LOWER_MS = 60_000;

/** The head at one commitment: it does not go back because another node responded. */
export function createHeadTracker({
  pool,
  clock,
  log,
  commitment,
}: {
  pool: Pool;
  clock: Clock;
  log: SourceLog;
  commitment: Commitment;
}) {
  let highest: number | undefined;
  let lowerSince: number | undefined;

  /** Forgets how far the head had come. */
  function reset(): void {
    highest = undefined;
    lowerSince = undefined;
  }

  async function read(): Promise<SlotHead> {
    const known = highest;
    const lower: number[] = [];
    const request: RpcRequest<number | null> = {
      calls: [{ method: "getSlot", params: [{ commitment }] }],
      read: (replies) =>
        parseFirst(replies, (result) => {
          const slot = parseSlot(result, "getSlot");
          if ("fault" in slot || known === undefined || slot.value >= known) return slot;
          lower.push(slot.value);
          return {
            fault: { kind: "missing", message: `the node's head is ${slot.value}, ${known} was seen` },
          };
        }),
      conclude: () => (lower.length === 0 ? undefined : { value: null }),
    };
    const [found] = await pool.request([request], `getSlot ${commitment}`);
    if (found !== null && found !== undefined) {
      // Responses may overtake one another.
      highest = Math.max(highest ?? 0, found);
      lowerSince = undefined;
      return { slot: highest };
    }
    lowerSince ??= clock.now();
    if (clock.now() - lowerSince < ACCEPT_LOWER_MS) return { slot: highest ?? 0 };
    highest = Math.max(...lower);
    lowerSince = undefined;
    log("the head has been lower for a minute: believed", { commitment, from: known, to: highest });
    return { slot: highest };
  }

  return { read, reset };
}
