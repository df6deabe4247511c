import {
  encodeAggregate3,
  type InnerResult,
  tryDecodeAggregate3,
} from "../../../shared/evm/multicall/abi.ts";
import type { EthCall, EvmSource, Hex } from "../../../shared/evm/port.ts";
import { StateHorizon, type StateHorizonOptions } from "./state-horizon.ts";

/** Blocks behind the head whose state every node has. */
export const RECENT_BLOCKS = 64;
/** Most calls in one eth_call of a block. */
const MOST_TOGETHER = 100;
/** So many calls at older blocks are worth asking first whether a node has these. */
const MANY_OLD = 20;

export interface PastCallsOptions extends StateHorizonOptions {
  /** Multicall3 on this chain. */
  readonly address: Hex;
}

/**
 * Calls at many blocks, as an absence leaves them: the calls of a block go together through Multicall3, and blocks whose state
 * no endpoint has are not asked. The results are those of each call alone: what fails in company is asked again by itself.
 */
export class PastCalls {
  readonly #source: Pick<EvmSource, "call">;
  readonly #address: Hex;
  readonly #horizon: StateHorizon;
  /** A block at which Multicall3 was not deployed. */
  #absentAt = -1;

  constructor(options: PastCallsOptions) {
    this.#source = options.source;
    this.#address = options.address;
    this.#horizon = new StateHorizon(options);
  }

  /** As EvmSource.call. @param head the chain's */
  async call(calls: readonly EthCall[], head: number): Promise<(Hex | null)[]> {
    const oldest = await this.#oldest(calls, head);
    const outputs = new Map<EthCall, Hex | null>();
    const alone: EthCall[] = [];
    const groups: EthCall[][] = [];
    for (const group of byBlock(calls.filter(({ block }) => block >= oldest))) {
      if (group.length === 1 || (group[0] as EthCall).block <= this.#absentAt) alone.push(...group);
      else groups.push(group);
    }
    const returned = await this.#ask(groups.map((group) => this.#join(group)));
    for (const [i, group] of groups.entries()) {
      const results = this.#split(group, returned[i] ?? null);
      for (const [at, call] of group.entries()) {
        const result = results?.[at];
        if (result?.success && result.data !== "0x") outputs.set(call, result.data);
        else alone.push(call);
      }
    }
    const again = await this.#ask(alone);
    for (const [i, call] of alone.entries()) outputs.set(call, again[i] ?? null);
    return calls.map((call) => outputs.get(call) ?? null);
  }

  async #ask(calls: readonly EthCall[]): Promise<(Hex | null)[]> {
    return calls.length === 0 ? [] : this.#source.call(calls);
  }

  /** The oldest block whose calls are asked. */
  async #oldest(calls: readonly EthCall[], head: number): Promise<number> {
    const old = calls.filter(({ block }) => head - block >= RECENT_BLOCKS);
    if (old.length < MANY_OLD) return 0;
    const blocks = [...new Set(old.map(({ block }) => block))].sort((a, b) => b - a);
    return Math.min(head - RECENT_BLOCKS + 1, await this.#horizon.oldest(blocks, head));
  }

  /** One call for those of a block. */
  #join(group: readonly EthCall[]): EthCall {
    const { block, blockHash } = group[0] as EthCall;
    return {
      to: this.#address,
      data: encodeAggregate3(group),
      block,
      ...(blockHash !== undefined && { blockHash }),
    };
  }

  #split(group: readonly EthCall[], returned: Hex | null): InnerResult[] | undefined {
    if (returned === "0x") this.#absentAt = Math.max(this.#absentAt, (group[0] as EthCall).block);
    return returned === null ? undefined : tryDecodeAggregate3(returned, group.length);
  }
}

/** Calls of one block and hash, at most MOST_TOGETHER. */
function byBlock(calls: readonly EthCall[]): EthCall[][] {
  const open = new Map<string, EthCall[]>();
  const groups: EthCall[][] = [];
  for (const call of calls) {
    const key = `${call.block} ${call.blockHash ?? ""}`;
    const group = open.get(key);
    if (group !== undefined && group.length < MOST_TOGETHER) group.push(call);
    else {
      const first = [call];
      open.set(key, first);
      groups.push(first);
    }
  }
  return groups;
}
