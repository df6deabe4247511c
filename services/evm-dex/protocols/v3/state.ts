import { readInteger, writeIntegers } from "../integers.ts";
import type { V3Event } from "./events.ts";

/** A Uniswap-v3-style pool's state from its events alone, raw units. */
export interface V3State {
  readonly sqrtPriceX96: bigint;
  /** Active liquidity, that of the positions around the current tick. */
  readonly liquidity: bigint;
  readonly tick: number;
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  /** slot0's packing, of Uniswap's pools alone: feeProtocol1 << 4 | feeProtocol0. */
  readonly feeProtocol: number;
}

export const EMPTY_STATE: V3State = {
  sqrtPriceX96: 0n,
  liquidity: 0n,
  tick: 0,
  reserve0: 0n,
  reserve1: 0n,
  feeProtocol: 0,
};

/**
 * Amounts that an event moved into the pool; negative: out of it. A burn moves nothing: its tokens leave with a
 * collect.
 */
export function movedInto(event: V3Event): { amount0: bigint; amount1: bigint } {
  switch (event.kind) {
    case "swap":
    case "mint":
      return { amount0: event.amount0, amount1: event.amount1 };
    case "collect":
    case "collect_protocol":
    case "collect_fees":
      return { amount0: -event.amount0, amount1: -event.amount1 };
    case "flash":
      return { amount0: event.paid0, amount1: event.paid1 };
    default:
      return { amount0: 0n, amount1: 0n };
  }
}

const MOST = 2n ** 255n;

/**
 * A token that lies about its balances can make events add up to more than any supply: the sum is capped at the
 * store's largest number, instead of stopping the chain's index.
 */
function bounded(reserve: bigint): bigint {
  return reserve > MOST ? MOST : reserve < -MOST ? -MOST : reserve;
}

/**
 * The state after an event. Liquidity changes with mints and burns only where the current tick is in their range. One whole
 * literal for all of them (docs/decisions/0084).
 */
export function applyEvent(state: V3State, event: V3Event): V3State {
  let { sqrtPriceX96, liquidity, tick, feeProtocol } = state;
  switch (event.kind) {
    case "initialize":
      ({ sqrtPriceX96, tick } = event);
      break;
    case "swap":
      ({ sqrtPriceX96, liquidity, tick } = event);
      break;
    case "mint":
    case "burn":
      if (event.tickLower <= tick && tick < event.tickUpper)
        liquidity += event.kind === "mint" ? event.liquidity : -event.liquidity;
      break;
    case "set_fee_protocol":
      ({ feeProtocol } = event);
      break;
  }
  const moved = movedInto(event);
  const reserve0 = bounded(state.reserve0 + moved.amount0);
  const reserve1 = bounded(state.reserve1 + moved.amount1);
  return { sqrtPriceX96, liquidity, tick, reserve0, reserve1, feeProtocol };
}

/** A state as rows store it. */
export function writeState(state: V3State): string {
  const { sqrtPriceX96, liquidity, tick, reserve0, reserve1, feeProtocol } = state;
  return writeIntegers([sqrtPriceX96, liquidity, tick, reserve0, reserve1, feeProtocol]);
}

export function readState(text: string): V3State {
  const [sqrtPriceX96, liquidity, tick, reserve0, reserve1, feeProtocol] = text.split(" ");
  return {
    sqrtPriceX96: readInteger(sqrtPriceX96),
    liquidity: readInteger(liquidity),
    tick: Number.parseInt(tick ?? "0", 16),
    reserve0: readInteger(reserve0),
    reserve1: readInteger(reserve1),
    feeProtocol: Number.parseInt(feeProtocol ?? "0", 16),
  };
}
