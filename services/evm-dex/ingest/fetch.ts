import type {
  BlockWithSenders,
  EvmSource,
  Hex,
  LogFilter,
  LogRange,
  RawLog,
} from "../../shared/chain/evm/port.ts";
import { scanLogs } from "../../shared/chain/evm/scan.ts";
import type { Factory } from "../deployments.ts";
import { decodeEvent, protocolOf } from "../protocols/index.ts";
import { fits, type PoolCreatedEvent, type Protocol } from "../protocols/protocol.ts";
import type { HeaderRow } from "../store/collections.ts";
import type { BlockEvents, PlacedEvent } from "./indexer.ts";

/** A pool that a known factory created. */
export interface CreatedPool extends PoolCreatedEvent {
  readonly factory: Factory;
  readonly block: number;
  /** Unix seconds. */
  readonly time: number;
}

/** A run of blocks, fetched and decoded: all that writing them needs of the chain's history. */
export interface Chunk {
  readonly last: { readonly number: number; readonly hash: string; readonly time: number };
  readonly created: readonly CreatedPool[];
  /** Only blocks with events of known pools. */
  readonly blocks: readonly BlockEvents[];
  /** Every header of the run when it follows the head, none during backfill. */
  readonly headers: readonly HeaderRow[];
}

/** The blocks asked for no longer fit together or to what is indexed: a reorg, or a node in the middle of one. */
export class ChainMoved extends Error {
  override readonly name = "ChainMoved";
}

/** What factories say and every event of their pools, of any contract: which are ours is decided by address. */
export function filterOf(factories: readonly Factory[]): LogFilter {
  const protocols = new Set(factories.map((factory) => protocolOf(factory.kind)));
  const topics = [...protocols].flatMap(({ created, decoders }) => [
    created.topic,
    ...decoders.map((decoder) => decoder.topic),
  ]);
  return { topics: [...new Set(topics)] };
}

/**
 * Fetches and decodes runs of blocks in order. Runs ahead of the writing: it remembers the pools it saw being created,
 * which are not yet in the book when the next run is decoded.
 */
export class Fetcher {
  readonly #source: EvmSource;
  readonly #protocolOf: (pool: string) => Protocol | undefined;
  /** What is asked of the source. */
  readonly filter: LogFilter;
  readonly #factories: ReadonlyMap<string, Factory>;
  readonly #created = new Map<string, Protocol>();
  #lastTurn = Promise.resolve();

  constructor(
    source: EvmSource,
    of: { factories: readonly Factory[]; protocolOf: (pool: string) => Protocol | undefined },
  ) {
    this.#source = source;
    this.#protocolOf = of.protocolOf;
    this.filter = filterOf(of.factories);
    this.#factories = new Map(of.factories.map((factory) => [factory.address, factory]));
  }

  /** A run far behind the head, whose logs are there: only blocks with our events are fetched. */
  async readSettled(range: LogRange, logs: readonly RawLog[]): Promise<Chunk> {
    const ours = this.#ours(logs);
    const numbers = [...new Set([...ours.map((log) => log.blockNumber), range.toBlock])];
    return this.#assemble({
      range,
      logs: ours,
      blocks: byNumber(await this.#source.blocks(numbers)),
      headers: [],
    });
  }

  /** A run read as whole blocks; undefined where the source has no quick way to them. */
  async readWhole(range: LogRange): Promise<Chunk | undefined> {
    const order = this.#takeTurn();
    try {
      const list = await this.#source.blocksWithLogs(numbersOf(range), this.filter);
      await order.turn;
      if (list === undefined) return undefined;
      checkLinks(list, (list[0] as BlockWithSenders).parentHash);
      return this.#assemble({
        range,
        logs: this.#ours(list.flatMap((block) => block.logs)),
        blocks: byNumber(list),
        headers: [],
      });
    } finally {
      order.done();
    }
  }

  /** A run up to the head: every block is fetched and must follow on the one before, the first on `parentHash`. */
  async readTail(range: LogRange, parentHash: string): Promise<Chunk> {
    const numbers = numbersOf(range);
    const whole = await this.#source.blocksWithLogs(numbers, this.filter);
    const [list, logs] =
      whole !== undefined
        ? [whole, whole.flatMap((block) => block.logs)]
        : await Promise.all([this.#source.blocks(numbers), this.#logsOf(range)]);
    checkLinks(list, parentHash);
    const checked = await this.#source.verifyEmpty(list, { logs, filter: this.filter });
    return this.#assemble({
      range,
      logs: this.#ours(checked),
      blocks: byNumber(list),
      headers: list.map((block) => toHeaderRow(this.#source.chainId, block)),
    });
  }

  /**
   * Runs are fetched side by side, but sorted out one after the other: a pool that one run sees being created must be
   * known to the next.
   */
  #takeTurn(): { turn: Promise<void>; done: () => void } {
    const turn = this.#lastTurn;
    let done = () => {};
    this.#lastTurn = new Promise((resolve) => {
      done = resolve;
    });
    return { turn, done };
  }

  async #logsOf(range: LogRange): Promise<RawLog[]> {
    const logs: RawLog[] = [];
    const initialRange = range.toBlock - range.fromBlock + 1;
    for await (const part of scanLogs(this.#source, { ...range, filter: this.filter, initialRange })) {
      logs.push(...part.logs);
    }
    return logs;
  }

  /**
   * Logs of known pools, and creations by known factories. A pool may speak before its factory speaks of it (Slipstream
   * initialises first), though never before its block: creations are looked for before anything else.
   */
  #ours(logs: readonly RawLog[]): RawLog[] {
    for (const log of logs) {
      const protocol = this.#creator(log);
      if (protocol !== undefined) this.#created.set(protocol.created.decode(log).pool, protocol);
    }
    return logs.filter((log) =>
      this.#factories.has(log.address)
        ? this.#creator(log) !== undefined
        : this.#emitter(log.address) !== undefined,
    );
  }

  /** The protocol of a pool whose creation this log is. */
  #creator(log: RawLog): Protocol | undefined {
    const factory = this.#factories.get(log.address);
    if (factory === undefined) return undefined;
    const protocol = protocolOf(factory.kind);
    const { created } = protocol;
    return log.topics[0] === created.topic && fits(log, created) ? protocol : undefined;
  }

  #emitter(address: string): Protocol | undefined {
    return this.#protocolOf(address) ?? this.#created.get(address);
  }

  #assemble(of: {
    range: LogRange;
    logs: readonly RawLog[];
    blocks: ReadonlyMap<number, BlockWithSenders>;
    headers: readonly HeaderRow[];
  }): Chunk {
    const created: CreatedPool[] = [];
    const byBlock = new Map<number, { block: BlockWithSenders; events: PlacedEvent[] }>();
    for (const log of of.logs) {
      const block = blockOf(log, of.blocks);
      const factory = this.#factories.get(log.address);
      if (factory !== undefined) {
        const event = protocolOf(factory.kind).created.decode(log);
        created.push({ ...event, factory, block: block.number, time: block.timestamp });
        continue;
      }
      const event = decodeEvent(this.#emitter(log.address) as Protocol, log);
      if (event === undefined) continue;
      let entry = byBlock.get(block.number);
      if (entry === undefined) {
        entry = { block, events: [] };
        byBlock.set(block.number, entry);
      }
      entry.events.push({
        logIndex: log.logIndex,
        txHash: log.transactionHash,
        sender: block.senders[log.transactionIndex] as Hex,
        poolAddress: log.address,
        event,
      });
    }
    const last = of.blocks.get(of.range.toBlock) as BlockWithSenders;
    return {
      last: { number: last.number, hash: last.hash, time: last.timestamp },
      created,
      blocks: [...byBlock.values()].map(({ block, events }) => ({
        number: block.number,
        hash: block.hash,
        time: block.timestamp,
        events,
      })),
      headers: of.headers,
    };
  }
}

function checkLinks(list: readonly BlockWithSenders[], parentHash: string): void {
  let parent = parentHash;
  for (const block of list) {
    if (block.parentHash !== parent) {
      throw new ChainMoved(`Block ${block.number} follows on ${block.parentHash}, not on ${parent}.`);
    }
    parent = block.hash;
  }
}

function byNumber(list: readonly BlockWithSenders[]): Map<number, BlockWithSenders> {
  return new Map(list.map((block) => [block.number, block]));
}

/** The block a log lies in; both were asked for apart, so their hashes must agree. */
function blockOf(log: RawLog, blocks: ReadonlyMap<number, BlockWithSenders>): BlockWithSenders {
  const block = blocks.get(log.blockNumber);
  if (
    block === undefined ||
    block.hash !== log.blockHash ||
    block.senders[log.transactionIndex] === undefined
  ) {
    throw new ChainMoved(
      `Block ${log.blockNumber} is ${block?.hash}, its log ${log.logIndex} says ${log.blockHash}.`,
    );
  }
  return block;
}

export function numbersOf(range: LogRange): number[] {
  return Array.from({ length: range.toBlock - range.fromBlock + 1 }, (_, i) => range.fromBlock + i);
}

function toHeaderRow(chainId: number, block: BlockWithSenders): HeaderRow {
  return {
    chainId,
    number: block.number,
    hash: block.hash,
    parentHash: block.parentHash,
    time: block.timestamp,
  };
}
