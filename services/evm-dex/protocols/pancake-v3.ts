import { sideIn, swapFeeUsd } from "../metrics/usd.ts";
import { byFee } from "./identity.ts";
import type { Protocol } from "./protocol.ts";
import { poolCreated } from "./v3/decode/factory.ts";
import { pancakeDecoders } from "./v3/decode/pool.ts";
import type { PancakeEvent } from "./v3/events.ts";
import { readAnchor, v3 } from "./v3/protocol.ts";
import type { V3State } from "./v3/state.ts";

/**
 * PancakeSwap v3 and its forks: Uniswap v3 with a protocol share in ten-thousandths, a default by fee tier that no
 * event reports. Every swap event has the protocol's fees, so the share itself is not needed. Source:
 * PancakeV3Pool.swap.
 */
export const pancakeV3: Protocol<V3State, PancakeEvent> = {
  ...v3,
  kind: "pancake-v3",
  created: poolCreated,
  identity: byFee,
  decoders: pancakeDecoders,
  feeUsd(swap, { event, pool }) {
    if (event.kind !== "swap") return null;
    const [amountIn, taken] =
      sideIn(swap) === 0
        ? [event.amount0, event.protocolFees.amount0]
        : [event.amount1, event.protocolFees.amount1];
    const fee = (Number(amountIn) * pool.fee) / 1e6;
    // Fees are rounded up in each step: of a few units the protocol can take more than the tier's fee.
    const protocolShare = fee > 0 ? Math.min(1, Number(taken) / fee) : 0;
    return swapFeeUsd(swap, { fee: pool.fee, protocolShare });
  },
  anchor: (results, balances) => readAnchor(results, { balances, words: 7 }),
};
