import { encodeCall } from "../../shared/evm/abi.ts";
import type { Hex } from "../../shared/evm/port.ts";
import { byTickSpacing } from "./identity.ts";
import type { Protocol } from "./protocol.ts";
import { slipstreamPoolCreated } from "./v3/decode/factory.ts";
import { slipstreamDecoders } from "./v3/decode/pool.ts";
import type { SlipstreamEvent } from "./v3/events.ts";
import { readAnchor, v3 } from "./v3/protocol.ts";
import type { V3State } from "./v3/state.ts";

/** fee() of the pool: the fee that the factory's fee module returns at that moment. */
const FEE = encodeCall("0xddca3f43");
/** tickSpacingToFee(int24) of the factory: set once a tick spacing. */
const TICK_SPACING_TO_FEE = "0x380dc1c2";

/**
 * Aerodrome's concentrated liquidity, all generations of its factory: Uniswap v3 by tick spacing instead of fee tier,
 * with liquidity that may be staked in a gauge. Source: CLPool, CLFactory.
 */
export const slipstream: Protocol<V3State, SlipstreamEvent> = {
  ...v3,
  kind: "slipstream",
  created: slipstreamPoolCreated,
  identity: byTickSpacing,
  decoders: slipstreamDecoders,
  // The fee may differ by swap (it follows the price, some senders pay less), and the stakers' part goes to the
  // gauge.
  feeUsd: () => null,
  anchor: (results, balances) => readAnchor(results, { balances, words: 6 }),
  tier: {
    unit: 1,
    mayChange: false,
    call: ({ tickSpacing }, { factory, block }) => ({
      to: factory as Hex,
      data: encodeCall(TICK_SPACING_TO_FEE, [tickSpacing]),
      block,
    }),
  },
  feeCall: (pool, block) => ({ to: pool as Hex, data: FEE, block }),
};
