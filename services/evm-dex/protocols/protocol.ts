import type { EthCall, Hex } from "../../shared/evm/port.ts";
import type { LpPosition } from "../metrics/lp-position.ts";
import type { SwapAmounts } from "../metrics/usd.ts";

/** Which events and getters a factory's pools have. The DEX of a pool is its factory's, never its events'. */
export const KINDS = ["uniswap-v3", "pancake-v3", "slipstream", "aerodrome-v2"] as const;
export type Kind = (typeof KINDS)[number];

export interface Log {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

/** An event's signature hash and its reading. */
export interface Decoder<E> {
  readonly topic: Hex;
  /** Topics beside topic 0, and data words: a log of another form is not this event. */
  readonly indexed: number;
  readonly words: number;
  decode(log: Log): E;
}

/** What a factory says of a pool it creates. */
export interface PoolCreatedEvent {
  readonly pool: string;
  readonly token0: string;
  readonly token1: string;
  /** Hundredths of a bip; null where the factory keeps it elsewhere (`tier`). */
  readonly fee: number | null;
  readonly tickSpacing: number;
  /** A v2 pool on the stable curve; absent for all others. */
  readonly stable?: boolean;
}

/** How a pool tells what its factory said when it created it: for a pool whose creation was not seen. */
export interface Identity {
  /** Of the pool: its tokens, and what tells it from other pools of the two. */
  calls(pool: string, block: number): readonly EthCall[];
  /** PoolCreated as it must have been; undefined where the answers are none. */
  read(pool: string, answers: readonly (Hex | null | undefined)[]): PoolCreatedEvent | undefined;
  /** Of the factory: the pool it has for these facts; a word of zeros before it created it. */
  getPool(created: PoolCreatedEvent, at: { factory: string; block: number }): EthCall;
}

/** Any protocol's event. Swaps are called "swap" by all; the rest is each protocol's own. */
export interface PoolEvent {
  readonly kind: string;
}

/** An event of another contract that names the pool it is about. */
export interface EventForPool<E> {
  readonly pool: string;
  readonly event: E;
}

/** What a protocol needs of a pool's row. */
export interface PoolFacts {
  readonly poolAddress: string;
  /** Its factory. */
  readonly dexAddress: string;
  readonly token0Address: string;
  readonly token1Address: string;
  readonly token0Decimals: number;
  readonly token1Decimals: number;
  /** Hundredths of a bip. */
  readonly fee: number;
  readonly stable: boolean;
}

/** An amount a side, raw units. */
export interface RawPair {
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** The same in whole tokens. */
export interface TokenPair {
  readonly amount0: number;
  readonly amount1: number;
}

/** The fee that a factory keeps for all pools of a tier. */
export interface FeeTier {
  call(created: PoolCreatedEvent, at: { factory: string; block: number }): EthCall;
  /** What the answer counts in, hundredths of a bip. */
  readonly unit: number;
  /** Whether it may change: then it is asked as of the pool's creation. */
  readonly mayChange: boolean;
}

/** A pool's gauge, which pays rewards for staked LP tokens, and the voter that created it. */
export interface GaugeFacts {
  readonly gauge: string;
  readonly voter: string;
}

export interface GaugeEvents<E extends PoolEvent> {
  /** The voter's, of a new gauge. */
  readonly created: Decoder<EventForPool<E & { readonly gauge: string }>>;
  /** The voter's, of a gauge that is there. */
  readonly voter: readonly Decoder<E & { readonly gauge: string }>[];
  /** The gauge's own. */
  readonly own: readonly Decoder<E>[];
}

/** Fees of one swap, raw units. */
export interface SwapFees extends RawPair {
  /** LP tokens that share them. */
  readonly totalSupply: bigint;
}

/** A wallet whose position an event changes. */
export interface PositionChange {
  readonly wallet: string;
  /** The position after the event, of the one before it. */
  after(position: LpPosition): LpPosition;
}

/** Pools whose shares are ERC-20 tokens: who holds them is kept. */
export interface LpTokens<S, E extends PoolEvent> {
  /** The pool's Transfer. Every token of the chain emits its topic: asked for by address, never by topic alone. */
  readonly transfer: Decoder<E>;
  /** An event of `decoders` that a Transfer of new or old LP tokens always goes with. */
  needsTransfer(event: E): boolean;
  /** LP tokens there are, raw units. */
  supply(state: S): bigint;
  supplyCall(poolAddress: string, block: number): EthCall;
  /** Whether of so many some can move. Where none can, a mint comes first. */
  isMovable(supply: bigint): boolean;
  /** The positions an event changes, with the state after it. */
  changes(event: E, options: { state: S; pool: PoolFacts }): readonly PositionChange[];
  /** The calls that tell what a wallet holds at a block, and has staked in the pool's gauge. */
  anchorCalls(wallet: string, at: { state: S; pool: PoolFacts; block: number }): readonly EthCall[];
  /** A position older than the index, of their answers and the pool's state before its first indexed event. */
  anchor(answers: readonly (Hex | null | undefined)[], pool: S): LpPosition;
}

/**
 * All that tells one kind of pool from another, as functions without I/O. The rest of the service calls a pool's state
 * S and never looks into it: what a pool's events alone tell of it, whole after every event, so that its text in the
 * last row up to a block is the state at that block.
 */
export interface Protocol<S = unknown, E extends PoolEvent = PoolEvent> {
  readonly kind: Kind;
  readonly generation: "v2" | "v3";
  /** The factory's event. */
  readonly created: Decoder<PoolCreatedEvent>;
  readonly identity: Identity;
  /** The pool's events. */
  readonly decoders: readonly Decoder<E>[];
  /** The factory's events about one of its pools. */
  readonly factoryDecoders?: readonly Decoder<EventForPool<E>>[];
  readonly gauges?: GaugeEvents<E>;
  readonly lpTokens?: LpTokens<S, E>;
  /** Whether TVL stands on what the events say of the reserves, or on balanceOf. */
  readonly tvlSource: "reserves" | "balances";
  /** A pool before its first event. */
  initialState(pool: PoolFacts): S;
  /** `time` is the block's. */
  apply(state: S, event: E, time: number): S;
  /** An event that needs no row where a later one of its pool in the same block has one: that row has its state. */
  isSuperseded(event: E): boolean;
  /** What an event moves into the pool; negative: out of it. */
  moved(event: E): RawPair;
  /** Ticks a swap crossed from the state before it; 0 where there are no ticks or no price before. */
  tickTravel(before: S, event: E): number;
  /** token1 per token0, whole tokens; undefined before there is a price. */
  price(state: S, pool: PoolFacts): number | undefined;
  /** What stands behind the price on either side. */
  depth(state: S, pool: PoolFacts): TokenPair;
  /** What the pool holds by its events. */
  reserves(state: S): RawPair;
  /** What a swap was worth; null where a needed price is unknown. */
  valueUsd(swap: SwapAmounts): number | null;
  /**
   * What the liquidity providers earned by a swap and the state it led to; null where a needed price is unknown, or
   * where events do not tell it.
   */
  feeUsd(swap: SwapAmounts, options: { event: E; state: S; pool: PoolFacts }): number | null;
  /** The fees of the swap that led to a state, of pools whose hours and days are kept in tokens (metrics/v2-bucket.ts). */
  swapFees?(state: S): SwapFees;
  write(state: S): string;
  read(text: string): S;
  /** The calls that tell the state of a pool older than the index, at one block. */
  anchorCalls(pool: PoolFacts, block: number, gauge?: GaugeFacts): readonly EthCall[];
  /** The state that their answers give with the pool's balances (zeros where TVL needs none); undefined where they give none. */
  anchor(answers: readonly (Hex | null | undefined)[], balances: RawPair, gauge?: GaugeFacts): S | undefined;
  /** What of a state the pool itself tells when asked by anchorCalls, by name: for auditing rows against the chain. */
  auditValues(state: S): Readonly<Record<string, bigint | number>>;
  /** The state where only balances are to be had: the price is unknown until an event tells it. */
  stateFromBalances(balances: RawPair): S;
  /** Where PoolCreated tells no fee: how the factory does. */
  readonly tier?: FeeTier;
  /** Where the fee changes without an event of the pool: the pool's call that tells the one in force. */
  readonly feeCall?: (pool: string, block: number) => EthCall;
}

/** Whether a log has as many topics and data words as its event: the decoders read without further checks. */
export function matchesDecoder(log: Log, decoder: Pick<Decoder<unknown>, "indexed" | "words">): boolean {
  return log.topics.length === decoder.indexed + 1 && log.data.length === 2 + 64 * decoder.words;
}

/** One lookup by topic over decoders: the event of a log, or undefined where the log is none (another event, or another form under the same topic). */
export function createDecoder<E>(decoders: readonly Decoder<E>[]): (log: Log) => E | undefined {
  const byTopic = new Map<string, Decoder<E>>(decoders.map((decoder) => [decoder.topic, decoder]));
  return (log) => {
    const decoder = byTopic.get(log.topics[0] ?? "");
    return decoder !== undefined && matchesDecoder(log, decoder) ? decoder.decode(log) : undefined;
  };
}
