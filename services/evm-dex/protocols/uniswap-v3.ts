import { type SwapAmounts, sideIn, swapFeeUsd } from "../metrics/usd.ts";
import { byFee } from "./identity.ts";
import type { Protocol } from "./protocol.ts";
import { poolCreated } from "./v3/decode/factory.ts";
import { uniswapDecoders } from "./v3/decode/pool.ts";
import type { V3Event } from "./v3/events.ts";
import { readAnchor, v3 } from "./v3/protocol.ts";
import type { V3State } from "./v3/state.ts";

/** Uniswap v3 and every fork with its events, slot0 and protocol fee. */
export const uniswapV3: Protocol<V3State, V3Event> = {
  ...v3,
  kind: "uniswap-v3",
  created: poolCreated,
  identity: byFee,
  decoders: uniswapDecoders,
  feeUsd: (swap, { state, pool }) =>
    swapFeeUsd(swap, { fee: pool.fee, protocolShare: shareOf(swap, state.feeProtocol) }),
  anchor: (results, balances) => readAnchor(results, { balances, words: 7, feeProtocolAt: 5 }),
};

/** The protocol's share of the fee: 1/n, 0 when it takes none. Source: UniswapV3Pool.swap. */
function shareOf(swap: SwapAmounts, feeProtocol: number): number {
  const n = sideIn(swap) === 0 ? feeProtocol % 16 : feeProtocol >> 4;
  return n === 0 ? 0 : 1 / n;
}
