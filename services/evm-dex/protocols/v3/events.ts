/** What the events of a Uniswap-v3-style pool say. Amounts are raw units; the pool's view is kept. */
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

/** Liquidity added (mint) or taken out of its range (burn; the tokens leave with a later collect). */
export interface LiquidityEvent {
  readonly kind: "mint" | "burn";
  readonly tickLower: number;
  readonly tickUpper: number;
  readonly liquidity: bigint;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

export interface CollectEvent {
  readonly kind: "collect" | "collect_protocol";
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

export type V3Event =
  | InitializeEvent
  | SwapEvent
  | LiquidityEvent
  | CollectEvent
  | FlashEvent
  | SetFeeProtocolEvent;
