import type { EndpointCheck } from "../rpc/endpoint.ts";
import type { Fault } from "../rpc/fault.ts";
import type { RpcCall, RpcReply } from "../rpc/transport.ts";
import type { Question } from "../rpc/work.ts";
import type { ChainAnchor, FinalBlock } from "./port.ts";
import { linkCall, producedCall } from "./questions.ts";
import { isHash, readFirst, readLink, readSlots } from "./read.ts";

/** How far beyond the final slot the next block is looked for, where an endpoint has none in the slot itself. */
const LOOK_AHEAD = 64;
const GENESIS_CALL: RpcCall = { method: "getGenesisHash", params: [] };

/** What every endpoint has to agree with. Without a genesis hash, that of the first one that agrees otherwise counts. */
export class AnchorKeeper {
  #anchor: ChainAnchor;

  constructor(anchor: ChainAnchor = {}) {
    this.#anchor = anchor;
  }

  get anchor(): ChainAnchor {
    return this.#anchor;
  }

  set(anchor: ChainAnchor): void {
    this.#anchor = anchor;
  }

  /** The check of each endpoint: genesis, then the last final block. */
  readonly check: EndpointCheck = {
    call: GENESIS_CALL,
    read: (reply) => this.#readGenesis(reply),
    further: async (ask) => {
      const { final } = this.#anchor;
      const fault = final && (await findContradiction(final, ask));
      if (fault !== undefined || this.#anchor.genesisHash !== undefined) return fault;
      const [reply] = await ask([GENESIS_CALL]);
      if (reply?.ok && isHash(reply.result) && this.#anchor.genesisHash === undefined)
        this.#anchor = { ...this.#anchor, genesisHash: reply.result };
      return reply && this.#readGenesis(reply);
    },
  };

  /** Asks for the genesis in the same batch: an answer that names no block must not be another cluster's. */
  inCluster<T>(question: Question<T>): Question<T> {
    return {
      ...question,
      // Last: a request that is refused as a whole is refused for what its first call asks.
      calls: [...question.calls, GENESIS_CALL],
      read: (replies) => {
        const genesis = replies.at(-1);
        const fault = genesis?.ok ? this.#readGenesis(genesis) : undefined;
        return fault === undefined ? question.read(replies.slice(0, -1)) : { fault };
      },
    };
  }

  #readGenesis(reply: RpcReply): Fault | undefined {
    // An endpoint that forbids the question answers the others all the same.
    if (!reply.ok) return reply.fault.kind === "method" ? undefined : reply.fault;
    const found = reply.result;
    if (!isHash(found)) return { kind: "transient", message: "getGenesisHash gave no hash" };
    const { genesisHash: expected } = this.#anchor;
    if (expected === undefined || found === expected) return undefined;
    return contradiction(`wrong cluster: genesis hash ${found} where ${expected} is expected`);
  }
}

/**
 * Whether an endpoint serves a chain without the final block. One that is behind, has pruned the slot or does not
 * answer contradicts nothing: a skipped slot is only proven by the block after it.
 */
async function findContradiction(
  { slot, blockhash }: FinalBlock,
  ask: (calls: readonly RpcCall[]) => Promise<RpcReply[]>,
): Promise<Fault | undefined> {
  const link = readFirst(await ask([linkCall(slot, "finalized")]), (result) => readLink(result, slot));
  const final = `block ${blockhash} in slot ${slot} is final in the index`;
  if ("value" in link) {
    const found = link.value.blockhash;
    return found === blockhash ? undefined : contradiction(`it has block ${found}, and ${final}`);
  }
  if (link.fault.kind !== "missing") return undefined;
  const span = [slot + 1, slot + LOOK_AHEAD] as const;
  const listed = readFirst(await ask([producedCall(span, "finalized")]), (result) => readSlots(result, span));
  const next = "value" in listed ? listed.value[0] : undefined;
  if (next === undefined) return undefined;
  const after = readFirst(await ask([linkCall(next, "finalized")]), (result) => readLink(result, next));
  if (!("value" in after)) return undefined;
  const { parentSlot, previousBlockhash } = after.value;
  if (parentSlot > slot || (parentSlot === slot && previousBlockhash === blockhash)) return undefined;
  const named = `its slot ${next} follows on slot ${parentSlot} (${previousBlockhash})`;
  return contradiction(`${named}, and ${final}`);
}

function contradiction(message: string): Fault {
  return { kind: "fatal", message, contradicts: true };
}
