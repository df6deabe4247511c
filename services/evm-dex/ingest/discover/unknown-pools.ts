import { encodeCall, readAddress } from "../../../shared/evm/abi.ts";
import { type EthCall, type EvmSource, type Hex, withState } from "../../../shared/evm/port.ts";
import type { Factory } from "../../deployments.ts";
import { protocolOf } from "../../protocols/index.ts";
import type { PoolCreatedEvent } from "../../protocols/protocol.ts";
import type { CreatedPool } from "../fetch/block-batch.ts";

const FACTORY = "0xc45a0155" as Hex;
/** gauges(address) of a voter. */
const GAUGES = "0xb9a09fd5" as Hex;
/** Most foreign contracts remembered. Beyond it all are forgotten, and checked again at their next event. */
const MAX_FOREIGN = 200_000;

/** A pool of a configured factory that was unknown, and its gauge where it has one. */
interface IdentifiedPool {
  readonly pool: CreatedPool;
  readonly gauge:
    | { readonly gauge: string; readonly voter: string; readonly createdBlock: number }
    | undefined;
}

/**
 * Contracts that emit pool events though their creation was not seen: a node may have withheld the creation when logs
 * were scanned, or the deployments name too late a block. It reads factory() of each one once; a contract that names
 * a configured factory counts if that factory has the pool. On Base there are thousands of other DEXes' pools: they
 * cost one call each, as a contract's factory never changes.
 */
export class UnknownPools {
  readonly #source: EvmSource;
  readonly #factories: ReadonlyMap<string, Factory>;
  readonly #fromBlock: number;
  readonly #foreign = new Set<string>();

  /** `fromBlock` is the first indexed block. */
  constructor(
    source: EvmSource,
    { factories, fromBlock }: { factories: readonly Factory[]; fromBlock: number },
  ) {
    this.#source = source;
    this.#factories = new Map(factories.map((factory) => [factory.address, factory]));
    this.#fromBlock = fromBlock;
  }

  isForeign(address: string): boolean {
    return this.#foreign.has(address);
  }

  /**
   * Identifies the pools of configured factories among the addresses, each given with the block of its first event,
   * and reconstructs their PoolCreated events.
   */
  async identify(seen: ReadonlyMap<string, number>): Promise<IdentifiedPool[]> {
    const unknown = [...seen].filter(([address]) => !this.#foreign.has(address));
    if (unknown.length === 0) return [];
    // Nodes have the state of the head; a node that is behind must not be read before the contract's first event.
    const head = Math.max(...unknown.map(([, block]) => block), (await this.#source.head()).number);
    const results = await this.#source.call(
      withState(unknown.map(([address]) => ({ to: address as Hex, data: FACTORY, block: head }))),
    );
    const found: IdentifiedPool[] = [];
    for (const [i, [address, block]] of unknown.entries()) {
      const factory = this.#factories.get(parseAddressWord(results[i]));
      const pool = factory && (await this.#confirm(address, { factory, head, seen: block }));
      if (pool === undefined) this.#addForeign(address);
      else found.push({ pool, gauge: await this.#gaugeOf(pool, { head, seen: block }) });
    }
    return found;
  }

  #addForeign(address: string): void {
    if (this.#foreign.size >= MAX_FOREIGN) this.#foreign.clear();
    this.#foreign.add(address);
  }

  async #confirm(
    address: string,
    { factory, head, seen }: { factory: Factory; head: number; seen: number },
  ): Promise<CreatedPool | undefined> {
    const { identity } = protocolOf(factory.kind);
    const created = identity.read(address, await this.#source.call(withState(identity.calls(address, head))));
    if (created === undefined) return undefined;
    const hasPool = async (block: number) => {
      const call = identity.getPool(created, { factory: factory.address, block });
      return this.#isPool({ ...call, needsState: block === head }, created);
    };
    if ((await hasPool(head)) !== true) return undefined;
    const block =
      (await findCreation(hasPool, seen)) ??
      // Nodes have pruned most of the past: use the block of its first event, else the one before the index.
      ((await hasPool(seen - 1)) === false ? seen : Math.max(0, this.#fromBlock - 1));
    return this.#place(created, { factory, block });
  }

  /** The gauge that the pool had at its first event: the voter's events report later ones. */
  async #gaugeOf(
    { pool, factory, block: created }: CreatedPool,
    { head, seen }: { head: number; seen: number },
  ): Promise<IdentifiedPool["gauge"]> {
    const voter = factory.rewards?.voter;
    if (voter === undefined) return undefined;
    const gaugeAt = async (block: number) => {
      const [result] = await this.#source.call([
        { to: voter, data: encodeCall(GAUGES, [pool as Hex]), block, needsState: block === head },
      ]);
      return typeof result === "string" ? parseAddressWord(result) : null;
    };
    const gauge = await gaugeAt(head);
    if (gauge === null || BigInt(gauge || 0) === 0n) return undefined;
    const hasGauge = async (block: number) => {
      const there = await gaugeAt(block);
      return there === null ? null : there === gauge;
    };
    const block = (await findCreation(hasGauge, head)) ?? created;
    return block < seen ? { gauge, voter, createdBlock: block } : undefined;
  }

  /** Null where no node has the state of that block. */
  async #isPool(call: EthCall, created: PoolCreatedEvent): Promise<boolean | null> {
    const [result] = await this.#source.call([call]);
    return typeof result === "string" ? parseAddressWord(result) === created.pool : null;
  }

  async #place(
    created: PoolCreatedEvent,
    { block, factory }: { factory: Factory; block: number },
  ): Promise<CreatedPool> {
    const [header] = await this.#source.headers([block]);
    if (header === null || header === undefined)
      throw new Error(
        `Chain ${this.#source.chainId} has no block ${block}, where pool ${created.pool} was created.`,
      );
    return { ...created, factory, block, time: header.timestamp };
  }
}

/**
 * The first block whose state has it: a binary search below a block that has it; undefined where nodes have pruned
 * one of the states. Starts at block 0, since a wrong block of the factory may be why the pool is unknown.
 */
async function findCreation(
  hasIt: (block: number) => Promise<boolean | null>,
  known: number,
): Promise<number | undefined> {
  let [without, having] = [-1, known];
  while (having - without > 1) {
    const middle = Math.floor((without + having) / 2);
    const isThere = await hasIt(middle);
    if (isThere === null) return undefined;
    if (isThere) having = middle;
    else without = middle;
  }
  return having;
}

function parseAddressWord(result: Hex | null | undefined): string {
  return typeof result === "string" && result.length >= 66 ? readAddress(result, 0) : "";
}
