import type { Store } from "../../../shared/storage/port.ts";
import { protocolOf } from "../../protocols/index.ts";
import type { Protocol } from "../../protocols/protocol.ts";
import { type InactivePoolRow, type PoolRow, type PoolStateRow, pools } from "../../store/collections.ts";
import { type KnownPool, listKnownPools, listPricedInactivePools } from "../../store/pool-lists.ts";
import { getInactivePools, getPoolStates, getPools } from "../../store/queries.ts";
import type { AddressTable } from "./address-table.ts";
import type { ObservedPools } from "./observed-pools.ts";
import { PoolIndex } from "./pool-index.ts";
import { RecentMap } from "./recent-map.ts";
import { SharedTexts } from "./shared-texts.ts";

/** A pool with its running state. */
export interface PoolEntry {
  readonly row: PoolRow;
  readonly protocol: Protocol;
  /** State of the pool's protocol. */
  state: unknown;
  /**
   * State before the first indexed event, as its protocol writes it: it is hardly ever read. Undefined until the pool is
   * first touched.
   */
  anchor: string | undefined;
  lastBlock: number;
  lastTime: number;
  balance0: bigint;
  balance1: bigint;
  /** Block that the balances were read at; -1: never. */
  balanceBlock: number;
}

/** Of a stored pool with events, what prices follow from. Its texts are of a page that is let go. */
export interface ActivePool {
  /** In the book's addresses. */
  readonly number: number;
  readonly row: KnownPool["row"];
  readonly protocol: Protocol;
  /** As its protocol writes it. */
  readonly state: string;
  readonly lastBlock: number;
  readonly lastTime: number;
}

/** The block before the first indexed one: the pools that price tokens there were read at it. */
interface PriceStart {
  readonly blockNumber: number;
  /** Unix seconds. */
  readonly time: number;
}

/** Most entries kept in memory between two batches, some 2 KB each. */
const MAX_ENTRIES = 12_000;
/** Room for those that are created while the ingest runs. What is not used takes no memory. */
const ROOM = 1.25;

/**
 * The pools of one chain. Of every pool its address, protocol and last blocks are in memory (PoolIndex); entries are
 * loaded before their events are added, and those used lately are kept.
 */
export class PoolBook {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #index = new PoolIndex();
  readonly #entries = new RecentMap<string, PoolEntry>(MAX_ENTRIES);
  readonly #texts = new SharedTexts();
  #start: PriceStart | undefined;

  constructor(store: Store, chainId: number) {
    this.#store = store;
    this.#chainId = chainId;
  }

  /**
   * Loads what is in memory of every pool, a page at a time; yields those with events, and about how many there will be
   * in all.
   */
  async *load(): AsyncGenerator<{ active: ActivePool[]; expected: number }> {
    const chainId = this.#chainId;
    const count = await this.#store.count(pools, { chainId });
    this.#index.reserve(Math.ceil(ROOM * count));
    let [read, withEvents] = [0, 0];
    for await (const page of listKnownPools(this.#store, { chainId })) {
      const active: ActivePool[] = [];
      for (const { row, state } of page) {
        const protocol = protocolOf(row.protocol);
        const number = this.#index.add(row.poolAddress, protocol);
        if (state === undefined) continue;
        this.#index.noteAt(number, state);
        const { lastBlock, lastTime } = state;
        active.push({ number, row, protocol, state: state.state, lastBlock, lastTime });
      }
      read += page.length;
      withEvents += active.length;
      yield { active, expected: Math.ceil((ROOM * count * withEvents) / read) };
    }
  }

  /** Entries of pools that have had no event, but price tokens from the first block on, a page at a time. */
  async *listInactive(start: PriceStart): AsyncGenerator<PoolEntry[]> {
    this.#start = start;
    for await (const page of listPricedInactivePools(this.#store, this.#chainId)) {
      const stateOf = new Map(page.map((state) => [state.poolAddress, state]));
      const addresses = [...stateOf.keys()].filter((address) => this.lastBlockOf(address) < 0);
      const rows = await getPools(this.#store, { chainId: this.#chainId, addresses });
      yield rows.map((row) => toInactiveEntry(row, stateOf.get(row.poolAddress) as InactivePoolRow, start));
    }
  }

  /** Loads the entries of pools before their events are added. */
  async prepare(addresses: Iterable<string>): Promise<void> {
    const missing = [...new Set(addresses)].filter(
      (address) => this.get(address) === undefined && this.#index.has(address),
    );
    for (const entry of await this.#read(missing)) this.#entries.set(entry.row.poolAddress, entry);
  }

  /** Entries of known pools, which are not kept. */
  async read(addresses: readonly string[]): Promise<PoolEntry[]> {
    const kept = addresses.flatMap((address) => this.get(address) ?? []);
    const missing = addresses.filter(
      (address) => this.get(address) === undefined && this.#index.has(address),
    );
    return [...kept, ...(await this.#read(missing))];
  }

  async #read(addresses: readonly string[]): Promise<PoolEntry[]> {
    if (addresses.length === 0) return [];
    const wanted = { chainId: this.#chainId, addresses };
    const states = new Map((await getPoolStates(this.#store, wanted)).map((row) => [row.poolAddress, row]));
    const inactive = await this.#getInactive(addresses.filter((address) => !states.has(address)));
    return (await getPools(this.#store, wanted)).map((stored) => {
      const row = this.#texts.shareRow(stored);
      const read = inactive.get(row.poolAddress);
      return read !== undefined && this.#start !== undefined
        ? toInactiveEntry(row, read, this.#start)
        : toEntry(row, states.get(row.poolAddress));
    });
  }

  async #getInactive(addresses: readonly string[]): Promise<Map<string, InactivePoolRow>> {
    if (this.#start === undefined || addresses.length === 0) return new Map();
    const rows = await getInactivePools(this.#store, { chainId: this.#chainId, addresses });
    return new Map(rows.filter((row) => row.priced).map((row) => [row.poolAddress, row]));
  }

  add(row: PoolRow): void {
    if (this.#index.has(row.poolAddress)) return;
    this.#index.add(row.poolAddress, protocolOf(row.protocol));
    this.#entries.set(row.poolAddress, toEntry(this.#texts.shareRow(row), undefined));
  }

  has(address: string): boolean {
    return this.#index.has(address);
  }

  /** Protocol of a known pool. */
  protocolOf(address: string): Protocol | undefined {
    return this.get(address)?.protocol ?? this.#index.protocolOf(address);
  }

  /** Pools whose fee changes without an event. */
  get changingFees(): ReadonlyMap<string, Protocol> {
    return this.#index.changingFees;
  }

  /** The entry of a pool that was prepared or added, and of one used lately. */
  get(address: string): PoolEntry | undefined {
    return this.#entries.get(address);
  }

  /** Block of a pool's last event; negative without one. */
  lastBlockOf(address: string): number {
    return this.get(address)?.lastBlock ?? this.#index.lastBlockOf(address);
  }

  /** As `lastTimeOf`, of a pool that was prepared. */
  lastTimeOf(address: string): number {
    const entry = this.get(address);
    if (entry === undefined) throw new Error(`Pool ${address} was not loaded.`);
    return lastTimeOf(entry);
  }

  /** Pools whose balances were read beyond a block. */
  observedAfter(block: number): string[] {
    return this.#index.observedAfter(block);
  }

  /** Blocks of all pools as they are written. */
  get observed(): ObservedPools {
    return this.#index;
  }

  /**
   * After a write: notes what was written, and makes room.
   * @param isWaiting whether an entry is to be written by the next one
   */
  settle(written: Iterable<PoolEntry>, isWaiting: (entry: PoolEntry) => boolean): void {
    for (const entry of written) this.#index.note(entry.row.poolAddress, entry);
    this.#entries.age(isWaiting);
  }

  /** Drops the entries of pools whose rows another writer has changed: they are loaded again by need. */
  forget(pools: Iterable<string>): void {
    for (const pool of pools) this.#entries.forget(pool);
  }

  /** Loads pools again that were rolled back in the store, and forgets those that are gone. */
  async reload({
    changed,
    gone,
  }: {
    changed: readonly string[];
    gone: readonly string[];
  }): Promise<PoolEntry[]> {
    for (const address of gone) this.#index.remove(address);
    for (const address of [...changed, ...gone]) this.#entries.forget(address);
    const entries = await this.#read(changed);
    for (const entry of entries) {
      this.#entries.set(entry.row.poolAddress, entry);
      this.#index.note(entry.row.poolAddress, entry);
    }
    return entries;
  }

  /** Addresses of all pools; whoever else keeps something of each pool may share them. */
  get addresses(): AddressTable {
    return this.#index.addresses;
  }

  get size(): number {
    return this.#index.size;
  }
}

/**
 * Unix seconds of the last event of a pool. Infinity without one: events before the index may be merged into its buckets before
 * its state says so.
 */
export function lastTimeOf({ lastBlock, lastTime }: PoolEntry): number {
  return lastBlock < 0 ? Number.POSITIVE_INFINITY : lastTime;
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
    anchor: stored.anchor,
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
  const anchor = read.balanceBlock > start.blockNumber ? undefined : read.state;
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
    anchor: anchor ?? protocol.write(protocol.initialState(row)),
  };
}
