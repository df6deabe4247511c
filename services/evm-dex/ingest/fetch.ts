import { ReorgDetected } from "../../shared/chain-errors.ts";
import { type BlockLink, checkLinks } from "../../shared/evm/links.ts";
import { type ScannedRange, scanLogs } from "../../shared/evm/logs/scan.ts";
import type { BlockWithSenders, EvmSource, Hex, LogFilter, LogRange, RawLog } from "../../shared/evm/port.ts";
import { compareLogs } from "../../shared/evm/source/parse.ts";
import { blockNumbers, toHeaderRow } from "../../shared/index/evm/headers.ts";
import type { Factory } from "../deployments.ts";
import { protocolOf } from "../protocols/index.ts";
import { assembleChunk, type Chunk, type OurLog } from "./chunk.ts";
import { Emitters, filterOf, type KnownContracts } from "./emitters.ts";
import { findUntransferred, type Untransferred } from "./lp-check.ts";
import { LpWatch } from "./lp-watch.ts";
import { readTransfers, TransferScan, type TransferSource } from "./transfers.ts";

/** Contracts that one eth_getLogs names, where nothing else is configured: what geth takes. */
const MAX_ADDRESSES = 1_000;

export interface FetcherOptions {
  readonly factories: readonly Factory[];
  readonly known: KnownContracts;
  readonly watch?: LpWatch;
  /** Contracts that one eth_getLogs may name. */
  readonly maxAddresses?: number | undefined;
}

/** By address, the block of the first word. */
type Strangers = Map<string, number>;

/**
 * Fetches and decodes runs of blocks in order. Runs ahead of the writing: it remembers the pools it saw being created,
 * which are not yet in the book when the next run is decoded.
 */
export class Fetcher {
  readonly #source: EvmSource;
  readonly #emitters: Emitters;
  readonly #watch: LpWatch;
  readonly #transfers: TransferSource;
  /** What is asked of the source by topic. */
  readonly filter: LogFilter;
  #lastTurn = Promise.resolve();

  constructor(source: EvmSource, of: FetcherOptions) {
    this.#source = source;
    this.#emitters = new Emitters(of.factories, of.known);
    this.#watch = of.watch ?? new LpWatch();
    const topics = transferTopics(of.factories);
    const maxAddresses = of.maxAddresses ?? MAX_ADDRESSES;
    this.#transfers = { source, topics, watch: this.#watch, maxAddresses };
    this.filter = filterOf(of.factories);
  }

  /** For the runs of a long stretch: their Transfers are asked for in larger pieces than they come in. */
  scanTransfers(run: { from: number; to: number; signal: AbortSignal }): TransferScan {
    return new TransferScan(this.#transfers, run);
  }

  /**
   * A run far behind the head, whose logs by topic are there: only blocks with our events are fetched whole. The scan has
   * read the headers of blocks without logs; with those of the blocks between them, every block is linked to the one before.
   */
  async readSettled(
    { range, logs, links }: ScannedRange,
    transfers: Pick<TransferScan, "take">,
  ): Promise<Chunk> {
    const strangers: Strangers = new Map();
    const byTopic = this.#ours(logs, strangers);
    // Nothing is awaited before this: runs are taken in their order.
    const byAddress = this.#read(await transfers.take(range, this.#watchNew(byTopic)));
    const ours = inOrder([...byTopic, ...byAddress]);
    const numbers = [...new Set([...ours.map(({ log }) => log.blockNumber), range.toBlock])];
    const blocks = byNumber(await this.#source.blocks(numbers));
    const parentHash = await this.#checkSettled({ range, logs, links }, blocks);
    await this.#checkTransfers(ours, blocks);
    return assembleChunk({ range, ours, strangers, blocks, headers: [], parentHash });
  }

  /** Throws ReorgDetected unless the run is one piece of one chain, and each log of it. Returns the hash it follows on. */
  async #checkSettled(
    { range, logs, links }: ScannedRange,
    blocks: ReadonlyMap<number, BlockWithSenders>,
  ): Promise<string> {
    const known = new Map<number, BlockLink>([
      ...links.map((link) => [link.number, link] as const),
      ...blocks,
    ]);
    const numbers = blockNumbers(range);
    const between = numbers.filter((number) => !known.has(number));
    const headers = between.length === 0 ? [] : await this.#source.headers(between);
    for (const header of headers) if (header !== null) known.set(header.number, header);
    const list = numbers.flatMap((number) => known.get(number) ?? []);
    if (list.length < numbers.length)
      throw new ReorgDetected(`Blocks ${range.fromBlock} to ${range.toBlock} are no longer all there.`);
    const { parentHash } = list[0] as BlockLink;
    checkLinks(list, parentHash);
    const stray = logs.find((log) => known.get(log.blockNumber)?.hash !== log.blockHash);
    if (stray !== undefined)
      throw new ReorgDetected(
        `Block ${stray.blockNumber} is ${known.get(stray.blockNumber)?.hash}, its log ${stray.logIndex} says ${stray.blockHash}.`,
      );
    return parentHash;
  }

  /** A run read as whole blocks; undefined where the source has no quick way to them. */
  async readWhole(range: LogRange): Promise<Chunk | undefined> {
    const order = this.#takeTurn();
    try {
      const watched = this.#watch.list();
      const list = await this.#source.blocksWithLogs(blockNumbers(range), this.#wholeFilter(watched));
      await order.turn;
      if (list === undefined) return undefined;
      const { parentHash } = list[0] as BlockWithSenders;
      checkLinks(list, parentHash);
      const logs = list.flatMap((block) => block.logs);
      const strangers: Strangers = new Map();
      const ours = await this.#oursOfWhole(range, { list, logs, watched, strangers });
      return assembleChunk({ range, ours, strangers, blocks: byNumber(list), headers: [], parentHash });
    } finally {
      order.done();
    }
  }

  /** A run up to the head: every block is fetched and must follow on the one before, the first on `parentHash`. */
  async readTail(range: LogRange, parentHash: string): Promise<Chunk> {
    const numbers = blockNumbers(range);
    const watched = this.#watch.list();
    const whole = await this.#source.blocksWithLogs(numbers, this.#wholeFilter(watched));
    const [list, logs] =
      whole !== undefined
        ? [whole, whole.flatMap((block) => block.logs)]
        : await Promise.all([this.#source.blocks(numbers), this.#logsOf(range)]);
    checkLinks(list, parentHash);
    const blocks = byNumber(list);
    const checked = await this.#source.verifyEmpty(list, { logs, filter: this.filter });
    const strangers: Strangers = new Map();
    const ours =
      whole !== undefined
        ? await this.#oursOfWhole(range, { list, logs: checked, watched, strangers })
        : await this.#oursOfParts(range, { list, logs: checked, blocks, strangers });
    const headers = list.map((block) => toHeaderRow(this.#source.chainId, block));
    return assembleChunk({ range, ours, strangers, blocks, headers, parentHash });
  }

  /** What is taken of whole blocks: LP tokens' Transfers too. */
  #wholeFilter(watched: readonly Hex[]): LogFilter {
    const { topics } = this.#transfers;
    return watched.length === 0 ? this.filter : { ...this.filter, addressed: { topics, addresses: watched } };
  }

  /** Of whole blocks. Pools that are watched only since these were asked for are asked for again. */
  async #oursOfWhole(
    range: LogRange,
    of: {
      list: readonly BlockWithSenders[];
      logs: readonly RawLog[];
      watched: readonly Hex[];
      strangers: Strangers;
    },
  ): Promise<OurLog[]> {
    const ours = this.#ours(of.logs, of.strangers);
    this.#watchNew(ours);
    const before = new Set(of.watched);
    const late = this.#watch.list().filter((pool) => !before.has(pool));
    if (late.length === 0) return ours;
    const asked = { range, pools: late, headers: of.list };
    const found = this.#read(await readTransfers(this.#transfers, asked));
    return inOrder([...ours, ...found]);
  }

  /** Of blocks and logs that were asked for apart. */
  async #oursOfParts(
    range: LogRange,
    of: {
      list: readonly BlockWithSenders[];
      logs: readonly RawLog[];
      blocks: ReadonlyMap<number, BlockWithSenders>;
      strangers: Strangers;
    },
  ): Promise<OurLog[]> {
    const byTopic = this.#ours(of.logs, of.strangers);
    this.#watchNew(byTopic);
    const pools = this.#watch.list();
    const asked = { range, pools, headers: of.list };
    const byAddress = this.#read(await readTransfers(this.#transfers, asked));
    const ours = inOrder([...byTopic, ...byAddress]);
    await this.#checkTransfers(ours, of.blocks);
    return ours;
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

  /** Those of ours, in order; who else speaks like a pool is noted. */
  #ours(logs: readonly RawLog[], strangers: Strangers): OurLog[] {
    this.#emitters.learn(logs);
    return this.#read(logs, (log) => {
      if (!strangers.has(log.address) && this.#emitters.isStranger(log))
        strangers.set(log.address, log.blockNumber);
    });
  }

  #read(logs: readonly RawLog[], onOther: (log: RawLog) => void = () => {}): OurLog[] {
    const ours: OurLog[] = [];
    for (const log of logs) {
      const told = this.#emitters.read(log);
      if (told === undefined) onOther(log);
      else ours.push({ log, told });
    }
    return ours;
  }

  /** Watches pools that get their first LP tokens. */
  #watchNew(ours: readonly OurLog[]): Hex[] {
    const fresh = new Set<Hex>();
    for (const { told } of ours) {
      if ("created" in told || this.#watch.has(told.pool)) continue;
      if (this.#emitters.protocolOf(told.pool)?.lpTokens?.needsTransfer(told.event) === true)
        fresh.add(told.pool as Hex);
    }
    for (const pool of fresh) this.#watch.add(pool);
    return [...fresh];
  }

  /** LP tokens that were minted, burnt or staked without a Transfer: what is missing is asked for again. */
  async #checkTransfers(
    ours: readonly OurLog[],
    blocks: ReadonlyMap<number, BlockWithSenders>,
  ): Promise<void> {
    const missing = findUntransferred(ours, (pool) => this.#emitters.protocolOf(pool));
    if (missing.length === 0) return;
    const found = await this.#askAgain(missing, blocks);
    if (found.length > 0)
      throw new ReorgDetected(
        `Logs of block ${found[0]?.blockNumber} were withheld: they are asked for again.`,
      );
  }

  async #askAgain(
    missing: readonly Untransferred[],
    blocks: ReadonlyMap<number, BlockWithSenders>,
  ): Promise<RawLog[]> {
    const found: RawLog[] = [];
    for (const { block, pools, isMissing } of missing) {
      const filter = { topics: this.#transfers.topics, addresses: pools };
      const logs = await this.#source.logs({ fromBlock: block, toBlock: block }, filter);
      const header = blocks.get(block);
      const lacking = logs.filter(isMissing);
      // Where even now there are none, the receipts decide.
      const proven =
        lacking.length > 0 || header === undefined
          ? lacking
          : await this.#source.verifyEmpty([header], { logs: [], filter });
      found.push(...proven.filter(isMissing));
    }
    return found;
  }
}

function transferTopics(factories: readonly Factory[]): Hex[] {
  return [...new Set(factories.flatMap(({ kind }) => protocolOf(kind).lpTokens?.transfer.topic ?? []))];
}

function inOrder(ours: OurLog[]): OurLog[] {
  return ours.sort((a, b) => compareLogs(a.log, b.log));
}

function byNumber<B extends BlockWithSenders>(list: readonly B[]): Map<number, B> {
  return new Map(list.map((block) => [block.number, block]));
}
