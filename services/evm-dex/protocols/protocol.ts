import type { EthCall, Hex } from "../../shared/evm/port.ts";
import type { LpPosition } from "../metrics/lp-position.ts";
import type { SwapAmounts } from "../metrics/usd.ts";

/** Kinds of pools, by their events and getters. The factory decides the DEX of a pool, never its events. */
export const KINDS = ["uniswap-v3", "pancake-v3", "slipstream", "aerodrome-v2"] as const;
export type Kind = (typeof KINDS)[number];

export interface Log {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

/** Decodes one event, identified by its signature hash. */
export interface Decoder<E> {
  readonly topic: Hex;
  /** Topics beside topic 0, and data words: a log of another form is not this event. */
  readonly indexed: number;
  readonly words: number;
  decode(log: Log): E;
}

/** A factory's event about a pool that it creates. */
export interface PoolCreatedEvent {
  readonly pool: string;
  readonly token0: string;
  readonly token1: string;
  /** Hundredths of a bip; null where the event lacks it (`tier`). */
  readonly fee: number | null;
  readonly tickSpacing: number;
  /** A v2 pool on the stable curve; absent for all others. */
  readonly stable?: boolean;
}

/** Reconstructs the PoolCreated event of a pool from its getters, where its creation was not seen. */
export interface Identity {
  /** Calls of the pool: its tokens, and what distinguishes it from other pools of the two. */
  calls(pool: string, block: number): readonly EthCall[];
  /** The PoolCreated event; undefined where calls failed. */
  read(pool: string, results: readonly (Hex | null | undefined)[]): PoolCreatedEvent | undefined;
  /** Call of the factory: its pool for these parameters; zero before it created it. */
  getPool(created: PoolCreatedEvent, at: { factory: string; block: number }): EthCall;
}

/** Any protocol's event. All protocols call swaps "swap"; other kinds are specific to a protocol. */
export interface PoolEvent {
  readonly kind: string;
}

/** An event of another contract about a pool. */
export interface EventForPool<E> {
  readonly pool: string;
  readonly event: E;
}

/** The fields of a pool's row that protocols need. */
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

/** Those that its price and its depth need. */
export type PriceFacts = Pick<PoolFacts, "token0Decimals" | "token1Decimals" | "stable">;

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

/** A pool's price, token1 per token0, and the liquidity behind it on either side, in whole tokens. */
export interface StatePoint {
  readonly price: number;
  readonly depth0: number;
  readonly depth1: number;
}

/** A fee that a factory has for all pools of a tier. */
export interface FeeTier {
  call(created: PoolCreatedEvent, at: { factory: string; block: number }): EthCall;
  /** Unit of the returned fee, in hundredths of a bip. */
  readonly unit: number;
  /** Whether it may change: then it is read at the pool's creation. */
  readonly mayChange: boolean;
}

/** The factory's calls for the default fee of volatile pools, and of stable ones, in the unit of the pools' states. */
export type DefaultFeeCalls = (factory: string, block: number) => readonly [EthCall, EthCall];

/** A pool's gauge, which pays rewards for staked LP tokens, and the voter that created it. */
export interface GaugeFacts {
  readonly gauge: string;
  readonly voter: string;
}

interface GaugeEvents<E extends PoolEvent> {
  /** The voter's event of a new gauge. */
  readonly created: Decoder<EventForPool<E & { readonly gauge: string }>>;
  /** The voter's events of existing gauges. */
  readonly voter: readonly Decoder<E & { readonly gauge: string }>[];
  /** The gauge's own events. */
  readonly own: readonly Decoder<E>[];
}

/** Fees of one swap, raw units. */
export interface SwapFees extends RawPair {
  /** LP tokens that share the fees. */
  readonly totalSupply: bigint;
}

/** A wallet whose position an event changes. */
export interface PositionChange {
  readonly wallet: string;
  /** The position after the event, from the one before it. */
  after(position: LpPosition): LpPosition;
}

/** Pools whose shares are ERC-20 tokens: their holders are indexed. */
interface LpTokens<S, E extends PoolEvent> {
  /** The pool's Transfer. Every token of the chain emits its topic: fetched by address, never by topic alone. */
  readonly transfer: Decoder<E>;
  /** Whether an event of `decoders` always comes with a Transfer of LP tokens. */
  needsTransfer(event: E): boolean;
  /** Total supply of LP tokens, raw units. */
  supply(state: S): bigint;
  supplyCall(poolAddress: string, block: number): EthCall;
  /** Whether LP tokens of this supply can move. If not, a mint comes first. */
  isMovable(supply: bigint): boolean;
  /** The positions an event changes, with the state after it. */
  changes(event: E, options: { state: S; pool: PoolFacts }): readonly PositionChange[];
  /** The calls that return a wallet's balance at a block, and its stake in the pool's gauge. */
  anchorCalls(wallet: string, at: { state: S; pool: PoolFacts; block: number }): readonly EthCall[];
  /** A position older than the index, from their results and the pool's state before its first indexed event. */
  anchor(results: readonly (Hex | null | undefined)[], pool: S): LpPosition;
}

/**
 * One kind of pool, as functions without I/O. Only the protocol knows the content of a pool's state S: all that
 * follows from the pool's events alone, complete after every event, so that its text in the last row up to a block is
 * the state at that block.
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
  /** Whether TVL uses the reserves from events, or balanceOf. */
  readonly tvlSource: "reserves" | "balances";
  /** A pool before its first event. */
  initialState(pool: PoolFacts): S;
  /** `time` is the block's. */
  apply(state: S, event: E, time: number): S;
  /** Whether a later event of the pool in the same block supersedes this event's row: that row has its state. */
  isSuperseded(event: E): boolean;
  /** Amounts that an event moves into the pool; negative: out of it. */
  moved(event: E): RawPair;
  /** Ticks a swap crossed from the state before it; 0 where there are no ticks or no price before. */
  tickTravel(before: S, event: E): number;
  /** token1 per token0, whole tokens; undefined before there is a price. */
  price(state: S, pool: PriceFacts): number | undefined;
  /** Liquidity behind the price on either side. */
  depth(state: S, pool: PriceFacts): TokenPair;
  /** Price and depth of a state as `write` writes it, without reading the rest; undefined before there is a price. */
  readPoint(text: string, pool: PriceFacts): StatePoint | undefined;
  /** The pool's holdings by its events. */
  reserves(state: S): RawPair;
  /** Value of a swap in USD; null where a needed price is unknown. */
  valueUsd(swap: SwapAmounts): number | null;
  /**
   * Fees in USD that liquidity providers earned by a swap, given the state after it; null where a needed price is
   * unknown, or where events do not contain the fee.
   */
  feeUsd(swap: SwapAmounts, options: { event: E; state: S; pool: PoolFacts }): number | null;
  /** The fees of the swap that led to a state, of pools whose hours and days are kept in tokens (metrics/v2-bucket.ts). */
  swapFees?(state: S): SwapFees;
  write(state: S): string;
  read(text: string): S;
  /** The calls that return the state of a pool older than the index, at one block. */
  anchorCalls(pool: PoolFacts, block: number, gauge?: GaugeFacts): readonly EthCall[];
  /**
   * The state from their results and the pool's balances (zeros where TVL needs none); undefined where calls failed.
   */
  anchor(results: readonly (Hex | null | undefined)[], balances: RawPair, gauge?: GaugeFacts): S | undefined;
  /** The parts of a state that anchorCalls return, by name, for auditing rows against the chain. */
  auditValues(state: S): Readonly<Record<string, bigint | number>>;
  /** The state where only balances are available: the price is unknown until an event sets it. */
  stateFromBalances(balances: RawPair): S;
  /** How to read the fee from the factory where PoolCreated lacks it. */
  readonly tier?: FeeTier;
  /** Where a factory has default fees that change without an event, for pools without a fee of their own. */
  readonly defaultFeeCalls?: DefaultFeeCalls;
  /** The pool's call for the fee in force, where it changes without an event of the pool. */
  readonly feeCall?: (pool: string, block: number) => EthCall;
}

/** Whether a log has as many topics and data words as its event: decoders do not check that again. */
export function matchesDecoder(log: Log, decoder: Pick<Decoder<unknown>, "indexed" | "words">): boolean {
  return log.topics.length === decoder.indexed + 1 && log.data.length === 2 + 64 * decoder.words;
}

/**
 * One lookup by topic over decoders: the event of a log; undefined for another event, or another form under the same
 * topic.
 */
export function createDecoder<E>(decoders: readonly Decoder<E>[]): (log: Log) => E | undefined {
  const byTopic = new Map<string, Decoder<E>>(decoders.map((decoder) => [decoder.topic, decoder]));
  return (log) => {
    const decoder = byTopic.get(log.topics[0] ?? "");
    return decoder !== undefined && matchesDecoder(log, decoder) ? decoder.decode(log) : undefined;
  };
}
