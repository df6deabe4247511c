import type { ConsistencyCheck, IdentityCheck } from "../../shared/rpc-client/endpoint/endpoint.ts";
import type { Fault } from "../../shared/rpc-client/endpoint/fault.ts";
import type { RpcCall, RpcResponse } from "../../shared/rpc-client/endpoint/transport.ts";
import type { ChainAnchor, FinalBlock } from "./port.ts";
import { linkCall, producedCall } from "./questions.ts";
import { isHash, readFirst, readLink, readSlots } from "./read.ts";

/** How far beyond the final slot the next block is looked for, where an endpoint has none in the slot itself. */
const LOOK_AHEAD = 64;
/** A backfill moves the final block on several times a second. */
const KEPT_FINALS = 256;
type Ask = (calls: readonly RpcCall[]) => Promise<RpcResponse[]>;
const GENESIS_CALL: RpcCall = { method: "getGenesisHash", params: [] };

/** What every endpoint has to agree with. Without a genesis hash, that of the first one that agrees otherwise counts. */
export class AnchorKeeper {
  #anchor: ChainAnchor;
  /** Those that questions under way may still be about. */
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
    this.#finals = [...others, final].slice(-KEPT_FINALS);
  }

  /** Whether an endpoint answers at all: what its genesis is, the proof says. */
  readonly check: IdentityCheck = {
    call: GENESIS_CALL,
    read(reply) {
      // An endpoint that forbids the question answers the others all the same.
      if (!reply.ok) return reply.fault.kind === "method" ? undefined : reply.fault;
      return isHash(reply.result) ? undefined : { kind: "transient", message: "getGenesisHash gave no hash" };
    },
  };

  /** The final block goes with requests whose answers name no block; the genesis is asked beside it. */
  readonly proof: ConsistencyCheck = {
    calls: () => {
      const { final, genesisHash } = this.#anchor;
      const calls = final === undefined ? [] : [linkCall(final.slot, "finalized")];
      return genesisHash === undefined ? calls : [...calls, GENESIS_CALL];
    },
    read: (replies, asked) => {
      const [first] = replies;
      const isGenesis = ({ method }: RpcCall) => method === GENESIS_CALL.method;
      const wrong = this.#compareGenesis(replies[asked.findIndex(isGenesis)]);
      // A block's answer does not name its slot: only the question tells which final block it is held against.
      const final = this.#finals.find(
        ({ slot }) => asked[0]?.method === "getBlock" && slot === asked[0].params[0],
      );
      if (wrong !== undefined || final === undefined || first === undefined) return wrong;
      const link = readFirst([first], (result) => readLink(result, final.slot));
      if (!("value" in link) || link.value.blockhash === final.blockhash) return undefined;
      return contradiction(`it has block ${link.value.blockhash}, and ${inWords(final)}`);
    },
    checkFurther: async (ask) => {
      const { final } = this.#anchor;
      const fault = final && (await findSkipped(final, ask));
      if (fault !== undefined || this.#anchor.genesisHash !== undefined) return fault;
      const [reply] = await ask([GENESIS_CALL]);
      if (reply?.ok && isHash(reply.result) && this.#anchor.genesisHash === undefined)
        this.#anchor = { ...this.#anchor, genesisHash: reply.result };
      return this.#compareGenesis(reply);
    },
  };

  #compareGenesis(reply: RpcResponse | undefined): Fault | undefined {
    const { genesisHash: expected } = this.#anchor;
    if (reply?.ok !== true || !isHash(reply.result) || expected === undefined) return undefined;
    if (reply.result === expected) return undefined;
    return contradiction(`wrong cluster: genesis hash ${reply.result} where ${expected} is expected`);
  }
}

/**
 * Whether an endpoint serves a chain that skipped the final slot: the block after it proves that. An endpoint that is
 * behind, has pruned the slot or does not answer contradicts nothing.
 */
async function findSkipped(final: FinalBlock, ask: Ask): Promise<Fault | undefined> {
  const { slot, blockhash } = final;
  const link = readFirst(await ask([linkCall(slot, "finalized")]), (result) => readLink(result, slot));
  if ("value" in link || link.fault.kind !== "missing") return undefined;
  const span = [slot + 1, slot + LOOK_AHEAD] as const;
  const listed = readFirst(await ask([producedCall(span, "finalized")]), (result) => readSlots(result, span));
  const next = "value" in listed ? listed.value[0] : undefined;
  if (next === undefined) return undefined;
  const after = readFirst(await ask([linkCall(next, "finalized")]), (result) => readLink(result, next));
  if (!("value" in after)) return undefined;
  const { parentSlot, previousBlockhash } = after.value;
  if (parentSlot > slot || (parentSlot === slot && previousBlockhash === blockhash)) return undefined;
  return contradiction(
    `its slot ${next} follows on slot ${parentSlot} (${previousBlockhash}), and ${inWords(final)}`,
  );
}

function inWords({ slot, blockhash }: FinalBlock): string {
  return `block ${blockhash} in slot ${slot} is final in the index`;
}

function contradiction(message: string): Fault {
  return { kind: "contradicts", message };
}
