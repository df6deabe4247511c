import { protocolOf } from "../../protocols/index.ts";
import { KINDS, type Protocol } from "../../protocols/protocol.ts";
import { AddressTable } from "./address-table.ts";
import type { ObservedPools } from "./observed-pools.ts";

const NONE = -1;
/** A pool that is no more: a rollback undid its creation. */
const GONE = 255;
const FIRST_CAPACITY = 1_024;
const PROTOCOLS = KINDS.map((kind) => protocolOf(kind));

/** Blocks of a pool's last event, and of its balances; −1: none. */
interface PoolBlocks {
  readonly lastBlock: number;
  readonly balanceBlock: number;
}

/** What is in memory of every pool of a chain, in columns outside of the heap: 500,000 pools take some 30 MB. */
export class PoolIndex implements ObservedPools {
  /** Others may keep something of each pool by these numbers, but add none: columns are as long as this table. */
  readonly addresses = new AddressTable();
  #kinds = new Uint8Array(FIRST_CAPACITY);
  /** Blocks, each with 1 added: 0 is none. */
  #lastBlocks = new Uint32Array(FIRST_CAPACITY);
  #balanceBlocks = new Uint32Array(FIRST_CAPACITY);
  #gone = 0;
  /** Pools whose fee changes without an event. */
  readonly changingFees = new Map<string, Protocol>();

  /** Makes room for so many pools at once: to grow leaves copies behind, half of which are in memory still. */
  reserve(count: number): void {
    this.addresses.reserve(count);
    if (count > this.#kinds.length) this.#grow(count);
  }

  /** Adds a pool, or resets it. Returns its number. */
  add(address: string, protocol: Protocol): number {
    const known = this.count;
    const pool = this.addresses.add(address);
    if (pool === this.#kinds.length) this.#grow(Math.ceil(this.#kinds.length * 1.5));
    if (pool < known && this.#kinds[pool] === GONE) this.#gone -= 1;
    this.#kinds[pool] = KINDS.indexOf(protocol.kind);
    this.#lastBlocks[pool] = 0;
    this.#balanceBlocks[pool] = 0;
    if (protocol.feeCall !== undefined) this.changingFees.set(this.addressAt(pool), protocol);
    return pool;
  }

  remove(address: string): void {
    const pool = this.#find(address);
    if (pool === NONE) return;
    this.#kinds[pool] = GONE;
    this.#lastBlocks[pool] = 0;
    this.#balanceBlocks[pool] = 0;
    this.#gone += 1;
    this.changingFees.delete(address);
  }

  has(address: string): boolean {
    return this.#find(address) !== NONE;
  }

  protocolOf(address: string): Protocol | undefined {
    const pool = this.#find(address);
    return pool === NONE ? undefined : PROTOCOLS[this.#kinds[pool] as number];
  }

  /** Notes the blocks of a known pool. */
  note(address: string, blocks: PoolBlocks): void {
    const pool = this.#find(address);
    if (pool === NONE) throw new Error(`Pool ${address} is not known.`);
    this.noteAt(pool, blocks);
  }

  noteAt(pool: number, { lastBlock, balanceBlock }: PoolBlocks): void {
    this.#lastBlocks[pool] = lastBlock + 1;
    this.#balanceBlocks[pool] = balanceBlock + 1;
  }

  lastBlockOf(address: string): number {
    const pool = this.#find(address);
    return pool === NONE ? NONE : this.lastBlockAt(pool);
  }

  /** Pools whose balances were read beyond a block. */
  observedAfter(block: number): string[] {
    const pools: string[] = [];
    for (let pool = 0; pool < this.count; pool++)
      if (this.balanceBlockAt(pool) > block) pools.push(this.addressAt(pool));
    return pools;
  }

  get size(): number {
    return this.count - this.#gone;
  }

  get count(): number {
    return this.addresses.size;
  }

  addressAt(pool: number): string {
    return this.addresses.nameOf(pool);
  }

  numberAt(pool: number): number {
    return this.addresses.tailOf(pool);
  }

  lastBlockAt(pool: number): number {
    return (this.#lastBlocks[pool] as number) - 1;
  }

  balanceBlockAt(pool: number): number {
    return (this.#balanceBlocks[pool] as number) - 1;
  }

  holdsReserves(pool: number): boolean {
    return PROTOCOLS[this.#kinds[pool] as number]?.tvlSource === "reserves";
  }

  #find(address: string): number {
    const pool = this.addresses.find(address);
    return pool === NONE || this.#kinds[pool] === GONE ? NONE : pool;
  }

  #grow(capacity: number): void {
    this.#kinds = grown(this.#kinds, new Uint8Array(capacity));
    this.#lastBlocks = grown(this.#lastBlocks, new Uint32Array(capacity));
    this.#balanceBlocks = grown(this.#balanceBlocks, new Uint32Array(capacity));
  }
}

function grown<A extends Uint8Array | Uint32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
