import type { ConsistencyCheck, IdentityCheck } from "../../shared/rpc-client/endpoint/endpoint.ts";
import type { Fault } from "../../shared/rpc-client/endpoint/fault.ts";
import type { RpcCall, RpcResponse } from "../../shared/rpc-client/endpoint/transport.ts";
import { isHash, parseFirst, parseLink, parseSlots } from "./parse-response.ts";
import type { ChainAnchor, FinalBlock } from "./port.ts";
import { createLinkCall, createProducedCall } from "./requests.ts";

/** Slots searched after the final slot for the next block, where an endpoint has no block in the slot itself. */
const LOOK_AHEAD = 64;
/** Final blocks remembered: a backfill advances the final block several times a second. */
const MAX_FINALS = 256;
type SendCalls = (calls: readonly RpcCall[]) => Promise<RpcResponse[]>;
const GENESIS_CALL: RpcCall = { method: "getGenesisHash", params: [] };

/** Verifies endpoints against the anchored chain. Without a genesis hash, that of the first endpoint which agrees counts. */
export class AnchorVerifier {
  #anchor: ChainAnchor;
  /** Final blocks that requests in flight may have been checked against. */
  #finals: readonly FinalBlock[] = [];

  constructor(anchor: ChainAnchor = {}) {
    this.#anchor = anchor;
    this.set(anchor);
  }

  get anchor(): ChainAnchor {
    return this.#anchor;
  }

  set(anchor: ChainAnchor): void {
    this.#anchor = anchor;
    const { final } = anchor;
    if (final === undefined) return;
    const others = this.#finals.filter(({ slot }) => slot !== final.slot);
    this.#finals = [...others, final].slice(-MAX_FINALS);
  }

  /** Whether an endpoint responds at all; the consistency check compares its genesis. */
  readonly identityCheck: IdentityCheck = {
    call: GENESIS_CALL,
    read(reply) {
      // An endpoint that forbids this method still serves the others.
      if (!reply.ok) return reply.fault.kind === "method" ? undefined : reply.fault;
      return isHash(reply.result) ? undefined : { kind: "transient", message: "getGenesisHash gave no hash" };
    },
  };

  /** Requests whose responses name no block carry a request for the final block, and for the genesis. */
  readonly consistencyCheck: ConsistencyCheck = {
    calls: () => {
      const { final, genesisHash } = this.#anchor;
      const calls = final === undefined ? [] : [createLinkCall(final.slot, "finalized")];
      return genesisHash === undefined ? calls : [...calls, GENESIS_CALL];
    },
    read: (replies, calls) => {
      const [first] = replies;
      const isGenesis = ({ method }: RpcCall) => method === GENESIS_CALL.method;
      const fault = this.#compareGenesis(replies[calls.findIndex(isGenesis)]);
      // The response does not name its slot: only the request identifies the final block to compare with.
      const final = this.#finals.find(
        ({ slot }) => calls[0]?.method === "getBlock" && slot === calls[0].params[0],
      );
      if (fault !== undefined || final === undefined || first === undefined) return fault;
      const link = parseFirst([first], (result) => parseLink(result, final.slot));
      if (!("value" in link) || link.value.blockhash === final.blockhash) return undefined;
      return createContradiction(`it has block ${link.value.blockhash}, but ${describeFinalBlock(final)}`);
    },
    checkFurther: async (send) => {
      const { final } = this.#anchor;
      const fault = final && (await findSkipped(final, send));
      if (fault !== undefined || this.#anchor.genesisHash !== undefined) return fault;
      const [reply] = await send([GENESIS_CALL]);
      if (reply?.ok && isHash(reply.result) && this.#anchor.genesisHash === undefined)
        this.#anchor = { ...this.#anchor, genesisHash: reply.result };
      return this.#compareGenesis(reply);
    },
  };

  #compareGenesis(reply: RpcResponse | undefined): Fault | undefined {
    const { genesisHash: expected } = this.#anchor;
    if (reply?.ok !== true || !isHash(reply.result) || expected === undefined) return undefined;
    if (reply.result === expected) return undefined;
    return createContradiction(`wrong cluster: genesis hash ${reply.result} where ${expected} is expected`);
  }
}

/**
 * Whether an endpoint serves a chain that skipped the final slot: the block after it proves that. An endpoint that is
 * behind, has pruned the slot or does not respond contradicts nothing.
 */
async function findSkipped(final: FinalBlock, send: SendCalls): Promise<Fault | undefined> {
  const { slot, blockhash } = final;
  const link = parseFirst(await send([createLinkCall(slot, "finalized")]), (result) =>
    parseLink(result, slot),
  );
  if ("value" in link || link.fault.kind !== "missing") return undefined;
  const span = [slot + 1, slot + LOOK_AHEAD] as const;
  const listed = parseFirst(await send([createProducedCall(span, "finalized")]), (result) =>
    parseSlots(result, span),
  );
  const next = "value" in listed ? listed.value[0] : undefined;
  if (next === undefined) return undefined;
  const after = parseFirst(await send([createLinkCall(next, "finalized")]), (result) =>
    parseLink(result, next),
  );
  if (!("value" in after)) return undefined;
  const { parentSlot, previousBlockhash } = after.value;
  if (parentSlot > slot || (parentSlot === slot && previousBlockhash === blockhash)) return undefined;
  return createContradiction(
    `its slot ${next} follows on slot ${parentSlot} (${previousBlockhash}), and ${describeFinalBlock(final)}`,
  );
}

function describeFinalBlock({ slot, blockhash }: FinalBlock): string {
  return `block ${blockhash} in slot ${slot} is final in the index`;
}

function createContradiction(message: string): Fault {
  return { kind: "contradicts", message };
}
