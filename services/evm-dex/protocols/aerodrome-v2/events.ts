/** The events of an Aerodrome-v2-style pool, its factory, its voter and its gauge. Amounts are raw units. */
export interface SwapEvent {
  readonly kind: "swap";
  /** What came in, the fee included. */
  readonly amount0In: bigint;
  readonly amount1In: bigint;
  readonly amount0Out: bigint;
  readonly amount1Out: bigint;
}

/** The fee of a swap, before its Sync and its Swap. A swap that takes both tokens in has two. */
export interface FeesEvent {
  readonly kind: "fees";
  readonly amount0: bigint;
  readonly amount1: bigint;
}

export interface SyncEvent {
  readonly kind: "sync";
  readonly reserve0: bigint;
  readonly reserve1: bigint;
}

/** Both tokens paid in (mint) or out (burn); the LP tokens for them move by Transfers of their own. */
export interface LiquidityEvent {
  readonly kind: "mint" | "burn";
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** An LP collected its fees, which had left the pool with the swaps. */
export interface ClaimEvent {
  readonly kind: "claim";
  readonly owner: string;
}

/** LP tokens; from the zero address they are minted, to it burnt. */
export interface TransferEvent {
  readonly kind: "transfer";
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/** The factory's: the fee of one pool in ten-thousandths; 0 = the default again, 420 = none. */
export interface CustomFeeEvent {
  readonly kind: "set_custom_fee";
  readonly fee: number;
}

/** The voter's. A killed gauge takes no deposits and gets no rewards, but pays out what it has. */
export interface GaugeEvent {
  readonly kind: "gauge_created" | "gauge_killed" | "gauge_revived";
  readonly gauge: string;
}

/** The gauge's: LP tokens staked for an owner by any sender, or withdrawn. */
export interface StakeEvent {
  readonly kind: "deposit" | "withdraw";
  readonly owner: string;
  readonly amount: bigint;
}

/** The gauge's: rewards to be paid out until the week's end. */
export interface RewardEvent {
  readonly kind: "notify_reward";
  readonly amount: bigint;
}

export type V2Event =
  | SwapEvent
  | FeesEvent
  | SyncEvent
  | LiquidityEvent
  | ClaimEvent
  | TransferEvent
  | CustomFeeEvent
  | GaugeEvent
  | StakeEvent
  | RewardEvent;
