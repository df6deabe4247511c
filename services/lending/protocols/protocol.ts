import type { Hex, RawLog } from "../../shared/evm/port.ts";
import type { ProtocolId } from "./protocol-id.ts";
import type { LendingRow } from "./rows.ts";

/**
 * One thing that has a state of its own on the chain: an Aave market, one of its reserves, a vault, a Morpho market.
 * `kind` belongs to one protocol and `id` (lower case) is unique within kind and chain.
 */
export interface UnitRef {
  readonly kind: string;
  readonly id: string;
}

/** Plain data whose numbers are bigint wherever the chain's are: what `store/state-text.ts` can keep as text. */
export type UnitState =
  | string
  | number
  | boolean
  | bigint
  | null
  | readonly UnitState[]
  | { readonly [name: string]: UnitState };

/** A unit as it was at the end of a block. */
export interface Unit<S = UnitState> extends UnitRef {
  readonly state: S;
  /** The block that was read, which need not be the last one that changed anything. */
  readonly block: number;
  /** Unix seconds of that block: rates accrue from here. */
  readonly time: number;
}

/** What a token says of itself; read once, a token that does not say has symbol "" and 0 decimals. */
export interface TokenFacts {
  /** Lower case. */
  readonly address: string;
  readonly symbol: string;
  /** The token's name, or its symbol where it has none. */
  readonly name: string;
  readonly decimals: number;
}

/**
 * Reads contracts at the end of one block. Calls that are made together, by however many units, travel together
 * (Multicall3): make what does not depend on one another at once, by Promise.all.
 */
export interface UnitReader {
  readonly chainId: number;
  readonly block: number;
  /** Unix seconds of `block`. */
  readonly time: number;
  /** Return data; null where the call reverted, or nothing is at `to`. Rejects only where no endpoint could answer. */
  call(to: Hex, data: Hex): Promise<Hex | null>;
  token(address: string): Promise<TokenFacts>;
}

export interface UnitReading<S = UnitState> {
  readonly state: S;
  /** Further units that this one names: its reserves, its strategies. Known ones may be among them. */
  readonly found?: readonly UnitRef[];
}

/** A unit could not be read as what it claims to be: a call that must answer reverted, or gave no such thing. */
export class UnreadableUnit extends Error {
  override readonly name = "UnreadableUnit";
}

/** Which units are known, for telling our logs from those of others with the same topics. */
export interface KnownUnits {
  has(kind: string, id: string): boolean;
  /** A unit's state as it was last read, for what a log's emitter belongs to; undefined where it never was. */
  state<S = UnitState>(kind: string, id: string): S | undefined;
}

/** Past logs that name units: scanned once, from their first block. */
export interface DiscoveryScan {
  /** Names the progress that is kept: unique within the chain, the same at every start. */
  readonly name: string;
  readonly addresses: readonly Hex[];
  readonly topics: readonly Hex[];
  readonly fromBlock: number;
}

/** The latest states of a chain's units of one protocol. */
export interface UnitSet {
  get<S = UnitState>(kind: string, id: string): Unit<S> | undefined;
  /** In a stable order. */
  all<S = UnitState>(kind: string): Iterable<Unit<S>>;
}

/**
 * One lending protocol: what its events mean, how its state is read, and which rows that makes. `D` is its section of
 * a chain's deployments. Implementations have no state of their own and do no I/O but through the reader they get.
 */
export interface LendingProtocol<D = unknown> {
  readonly id: ProtocolId;
  /** Kinds of units in the order in which a first reading must take them (what finds others comes first). */
  readonly kinds: readonly string[];
  /** Topic 0 of every event that `hear` knows, asked for without addresses. Never a topic that all tokens have. */
  readonly topics: readonly Hex[];
  /** Throws an Error that says what is wrong with a section of a deployments file. */
  parseDeployment(section: unknown): D;
  /** Units that are there from the start, without an event. */
  roots(deployment: D): readonly UnitRef[];
  scans(deployment: D): readonly DiscoveryScan[];
  /** The units a log creates or changes: each is read again at the head. None for logs of strangers. */
  hear(log: RawLog, of: { known: KnownUnits; deployment: D }): readonly UnitRef[];
  /**
   * Reads a unit. `previous` is its last state, whose immutable parts (tokens, parameters) need not be asked again.
   * Rejects with UnreadableUnit; that leaves the unit as it was and touches no other.
   */
  read(
    ref: UnitRef,
    of: { reader: UnitReader; previous: UnitState | undefined; deployment: D },
  ): Promise<UnitReading>;
  /**
   * Every row at `time` (Unix seconds, not before any unit's), interest accrued to it. Pure. A generator, so that a
   * serving process can pause between rows; what several rows need is worked out once a call.
   */
  rows(units: UnitSet, at: { chainId: number; time: number; deployment: D }): Generator<LendingRow>;
}
