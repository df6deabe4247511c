import type { PoolRow } from "../../store/collections.ts";

/** Input of a V2World, and its output beside rows. */
export interface WorldToken {
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly priceUsd: number | null;
}

export interface WorldPool {
  readonly row: PoolRow;
  readonly token0: WorldToken;
  readonly token1: WorldToken;
  /** At the head, raw units. */
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  readonly fee: number;
  readonly gauge?: { readonly rewardRate: bigint; readonly periodFinish: number };
}

export interface WorldSwap {
  readonly pool: WorldPool;
  readonly time: number;
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly fee0: bigint;
  readonly fee1: bigint;
  readonly valueUsd: number | null;
  readonly feeUsd: number | null;
}

export interface WorldMove {
  readonly pool: WorldPool;
  readonly time: number;
  readonly wallet: string;
  /** LP tokens that come into the wallet, or go out of it; `stake` puts them into the gauge, or takes them out. */
  readonly kind: "transfer" | "stake";
  readonly amount: bigint;
}

/** What a wallet got of one swap's fees, raw units as floats: the textbook's share, at once. */
export interface FeeShare {
  readonly pool: WorldPool;
  readonly wallet: string;
  readonly time: number;
  readonly amount0: number;
  readonly amount1: number;
}
