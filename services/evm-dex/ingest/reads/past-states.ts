import type { EthCall, EvmSource } from "../../../shared/evm/port.ts";
import { protocolOf } from "../../protocols/index.ts";
import type { GaugeFacts, RawPair } from "../../protocols/protocol.ts";
import type { PoolRow } from "../../store/collections.ts";
import { balanceCalls, readBalance } from "./balances.ts";

/** A pool at a block, and its gauge at that block. */
export interface PoolAtBlock {
  readonly row: PoolRow;
  readonly block: number;
  readonly gauge?: GaugeFacts | undefined;
}

/** A pool's state and balances at a block, by its getters and its tokens. */
export interface PastState {
  readonly state: unknown;
  readonly balances: RawPair;
}

/**
 * Reads many pools in one request, each at a block of its own; undefined where the node lacks that state or a part of
 * it.
 */
export async function readPastStates(
  source: EvmSource,
  wanted: readonly PoolAtBlock[],
): Promise<(PastState | undefined)[]> {
  if (wanted.length === 0) return [];
  const calls = wanted.map(pastStateCalls);
  const results = await source.call(calls.flat());
  let at = 0;
  return wanted.map((pool, i) => {
    const own = results.slice(at, at + (calls[i]?.length ?? 0));
    at += own.length;
    return parsePastState(pool, own);
  });
}

export function pastStateCalls({ row, block, gauge }: PoolAtBlock): readonly EthCall[] {
  const { tvlSource: tvlOf, anchorCalls } = protocolOf(row.protocol);
  return [...(tvlOf === "balances" ? balanceCalls(row, block) : []), ...anchorCalls(row, block, gauge)];
}

/** The state from the results of pastStateCalls; undefined where a part is missing. */
export function parsePastState(
  { row, gauge }: Omit<PoolAtBlock, "block">,
  results: readonly (`0x${string}` | null)[],
): PastState | undefined {
  const protocol = protocolOf(row.protocol);
  if (protocol.tvlSource === "reserves") {
    const state = protocol.anchor(results, { amount0: 0n, amount1: 0n }, gauge);
    return state === undefined ? undefined : { state, balances: protocol.reserves(state) };
  }
  const [first, second, ...own] = results;
  const [amount0, amount1] = [readBalance(first), readBalance(second)];
  if (amount0 === null || amount1 === null) return undefined;
  const balances = { amount0, amount1 };
  const state = protocol.anchor(own, balances, gauge);
  return state === undefined ? undefined : { state, balances };
}
