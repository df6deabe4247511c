import { toWholeTokens } from "../metrics/pool-price.ts";
import { pairUsd, v2SwapUsd } from "../metrics/v2-usd.ts";
import {
  initialV2State,
  readV2Anchor,
  readV2Position,
  v2AnchorCalls,
  v2AuditValues,
  v2DefaultFeeCalls,
  v2PositionCalls,
  v2SupplyCall,
  v2Tier,
} from "./aerodrome-v2/anchor.ts";
import { applyV2 } from "./aerodrome-v2/apply.ts";
import { poolCreated, setCustomFee } from "./aerodrome-v2/decode/factory.ts";
import { gaugeDecoders } from "./aerodrome-v2/decode/gauge.ts";
import { poolDecoders, transfer } from "./aerodrome-v2/decode/pool.ts";
import { gaugeCreated, gaugeKilled, gaugeRevived } from "./aerodrome-v2/decode/voter.ts";
import type { V2Event } from "./aerodrome-v2/events.ts";
import { MINIMUM_LIQUIDITY, positionChanges } from "./aerodrome-v2/positions.ts";
import { readV2Point, v2Depth, v2Price } from "./aerodrome-v2/price.ts";
import { EMPTY_V2_STATE, readV2State, type V2State, writeV2State } from "./aerodrome-v2/state.ts";
import { byCurve } from "./identity.ts";
import type { Protocol, RawPair } from "./protocol.ts";

/** Aerodrome's (Velodrome v2's) volatile and stable pools, their fees, gauges and LP tokens. */
export const aerodromeV2: Protocol<V2State, V2Event> = {
  kind: "aerodrome-v2",
  generation: "v2",
  tvlSource: "reserves",
  created: poolCreated,
  identity: byCurve,
  decoders: poolDecoders,
  factoryDecoders: [setCustomFee],
  gauges: { created: gaugeCreated, voter: [gaugeKilled, gaugeRevived], own: gaugeDecoders },
  lpTokens: {
    transfer,
    needsTransfer: ({ kind }) =>
      kind === "mint" || kind === "burn" || kind === "deposit" || kind === "withdraw",
    supply: ({ totalSupply }) => totalSupply,
    supplyCall: v2SupplyCall,
    isMovable: (supply) => supply > MINIMUM_LIQUIDITY,
    changes: (event, { state, pool }) => positionChanges(event, { state, poolAddress: pool.poolAddress }),
    anchorCalls: v2PositionCalls,
    anchor: readV2Position,
  },
  tier: v2Tier,
  defaultFeeCalls: v2DefaultFeeCalls,
  initialState: initialV2State,
  apply: applyV2,
  // A swap is three events (Fees, Sync, Swap), a mint four (two Transfers, Sync, Mint): only the last one gets a row.
  isSuperseded: ({ kind }) => kind === "fees" || kind === "sync" || kind === "transfer" || kind === "claim",
  moved: movedInto,
  tickTravel: () => 0,
  price: v2Price,
  depth: v2Depth,
  readPoint: readV2Point,
  reserves: ({ reserve0, reserve1 }) => ({ amount0: reserve0, amount1: reserve1 }),
  valueUsd: v2SwapUsd,
  feeUsd: (swap, { state, pool }) =>
    pairUsd({
      ...swap,
      amount0: toWholeTokens(state.swapFee0, pool.token0Decimals),
      amount1: toWholeTokens(state.swapFee1, pool.token1Decimals),
    }),
  swapFees: ({ swapFee0, swapFee1, totalSupply }) => ({
    amount0: swapFee0,
    amount1: swapFee1,
    totalSupply,
  }),
  write: writeV2State,
  read: readV2State,
  anchorCalls: v2AnchorCalls,
  anchor: (results, _balances, gauge) => readV2Anchor(results, gauge),
  auditValues: v2AuditValues,
  stateFromBalances: ({ amount0, amount1 }) => ({ ...EMPTY_V2_STATE, reserve0: amount0, reserve1: amount1 }),
};

/** Counts the fee of a swap as moved in, though it leaves the pool at once: volumes include it. */
function movedInto(event: V2Event): RawPair {
  switch (event.kind) {
    case "swap":
      return {
        amount0: event.amount0In - event.amount0Out,
        amount1: event.amount1In - event.amount1Out,
      };
    case "mint":
      return { amount0: event.amount0, amount1: event.amount1 };
    case "burn":
      return { amount0: -event.amount0, amount1: -event.amount1 };
    default:
      return { amount0: 0n, amount1: 0n };
  }
}
