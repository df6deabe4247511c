import { LRUCache } from "lru-cache";
import { Multicall, type PinnedCalls } from "../../../shared/evm/multicall/multicall.ts";
import {
  BlockUnavailable,
  CallTooHeavy,
  type EthCall,
  type EvmSource,
  type Hex,
} from "../../../shared/evm/port.ts";
import { PastCalls, RECENT_BLOCKS } from "./past-calls.ts";

/** What reads of state need of a source. */
export type StateSource = Pick<EvmSource, "call">;

export interface BlockStatesOptions {
  readonly source: EvmSource;
  /** Multicall3 on this chain. */
  readonly address: Hex;
}

/** The head, and the hashes of blocks before it as far as they are known. */
export interface ReadAt {
  readonly head: number;
  readonly hashOf: (block: number) => string | undefined;
}

/** Calls remembered as reverting everywhere. */
const MAX_REVERTING = 10_000;

/**
 * Reads the state of one block in one eth_call of Multicall3, whoever asks: calls of one turn of the event loop go
 * together, by the block's hash. A call that reverts in it is asked of the other endpoints once.
 */
export class BlockStates {
  readonly #source: EvmSource;
  readonly #multicall: Multicall;
  readonly #past: PastCalls;
  /** The last block read. */
  readonly #pinned = new LRUCache<string, PinnedCalls>({ max: RECENT_BLOCKS });
  readonly #reverting = new LRUCache<string, true>({ max: MAX_REVERTING });

  constructor({ source, address }: BlockStatesOptions) {
    this.#source = source;
    this.#multicall = new Multicall({ source, address });
    this.#past = new PastCalls({ source, address });
  }

  /**
   * A source of states at the head's chain. Calls of blocks without a known hash, and of old ones, whose failure would spoil the
   * batch, go by number, or as they are named (PastCalls).
   */
  at(at: ReadAt): StateSource {
    return { call: (calls) => this.#call(calls, at) };
  }

  async #call(calls: readonly EthCall[], { head, hashOf }: ReadAt): Promise<(Hex | null)[]> {
    const isTogether = calls.map(({ block }) => head - block < RECENT_BLOCKS && hashOf(block) !== undefined);
    const [together, alone] = await Promise.all([
      this.#callTogether(
        calls.filter((_, i) => isTogether[i]),
        hashOf,
      ),
      this.#past.call(
        calls.filter((_, i) => !isTogether[i]),
        head,
      ),
    ]);
    return isTogether.map((is) => (is ? together : alone).shift() ?? null);
  }

  #callAlone(calls: readonly EthCall[]): Promise<(Hex | null)[]> {
    return calls.length === 0 ? Promise.resolve([]) : this.#source.call(calls);
  }

  async #callTogether(calls: readonly EthCall[], hashOf: ReadAt["hashOf"]): Promise<(Hex | null)[]> {
    try {
      const outputs = await Promise.all(
        calls.map(({ to, data, block }) =>
          this.#pinnedAt({ number: block, hash: hashOf(block) as Hex }).call(to, data),
        ),
      );
      return await this.#confirmReverts(calls, outputs);
    } catch (error) {
      if (!(error instanceof BlockUnavailable) && !(error instanceof CallTooHeavy)) throw error;
      return this.#callAlone(calls.map(({ blockHash, ...byNumber }) => byNumber));
    }
  }

  #pinnedAt(block: { number: number; hash: Hex }): PinnedCalls {
    const known = this.#pinned.get(block.hash);
    if (known !== undefined) return known;
    const pinned = this.#multicall.at(block);
    this.#pinned.set(block.hash, pinned);
    return pinned;
  }

  async #confirmReverts(calls: readonly EthCall[], outputs: (Hex | null)[]): Promise<(Hex | null)[]> {
    const doubtful = calls.flatMap((call, i) =>
      outputs[i] === null && !this.#reverting.has(call.to + call.data) ? [i] : [],
    );
    const again = await this.#callAlone(
      doubtful.map((i) => ({ ...(calls[i] as EthCall), confirmRevert: true })),
    );
    for (const [at, i] of doubtful.entries()) {
      const { to, data } = calls[i] as EthCall;
      outputs[i] = again[at] ?? null;
      if (outputs[i] === null || outputs[i] === "0x") this.#reverting.set(to + data, true);
    }
    return outputs;
  }
}
