import { encodeCall, readInt, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { poolPrice, type RawAmount, toWholeTokens, virtualReserves } from "../../metrics/pool-price.ts";
import { swapValueUsd } from "../../metrics/usd.ts";
import { readFloats } from "../integers.ts";
import type { PoolFacts, PriceFacts, Protocol, StatePoint, TokenPair } from "../protocol.ts";
import type { V3Event } from "./events.ts";
import { applyEvent, EMPTY_STATE, movedInto, readState, type V3State, writeState } from "./state.ts";

const SLOT0 = encodeCall("0x3850c7bd");
const LIQUIDITY = encodeCall("0x1a686502");

/** Members that each protocol defines itself. */
type ProtocolSpecific =
  | "kind"
  | "created"
  | "identity"
  | "decoders"
  | "factoryDecoders"
  | "gauges"
  | "lpTokens"
  | "tier"
  | "feeCall"
  | "swapFees"
  | "feeUsd"
  | "anchor";

/** What all concentrated-liquidity pools have in common, whatever their factory and their fees. */
export const v3: Omit<Protocol<V3State, V3Event>, ProtocolSpecific> = {
  generation: "v3",
  tvlSource: "balances",
  initialState: () => EMPTY_STATE,
  apply: applyEvent,
  isSuperseded: () => false,
  moved: movedInto,
  tickTravel: (before, event) =>
    event.kind === "swap" && before.sqrtPriceX96 !== 0n ? Math.abs(event.tick - before.tick) : 0,
  price: ({ sqrtPriceX96 }, pool) => (sqrtPriceX96 === 0n ? undefined : priceOf(sqrtPriceX96, pool)),
  depth: depthOf,
  readPoint,
  reserves: ({ reserve0, reserve1 }) => ({ amount0: reserve0, amount1: reserve1 }),
  valueUsd: swapValueUsd,
  write: writeState,
  read: readState,
  anchorCalls: ({ poolAddress }, block) => [
    { to: poolAddress as Hex, data: SLOT0, block },
    { to: poolAddress as Hex, data: LIQUIDITY, block },
  ],
  auditValues: ({ sqrtPriceX96, liquidity, tick, feeProtocol }) => ({
    sqrtPriceX96,
    liquidity,
    tick,
    feeProtocol,
  }),
  stateFromBalances: ({ amount0, amount1 }) => ({ ...EMPTY_STATE, reserve0: amount0, reserve1: amount1 }),
};

/** The integers that price and depth follow from. */
interface Liquidity {
  readonly sqrtPriceX96: RawAmount;
  readonly liquidity: RawAmount;
  readonly reserve0: RawAmount;
  readonly reserve1: RawAmount;
}

/**
 * The smaller of the pool's holdings and its virtual reserves: liquidity packed into a narrow range cannot fake the
 * former, tokens parked far from the price cannot fake the latter.
 */
function depthOf(state: Liquidity, { token0Decimals, token1Decimals }: PriceFacts): TokenPair {
  const virtual = virtualReserves(state.sqrtPriceX96, state.liquidity);
  return {
    amount0: Math.min(
      toWholeTokens(state.reserve0, token0Decimals),
      toWholeTokens(virtual.reserve0, token0Decimals),
    ),
    amount1: Math.min(
      toWholeTokens(state.reserve1, token1Decimals),
      toWholeTokens(virtual.reserve1, token1Decimals),
    ),
  };
}

/** A state's integers but the last, in the order of writeState. */
const FLOATS = new Float64Array(5);

function readPoint(text: string, pool: PriceFacts): StatePoint | undefined {
  readFloats(text, FLOATS);
  const sqrtPriceX96 = FLOATS[0] as number;
  if (sqrtPriceX96 === 0) return undefined;
  const [liquidity, reserve0, reserve1] = [FLOATS[1] as number, FLOATS[3] as number, FLOATS[4] as number];
  const { amount0, amount1 } = depthOf({ sqrtPriceX96, liquidity, reserve0, reserve1 }, pool);
  return { price: priceOf(sqrtPriceX96, pool), depth0: amount0, depth1: amount1 };
}

/** token1 per token0, whole tokens. */
export function priceOf(
  sqrtPriceX96: RawAmount,
  pool: Pick<PoolFacts, "token0Decimals" | "token1Decimals">,
): number {
  return poolPrice(sqrtPriceX96, { decimals0: pool.token0Decimals, decimals1: pool.token1Decimals });
}

/**
 * The state from slot0 and liquidity. slot0 returns sqrtPriceX96, tick and the oracle's three counters; a fee protocol
 * may follow (`feeProtocolAt`, as a word), then whether the pool is unlocked.
 */
export function readAnchor(
  results: readonly (Hex | null | undefined)[],
  {
    words,
    feeProtocolAt,
    balances,
  }: { balances: { amount0: bigint; amount1: bigint }; words: number; feeProtocolAt?: number },
): V3State | undefined {
  const [slot0, liquidity] = results;
  if (typeof slot0 !== "string" || slot0.length < 2 + words * 64) return undefined;
  if (typeof liquidity !== "string" || liquidity.length < 66) return undefined;
  return {
    sqrtPriceX96: readUint(slot0, 0),
    tick: readInt(slot0, 1),
    feeProtocol: feeProtocolAt === undefined ? 0 : readInt(slot0, feeProtocolAt),
    liquidity: readUint(liquidity, 0),
    reserve0: balances.amount0,
    reserve1: balances.amount1,
  };
}
