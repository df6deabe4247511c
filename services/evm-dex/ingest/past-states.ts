import type { EvmSource } from "../../shared/chain/evm/port.ts";
import { protocolOf } from "../protocols/index.ts";
import type { RawPair } from "../protocols/protocol.ts";
import type { PoolRow } from "../store/collections.ts";
import { balanceCalls, readBalance } from "./balances.ts";

/** What a pool was and held at a block, by its own word and its tokens'. */
export interface PastState {
  readonly state: unknown;
  readonly balances: RawPair;
}

/** One request for many pools, each at a block of its own; undefined where the node lacks that state or part of it. */
export async function askStates(
  source: EvmSource,
  wanted: readonly { row: PoolRow; block: number }[],
): Promise<(PastState | undefined)[]> {
  if (wanted.length === 0) return [];
  const asked = wanted.map(({ row, block }) => [
    ...balanceCalls(row, block),
    ...protocolOf(row.protocol).anchorCalls(row, block),
  ]);
  const answers = await source.call(asked.flat());
  let at = 0;
  return wanted.map(({ row }, i) => {
    const [first, second, ...own] = answers.slice(at, at + (asked[i]?.length ?? 0));
    at += asked[i]?.length ?? 0;
    const [amount0, amount1] = [readBalance(first), readBalance(second)];
    if (amount0 === null || amount1 === null) return undefined;
    const balances = { amount0, amount1 };
    const state = protocolOf(row.protocol).anchor(own, balances);
    return state === undefined ? undefined : { state, balances };
  });
}
