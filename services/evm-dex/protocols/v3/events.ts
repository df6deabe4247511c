import type { RawPair } from "../protocol.ts";

/** The events of a Uniswap-v3-style pool. Amounts are raw units, positive into the pool. */
export interface InitializeEvent {
  readonly kind: "initialize";
  readonly sqrtPriceX96: bigint;
  readonly tick: number;
}

export interface SwapEvent {
  readonly kind: "swap";
  /** Positive: into the pool. */
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly sqrtPriceX96: bigint;
  readonly liquidity: bigint;
  readonly tick: number;
}

/** PancakeSwap's event has the protocol's part of the fee, by token. */
export interface PancakeSwapEvent extends SwapEvent {
  readonly protocolFees: RawPair;
}

/** Liquidity added (mint) or taken out of its range (burn; the tokens leave with a later collect). */
export interface LiquidityEvent {
  readonly kind: "mint" | "burn";
  readonly tickLower: number;
  readonly tickUpper: number;
  readonly liquidity: bigint;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** Tokens that leave: a position's, the protocol's share of fees, or the gauge's fees. */
export interface CollectEvent {
  readonly kind: "collect" | "collect_protocol" | "collect_fees";
  readonly amount0: bigint;
  readonly amount1: bigint;
}

export interface FlashEvent {
  readonly kind: "flash";
  readonly paid0: bigint;
  readonly paid1: bigint;
}

export interface SetFeeProtocolEvent {
  readonly kind: "set_fee_protocol";
  /** As slot0 packs it: feeProtocol1 << 4 | feeProtocol0. */
  readonly feeProtocol: number;
}

type CommonEvent = InitializeEvent | LiquidityEvent | CollectEvent | FlashEvent;
export type PancakeEvent = CommonEvent | PancakeSwapEvent;
export type SlipstreamEvent = CommonEvent | SwapEvent;
/** Event of any of these pools. */
export type V3Event = CommonEvent | SwapEvent | SetFeeProtocolEvent;
