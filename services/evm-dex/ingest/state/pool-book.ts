import type { Store } from "../../../shared/storage/port.ts";
import type { PoolRow, PoolStateRow } from "../../store/collections.ts";
import { getPoolStates, getPools, listKnownPools, listPoolStates } from "../../store/queries.ts";
import { EMPTY_STATE, type PoolState } from "./pool-state.ts";

/** A pool as the ingest works with it. */
export interface PoolEntry {
  readonly row: PoolRow;
  state: PoolState;
  /** State before the first indexed event; undefined until the pool is first touched. */
  anchor: PoolState | undefined;
  lastBlock: number;
  lastTime: number;
  balance0: bigint;
  balance1: bigint;
  /** Block the balances were read at; -1: never. */
  balanceBlock: number;
}

/**
 * The pools of one chain: the addresses of all, the entries of those with events. Entries are kept, since every
 * priced pool is an edge of the price graph; pools without events cost an address only.
 */
export class PoolBook {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #known = new Set<string>();
  readonly #entries = new Map<string, PoolEntry>();

  constructor(store: Store, chainId: number) {
    this.#store = store;
    this.#chainId = chainId;
  }

  /** Reads all addresses and every pool that has events. */
  async load(): Promise<void> {
    for (const address of await listKnownPools(this.#store, this.#chainId)) this.#known.add(address);
    const states = await listPoolStates(this.#store, this.#chainId);
    await this.#addEntries(
      states.map((state) => state.poolAddress),
      states,
    );
  }

  /** Makes entries available for pools about to be touched. */
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
    this.#known.add(row.poolAddress);
    this.#entries.set(row.poolAddress, toEntry(row, undefined));
  }

  knows(address: string): boolean {
    return this.#known.has(address);
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
  if (stored === undefined) {
    return {
      row,
      state: EMPTY_STATE,
      anchor: undefined,
      lastBlock: -1,
      lastTime: 0,
      balance0: 0n,
      balance1: 0n,
      balanceBlock: -1,
    };
  }
  const { sqrtPriceX96, liquidity, tick, reserve0, reserve1, feeProtocol } = stored;
  return {
    row,
    state: { sqrtPriceX96, liquidity, tick, reserve0, reserve1, feeProtocol },
    anchor: readAnchor(stored.anchor),
    lastBlock: stored.lastBlock,
    lastTime: stored.lastTime,
    balance0: stored.balance0,
    balance1: stored.balance1,
    balanceBlock: stored.balanceBlock,
  };
}

export function toStateRow(entry: PoolEntry): PoolStateRow {
  return {
    chainId: entry.row.chainId,
    poolAddress: entry.row.poolAddress,
    ...entry.state,
    lastBlock: entry.lastBlock,
    lastTime: entry.lastTime,
    balance0: entry.balance0,
    balance1: entry.balance1,
    balanceBlock: entry.balanceBlock,
    anchor: writeAnchor(entry.anchor ?? EMPTY_STATE),
  };
}

type StoredAnchor = readonly [string, string, number, string, string, number];

function writeAnchor(anchor: PoolState): StoredAnchor {
  const { sqrtPriceX96, liquidity, tick, reserve0, reserve1, feeProtocol } = anchor;
  return [`${sqrtPriceX96}`, `${liquidity}`, tick, `${reserve0}`, `${reserve1}`, feeProtocol];
}

/** The anchor of a stored state. */
export function readAnchor(stored: unknown): PoolState {
  const [sqrtPriceX96, liquidity, tick, reserve0, reserve1, feeProtocol] = stored as StoredAnchor;
  return {
    sqrtPriceX96: BigInt(sqrtPriceX96),
    liquidity: BigInt(liquidity),
    tick,
    reserve0: BigInt(reserve0),
    reserve1: BigInt(reserve1),
    feeProtocol,
  };
}
