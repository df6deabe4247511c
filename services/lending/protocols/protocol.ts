import type { Hex, RawLog } from "../../shared/evm/port.ts";
import type { ProtocolId } from "./protocol-id.ts";
import type { LendingRow } from "./rows.ts";

/**
 * Identifies an entity: whatever has its own state on the chain, such as an Aave market, one of its reserves, a vault or
 * a Morpho market. `kind` belongs to one protocol and `id` (lower case) is unique within kind and chain.
 */
export interface EntityRef {
  readonly kind: string;
  readonly id: string;
}

/** Plain data with bigints for the chain's integers: what `store/state-text.ts` can store as text. */
export type EntityState =
  | string
  | number
  | boolean
  | bigint
  | null
  | readonly EntityState[]
  | { readonly [name: string]: EntityState };

/** An entity's state at the end of a block. */
export interface Entity<S = EntityState> extends EntityRef {
  readonly state: S;
  /** The block of the reading, not of the last change. */
  readonly block: number;
  /** Unix seconds of that block: rates accrue from here. */
  readonly time: number;
}

/** A token's ERC-20 metadata, read once: symbol "" and 0 decimals where the token returns none. */
export interface TokenMetadata {
  /** Lower case. */
  readonly address: string;
  readonly symbol: string;
  /** The token's name, or its symbol where it has none. */
  readonly name: string;
  readonly decimals: number;
}

/**
 * Reads contracts at the end of one block. Calls made at the same time, for any number of entities, share one Multicall3
 * request: start independent calls together with Promise.all.
 */
export interface ContractReader {
  readonly chainId: number;
  readonly block: number;
  /** Unix seconds of `block`. */
  readonly time: number;
  /** Who the called contracts see as their caller. */
  readonly caller: Hex;
  /** Return data; null where the call reverted or `to` has no code. Rejects only if no endpoint responds. */
  call(to: Hex, data: Hex): Promise<Hex | null>;
  token(address: string): Promise<TokenMetadata>;
}

export interface EntityReading<S = EntityState> {
  readonly state: S;
  /** Other entities that this one refers to, such as its reserves or strategies; known ones may be included. */
  readonly references?: readonly EntityRef[];
}

/** An entity could not be read as its kind: a required call reverted or returned malformed data. */
export class UnreadableEntity extends Error {
  override readonly name = "UnreadableEntity";
}

/** The known entities: they distinguish a protocol's logs from those of other contracts with the same topics. */
export interface KnownEntities {
  has(kind: string, id: string): boolean;
  /** An entity's last read state, to find what a log's emitter belongs to; undefined before the first reading. */
  state<S = EntityState>(kind: string, id: string): S | undefined;
}

/** Past logs that create entities: scanned once, from `fromBlock`. */
export interface DiscoveryScan {
  /** Key of the stored progress: unique within the chain, the same at every start. */
  readonly name: string;
  readonly addresses: readonly Hex[];
  readonly topics: readonly Hex[];
  readonly fromBlock: number;
}

/** The latest states of a chain's entities. */
export interface EntitySet {
  get<S = EntityState>(kind: string, id: string): Entity<S> | undefined;
  /** In a stable order. */
  all<S = EntityState>(kind: string): Iterable<Entity<S>>;
}

/**
 * Entities of one kind of contracts: which logs affect them and how their state is read. `D` is their section of a chain's
 * deployments. Implementations are stateless and do I/O only through the given reader.
 */
export interface EntitySource<D = unknown> {
  /** Kinds of entities in the order of a first reading: those that refer to others come first. */
  readonly kinds: readonly string[];
  /** Topic 0 of every event that `affectedEntities` handles, requested without addresses. Never a topic of all tokens. */
  readonly topics: readonly Hex[];
  /** Entities that the deployment itself names, without an event. */
  roots(deployment: D): readonly EntityRef[];
  scans(deployment: D): readonly DiscoveryScan[];
  /** The entities that a log creates or changes: each is read again at the head. Empty for logs of unknown contracts. */
  affectedEntities(log: RawLog, context: { known: KnownEntities; deployment: D }): readonly EntityRef[];
  /**
   * Reads an entity. `previous` is its last state: its immutable parts (tokens, parameters) need no new call.
   * Rejects with UnreadableEntity: the entity keeps its last state, and others are not affected.
   */
  read(
    ref: EntityRef,
    context: { reader: ContractReader; previous: EntityState | undefined; deployment: D },
  ): Promise<EntityReading>;
  /**
   * Kinds whose entities may change at any block without an event, and which of them do: those are read at every head,
   * in the same multicall as the rest.
   */
  readonly volatile?: Readonly<Record<string, (state: EntityState) => boolean>>;
}

/** One vault or market, as rows name it. */
export interface RowTarget {
  /** In lower case: `address` of a vault's row, `marketId` of a market's. */
  readonly id: string;
  /** The vault's underlying token, where several vaults have one address. */
  readonly underlying: string | undefined;
}

/** One lending protocol: its entities, and the rows that follow from them. */
export interface LendingProtocol<D = unknown> extends EntitySource<D> {
  readonly id: ProtocolId;
  /** Validates a section of a deployments file; throws an Error that names the field and the rule. */
  parseDeployment(section: unknown): D;
  /**
   * The entities that the rows of one vault or market are made of, as far as the given ones tell; others may be among them that
   * do not exist. Called again with those, until there are no new ones. Absent: the rows have no history.
   */
  entitiesOf?(
    target: RowTarget,
    known: { readonly entities: EntitySet; readonly deployment: D },
  ): readonly EntityRef[];
  /**
   * Every row at `time` (Unix seconds, not before any entity's), with interest accrued to it. Pure. A generator, so that
   * a serving process can yield to the event loop between rows; values that several rows share are computed once.
   */
  rows(entities: EntitySet, at: { chainId: number; time: number; deployment: D }): Generator<LendingRow>;
}
