import type { Store } from "../../../shared/storage/port.ts";
import { protocolOf } from "../../protocols/index.ts";
import type { Protocol } from "../../protocols/protocol.ts";
import type { InactivePoolRow, PoolRow, PoolStateRow } from "../../store/collections.ts";
import { getPoolStates, getPools, listKnownPools, listPoolStates } from "../../store/queries.ts";

/** A pool with its running state. */
export interface PoolEntry {
  readonly row: PoolRow;
  readonly protocol: Protocol;
  /** State of the pool's protocol. */
  state: unknown;
  /** State before the first indexed event; undefined until the pool is first touched. */
  anchor: unknown;
  lastBlock: number;
  lastTime: number;
  balance0: bigint;
  balance1: bigint;
  /** Block that the balances were read at; -1: never. */
  balanceBlock: number;
}

/**
 * The pools of one chain: the addresses of all, the entries of those with events. Entries are kept, since every
 * priced pool is an edge of the price graph; pools without events cost an address only.
 */
export class PoolBook {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #known = new Map<string, Protocol>();
  readonly #entries = new Map<string, PoolEntry>();
  /** Pools whose fee changes without an event. */
  readonly #changingFees = new Map<string, Protocol>();

  constructor(store: Store, chainId: number) {
    this.#store = store;
    this.#chainId = chainId;
  }

  /** Loads all addresses and the entries of pools with events. */
  async load(): Promise<void> {
    for await (const page of listKnownPools(this.#store, { chainId: this.#chainId }))
      for (const pool of page) this.#know(pool);
    const states = await listPoolStates(this.#store, this.#chainId);
    await this.#addEntries(
      states.map((state) => state.poolAddress),
      states,
    );
  }

  /**
   * Loads the entries of pools that have had no event, but price tokens from the first block on.
   * @param start the block before it
   */
  async addInactive(
    states: readonly InactivePoolRow[],
    start: { blockNumber: number; time: number },
  ): Promise<void> {
    const stateOf = new Map(states.map((state) => [state.poolAddress, state]));
    const addresses = [...stateOf.keys()].filter((address) => !this.#entries.has(address));
    for (const row of await getPools(this.#store, { chainId: this.#chainId, addresses })) {
      const state = stateOf.get(row.poolAddress) as InactivePoolRow;
      this.#entries.set(row.poolAddress, toInactiveEntry(row, state, start));
    }
  }

  /** Loads the entries of pools before their events are added. */
  async prepare(addresses: Iterable<string>): Promise<void> {
    const missing = [...addresses].filter(
      (address) => this.#known.has(address) && !this.#entries.has(address),
    );
    if (missing.length > 0) await this.#addEntries(missing, []);
  }

  async #addEntries(addresses: readonly string[], states: readonly PoolStateRow[]): Promise<void> {
    const known =
      states.length > 0 ? states : await getPoolStates(this.#store, { chainId: this.#chainId, addresses });
    const stateOf = new Map(known.map((state) => [state.poolAddress, state]));
    for (const row of await getPools(this.#store, { chainId: this.#chainId, addresses })) {
      this.#entries.set(row.poolAddress, toEntry(row, stateOf.get(row.poolAddress)));
    }
  }

  add(row: PoolRow): void {
    if (this.#known.has(row.poolAddress)) return;
    this.#know(row);
    this.#entries.set(row.poolAddress, toEntry(row, undefined));
  }

  #know(row: Pick<PoolRow, "poolAddress" | "protocol">): void {
    const protocol = protocolOf(row.protocol);
    this.#known.set(row.poolAddress, protocol);
    if (protocol.feeCall !== undefined) this.#changingFees.set(row.poolAddress, protocol);
  }

  has(address: string): boolean {
    return this.#known.has(address);
  }

  /** Protocol of a known pool. */
  protocolOf(address: string): Protocol | undefined {
    return this.#known.get(address);
  }

  get changingFees(): ReadonlyMap<string, Protocol> {
    return this.#changingFees;
  }

  get(address: string): PoolEntry | undefined {
    return this.#entries.get(address);
  }

  entries(): IterableIterator<PoolEntry> {
    return this.#entries.values();
  }

  get size(): number {
    return this.#known.size;
  }
}

function toEntry(row: PoolRow, stored: PoolStateRow | undefined): PoolEntry {
  const protocol = protocolOf(row.protocol);
  if (stored === undefined) {
    return {
      row,
      protocol,
      state: protocol.initialState(row),
      anchor: undefined,
      lastBlock: -1,
      lastTime: 0,
      balance0: 0n,
      balance1: 0n,
      balanceBlock: -1,
    };
  }
  const { lastBlock, lastTime, balance0, balance1, balanceBlock } = stored;
  return {
    row,
    protocol,
    state: protocol.read(stored.state),
    anchor: protocol.read(stored.anchor),
    lastBlock,
    lastTime,
    balance0,
    balance1,
    balanceBlock,
  };
}

/**
 * A pool that has had no event. Its age counts up to the start, since no state says when it was last used. A state
 * that was read later than the start is not the one before its first event.
 */
export function toInactiveEntry(
  row: PoolRow,
  read: Pick<InactivePoolRow, "state" | "balanceBlock">,
  start: { blockNumber: number; time: number },
): PoolEntry {
  const entry = toEntry(row, undefined);
  const state = entry.protocol.read(read.state);
  const anchor = read.balanceBlock > start.blockNumber ? undefined : state;
  return { ...entry, state, anchor, lastTime: start.time };
}

export function toStateRow(entry: PoolEntry): PoolStateRow {
  const { row, protocol, state, anchor, lastBlock, lastTime, balance0, balance1, balanceBlock } = entry;
  return {
    chainId: row.chainId,
    poolAddress: row.poolAddress,
    state: protocol.write(state),
    lastBlock,
    lastTime,
    balance0,
    balance1,
    balanceBlock,
    anchor: protocol.write(anchor ?? protocol.initialState(row)),
  };
}
