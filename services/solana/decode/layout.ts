/**
 * Layouts of exchange programs, as data. An instruction is known by its program and its discriminator together:
 * programs share discriminators. Account positions are those of the program's own IDL or source.
 */
import type { Dex } from "./model.ts";

/**
 * - `rebalance` takes liquidity out and puts it in within one instruction: what left the vaults is a removal (leg 0),
 *   what came into them an addition (leg 1).
 */
export type Effect = "trade" | "add_liquidity" | "remove_liquidity" | "rebalance";

/** A pool's side that is not a token account: the lamports of an account that the program owns. */
export interface NativeSide {
  readonly account: number;
  /** Position of the quote mint: lamports move only if it is wrapped SOL. Without it, always. */
  readonly quoteMint?: number;
  /**
   * The curve keeps fees among what it receives, and a buy can exceed it into the pool that follows: both sides of the
   * trade come from its event.
   */
  readonly usesEventAmounts?: boolean;
}

export interface PoolLayout {
  readonly pool: number;
  /** Token accounts that hold the pool's tokens; only one where the instruction names no other. */
  readonly vaults: readonly [number] | readonly [number, number];
  /** In place of the second vault. */
  readonly native?: NativeSide;
}

/** Pools named in groups of the trailing accounts, positions counted from the start of a group. */
export interface RouteLayout extends PoolLayout {
  readonly firstAccount: number;
  readonly groupSize: number;
  /** Groups follow one another, up to the last account. Else other accounts lie between them, at unknown positions. */
  readonly isContiguous?: boolean;
}

/** An amount in an event: a little-endian u64 at a byte offset after the event's discriminator. */
export interface EventAmount {
  readonly offset: number;
  /** Further u64 that add up with it to what the vault moved. */
  readonly addedOffsets?: readonly number[];
  /**
   * u64 by whose sum, or that of some of them, the vault's amount may differ: transfer fees, or shares of the fee that
   * some versions leave in the vault. Those beyond the event's end do not count.
   */
  readonly toleranceOffsets?: readonly number[];
}

export interface EventLayout {
  readonly name: string;
  /** Hex; of a ray_log its first byte. */
  readonly discriminator: string;
  readonly amounts: readonly [EventAmount, EventAmount];
  /** What the first amount is: what went in, or what the first vault moved; "any" if the position does not decide. */
  readonly order: "in-out" | "vaults" | "any";
}

export interface InstructionLayout {
  readonly name: string;
  /** Hex of the first bytes of the data: eight of an Anchor program, one of Raydium AMM v4. */
  readonly discriminator: string;
  readonly effect: Effect;
  /** Position of the account that trades or provides. */
  readonly user: number;
  /** One leg each, in order. */
  readonly pools: readonly PoolLayout[];
  readonly route?: RouteLayout;
  /** The layout fits the instruction with exactly so many accounts; one without a count fits all others. */
  readonly accountCount?: number;
  /** The pool's vaults in an order book: what comes from them is the pool's own already, no part of a trade. */
  readonly orderBookVaults?: readonly number[];
  /** Byte offset in the data of a u128 that is 0 when the instruction only collects fees. */
  readonly liquidityOffset?: number;
  readonly event?: EventLayout;
}

export interface ProgramLayout {
  /** As in facts. */
  readonly name: string;
  readonly dex: Dex;
  readonly address: string;
  /** How the program emits events: a call of itself, `Program data:` in the log, or Raydium's `ray_log:`. */
  readonly events: "cpi" | "log" | "ray_log";
  /** Pools keep their tokens in vaults that others use too: a vault's balance is not the pool's. */
  readonly areVaultsShared?: boolean;
  readonly instructions: readonly InstructionLayout[];
}
