import { ReorgDetected } from "../../../shared/chain-errors.ts";
import { type BlockLink, checkLinks } from "../../../shared/evm/links.ts";
import { type ScannedRange, scanLogs } from "../../../shared/evm/logs/scan.ts";
import type {
  BlockWithSenders,
  EvmSource,
  Hex,
  HistoryPart,
  LogFilter,
  LogRange,
  RawLog,
} from "../../../shared/evm/port.ts";
import { compareLogs } from "../../../shared/evm/source/parse.ts";
import { blockNumbers, toHeaderRow } from "../../../shared/index/evm/headers.ts";
import type { Factory } from "../../deployments.ts";
import { protocolOf } from "../../protocols/index.ts";
import { ANSWER_UPDATED, type FeedContracts } from "../feeds/feed-contracts.ts";
import {
  type AsideLogs,
  assembleBatch,
  type BlockBatch,
  type CreatedPool,
  type PoolLog,
} from "./block-batch.ts";
import { Emitters, filterOf, type KnownContracts } from "./emitters.ts";
import { listCreatedPools } from "./foresee.ts";
import { type HeadLogs, readHeadLogs } from "./head-logs.ts";
import { findMissingTransfers, refetchTransfers } from "./missing-transfers.ts";
import { readTransfers, TransferScan, type TransferSource } from "./transfers.ts";
import { WatchedPools } from "./watched-pools.ts";

/** Default number of contracts in one eth_getLogs: geth's limit. */
const MAX_ADDRESSES = 1_000;
/** Pools whose Transfers come with a history: with more, each of its ranges would need a request more. */
const MAX_HISTORY_POOLS = 5_000;

/** Reads the parts of one history. */
interface HistoryRun {
  readonly filter: LogFilter;
  readonly read: (part: HistoryPart) => Promise<BlockBatch>;
  /** Tells of the pools that a part creates, before it is read. */
  readonly foresee: (part: HistoryPart) => void;
}

interface FetcherOptions {
  readonly factories: readonly Factory[];
  readonly known: KnownContracts;
  readonly watchedPools?: WatchedPools;
  readonly feeds?: FeedContracts;
  /** Contracts that one eth_getLogs may name. */
  readonly maxAddresses?: number | undefined;
  /** Is told of the pools that later batches of a history create. */
  readonly foresee?: (created: readonly CreatedPool[]) => void;
}

/**
 * Fetches and decodes batches of blocks in order, ahead of the writes: it remembers pools that it saw created, which
 * are not yet in the pool book when it decodes the next batch.
 */
export class Fetcher {
  readonly #source: EvmSource;
  readonly #emitters: Emitters;
  readonly #watchedPools: WatchedPools;
  readonly #transfers: TransferSource;
  readonly #feeds: FeedContracts | undefined;
  readonly #onForesee: (created: readonly CreatedPool[]) => void;
  /** The filter by topic. */
  readonly filter: LogFilter;
  #lastTurn = Promise.resolve();

  constructor(source: EvmSource, options: FetcherOptions) {
    this.#source = source;
    this.#emitters = new Emitters(options.factories, options.known);
    this.#watchedPools = options.watchedPools ?? new WatchedPools();
    const topics = transferTopics(options.factories);
    const maxAddresses = options.maxAddresses ?? MAX_ADDRESSES;
    this.#transfers = { source, topics, watchedPools: this.#watchedPools, maxAddresses };
    this.#feeds = options.feeds;
    this.#onForesee = options.foresee ?? (() => {});
    const { topics: poolTopics } = filterOf(options.factories);
    this.filter = { topics: options.feeds?.isEmpty === false ? [...poolTopics, ANSWER_UPDATED] : poolTopics };
  }

  /** For the batches of a backfill: scans their Transfers in larger windows than a batch. */
  scanTransfers(run: { from: number; to: number; signal: AbortSignal }): TransferScan {
    return new TransferScan(this.#transfers, run);
  }

  /**
   * A batch far behind the head from its logs by topic: fetches only blocks with events whole. The scan has read the
   * headers of blocks without logs; with the remaining headers every block is linked to its parent.
   */
  async readSettled(
    { range, logs, links }: ScannedRange,
    transfers: Pick<TransferScan, "take">,
  ): Promise<BlockBatch> {
    const aside = noAside();
    const byTopic = this.#decodeByTopic(logs, aside);
    // No await before this, so that batches take their turns in order.
    const byAddress = this.#decode(await transfers.take(range, this.#watchNewPools(byTopic)));
    const poolLogs = sortByPosition([...byTopic, ...byAddress]);
    const numbers = [...new Set([...poolLogs.map(({ log }) => log.blockNumber), range.toBlock])];
    const blocks = byNumber(await this.#source.blocks(numbers));
    const parentHash = await this.#checkSettled({ range, logs, links }, blocks);
    await this.#checkTransfers(poolLogs, blocks);
    return assembleBatch({ range, poolLogs, aside, blocks, headers: [], parentHash });
  }

  /** Throws ReorgDetected unless the batch is a linked chain that holds every log. Returns the hash of its parent. */
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

  /**
   * For a history of these blocks: its filter, with the Transfers of the pools that are watched now. Those of other
   * pools are scanned in larger windows than a part.
   */
  openHistory(run: { from: number; to: number; signal: AbortSignal }): HistoryRun {
    const watched = this.#watchedPools.list();
    const watchedPools = new WatchedPools(watched.slice(MAX_HISTORY_POOLS));
    const transfers = new TransferScan({ ...this.#transfers, watchedPools }, run);
    return {
      filter: this.#wholeFilter(watched.slice(0, MAX_HISTORY_POOLS)),
      read: (part) => this.#readHistory(part, { transfers, watchedPools }),
      foresee: (part) => this.#onForesee(listCreatedPools(part, this.#emitters)),
    };
  }

  /** Throws ReorgDetected where the blocks of a history do not fit what is read apart. */
  async #readHistory(
    { range, blocks: list }: HistoryPart,
    { transfers, watchedPools }: { transfers: TransferScan; watchedPools: WatchedPools },
  ): Promise<BlockBatch> {
    const aside = noAside();
    const known = this.#decodeByTopic(
      list.flatMap((block) => block.logs),
      aside,
    );
    const fresh = this.#watchNewPools(known);
    for (const pool of fresh) watchedPools.add(pool);
    // No await before this, so that parts take their turns in order.
    const found = this.#decode(await transfers.take(range, fresh));
    const poolLogs = sortByPosition([...known, ...found]);
    const blocks = await this.#addSenders(byNumber(list), found);
    await this.#checkTransfers(poolLogs, blocks);
    const { parentHash } = list[0] as BlockWithSenders;
    return assembleBatch({ range, poolLogs, aside, blocks, headers: [], parentHash });
  }

  /** A history has the senders of its own logs; blocks with other ones are read whole. */
  async #addSenders(
    blocks: Map<number, BlockWithSenders>,
    found: readonly PoolLog[],
  ): Promise<Map<number, BlockWithSenders>> {
    const lacking = found
      .filter(({ log }) => blocks.get(log.blockNumber)?.senders[log.transactionIndex] === undefined)
      .map(({ log }) => log.blockNumber);
    if (lacking.length === 0) return blocks;
    const whole = await this.#source.blocks([...new Set(lacking)]);
    return new Map([...blocks, ...byNumber(whole)]);
  }

  /** A batch read as whole blocks; undefined where the source has no quick way to read them. */
  async readWhole(range: LogRange): Promise<BlockBatch | undefined> {
    const order = this.#takeTurn();
    try {
      const watched = this.#watchedPools.list();
      const list = await this.#source.blocksWithLogs(blockNumbers(range), this.#wholeFilter(watched));
      await order.turn;
      if (list === undefined) return undefined;
      const { parentHash } = list[0] as BlockWithSenders;
      checkLinks(list, parentHash);
      const logs = list.flatMap((block) => block.logs);
      const aside = noAside();
      const poolLogs = await this.#decodeWholeBlocks(range, { list, logs, watched, aside });
      return assembleBatch({
        range,
        poolLogs,
        aside,
        blocks: byNumber(list),
        headers: [],
        parentHash,
      });
    } finally {
      order.done();
    }
  }

  /** A batch near the head: fetches every block; each must follow on its parent, the first on `parentHash`. */
  async readTail(range: LogRange, parentHash: string): Promise<BlockBatch> {
    const numbers = blockNumbers(range);
    const watched = this.#watchedPools.list();
    const whole = await this.#source.blocksWithLogs(numbers, this.#wholeFilter(watched));
    if (whole === undefined && numbers.length === 1) return this.#readHead(range, parentHash);
    const [list, logs] =
      whole !== undefined
        ? [whole, whole.flatMap((block) => block.logs)]
        : await Promise.all([this.#source.blocks(numbers), this.#logsOf(range)]);
    checkLinks(list, parentHash);
    const blocks = byNumber(list);
    const checked = await this.#source.verifyEmpty(list, { logs, filter: this.filter });
    const stray = checked.find(({ blockNumber, blockHash }) => blocks.get(blockNumber)?.hash !== blockHash);
    if (stray !== undefined)
      throw new ReorgDetected(
        `Block ${stray.blockNumber} is another one than its log ${stray.logIndex} says.`,
      );
    const aside = noAside();
    const poolLogs =
      whole !== undefined
        ? await this.#decodeWholeBlocks(range, { list, logs: checked, watched, aside })
        : await this.#decodeParts(range, { list, logs: checked, blocks, aside });
    const headers = list.map((block) => toHeaderRow(this.#source.chainId, block));
    return assembleBatch({ range, poolLogs, aside, blocks, headers, parentHash });
  }

  /** A batch of one block, by as few requests as possible: the block, and its logs by its hash. */
  async #readHead(range: LogRange, parentHash: string): Promise<BlockBatch> {
    const list = await this.#source.blocks(blockNumbers(range));
    checkLinks(list, parentHash);
    const [block] = list as [BlockWithSenders];
    const pools = this.#watchedPools.list();
    const found = await readHeadLogs(this.#transfers, { block, filter: this.filter, pools });
    const logs = await this.#source.verifyEmpty(list, { logs: found.logs, filter: this.filter });
    const blocks = byNumber(list);
    const aside = noAside();
    const poolLogs = await this.#decodeParts(range, {
      list,
      logs,
      blocks,
      aside,
      transfers: found.transfers,
    });
    const headers = list.map((each) => toHeaderRow(this.#source.chainId, each));
    return assembleBatch({ range, poolLogs, aside, blocks, headers, parentHash });
  }

  /** The filter for whole blocks, with LP tokens' Transfers. */
  #wholeFilter(watched: readonly Hex[]): LogFilter {
    const { topics } = this.#transfers;
    return watched.length === 0 ? this.filter : { ...this.filter, addressed: { topics, addresses: watched } };
  }

  /** Decodes whole blocks. Fetches the Transfers of pools that became watched after the blocks were requested. */
  async #decodeWholeBlocks(
    range: LogRange,
    {
      logs,
      aside,
      watched,
      list,
    }: {
      list: readonly BlockWithSenders[];
      logs: readonly RawLog[];
      watched: readonly Hex[];
      aside: AsideLogs;
    },
  ): Promise<PoolLog[]> {
    const poolLogs = this.#decodeByTopic(logs, aside);
    this.#watchNewPools(poolLogs);
    const before = new Set(watched);
    const late = this.#watchedPools.list().filter((pool) => !before.has(pool));
    if (late.length === 0) return poolLogs;
    const request = { range, pools: late, headers: list };
    const found = this.#decode(await readTransfers(this.#transfers, request));
    return sortByPosition([...poolLogs, ...found]);
  }

  /** Decodes blocks and logs that were fetched by separate requests. */
  async #decodeParts(
    range: LogRange,
    {
      logs,
      aside,
      list,
      blocks,
      transfers,
    }: {
      list: readonly BlockWithSenders[];
      logs: readonly RawLog[];
      blocks: ReadonlyMap<number, BlockWithSenders>;
      aside: AsideLogs;
      /** See HeadLogs. */
      transfers?: HeadLogs["transfers"];
    },
  ): Promise<PoolLog[]> {
    const byTopic = this.#decodeByTopic(logs, aside);
    const fresh = this.#watchNewPools(byTopic);
    const [pools, known] = transfers === "none" ? [fresh, undefined] : [this.#watchedPools.list(), transfers];
    const request = { range, pools, headers: list, known };
    const byAddress = this.#decode(await readTransfers(this.#transfers, request));
    const poolLogs = sortByPosition([...byTopic, ...byAddress]);
    await this.#checkTransfers(poolLogs, blocks);
    return poolLogs;
  }

  /** Batches are fetched in parallel but decoded in order: the next one must know the pools that this one creates. */
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

  /** Decodes logs, in order; records answers of feeds, and unknown contracts that emit pool events. */
  #decodeByTopic(logs: readonly RawLog[], { unknownPools, answers }: AsideLogs): PoolLog[] {
    this.#emitters.learn(logs);
    return this.#decode(logs, (log) => {
      const answer = this.#feeds?.answerOf(log);
      if (answer !== undefined) answers.push(answer);
      else if (!unknownPools.has(log.address) && this.#emitters.isUnknownPool(log))
        unknownPools.set(log.address, log.blockNumber);
    });
  }

  #decode(logs: readonly RawLog[], onOther: (log: RawLog) => void = () => {}): PoolLog[] {
    const poolLogs: PoolLog[] = [];
    for (const log of logs) {
      const decoded = this.#emitters.decode(log);
      if (decoded === undefined) onOther(log);
      else poolLogs.push({ log, decoded });
    }
    return poolLogs;
  }

  /** Adds pools that get their first LP tokens to the watched pools. */
  #watchNewPools(poolLogs: readonly PoolLog[]): Hex[] {
    const fresh = new Set<Hex>();
    for (const { decoded } of poolLogs) {
      if ("created" in decoded || this.#watchedPools.has(decoded.pool)) continue;
      if (this.#emitters.protocolOf(decoded.pool)?.lpTokens?.needsTransfer(decoded.event) === true)
        fresh.add(decoded.pool as Hex);
    }
    for (const pool of fresh) this.#watchedPools.add(pool);
    return [...fresh];
  }

  /** Throws ReorgDetected where LP tokens moved without a Transfer and the logs, fetched again, have it. */
  async #checkTransfers(
    poolLogs: readonly PoolLog[],
    blocks: ReadonlyMap<number, BlockWithSenders>,
  ): Promise<void> {
    const missing = findMissingTransfers(poolLogs, (pool) => this.#emitters.protocolOf(pool));
    if (missing.length === 0) return;
    const { topics } = this.#transfers;
    const found = await refetchTransfers(this.#source, { missing, topics, blocks });
    if (found.length > 0)
      throw new ReorgDetected(`Logs of block ${found[0]?.blockNumber} were withheld: fetching them again.`);
  }
}

function noAside(): AsideLogs {
  return { unknownPools: new Map(), answers: [] };
}

function transferTopics(factories: readonly Factory[]): Hex[] {
  return [...new Set(factories.flatMap(({ kind }) => protocolOf(kind).lpTokens?.transfer.topic ?? []))];
}

function sortByPosition(poolLogs: PoolLog[]): PoolLog[] {
  return poolLogs.sort((a, b) => compareLogs(a.log, b.log));
}

function byNumber<B extends BlockWithSenders>(list: readonly B[]): Map<number, B> {
  return new Map(list.map((block) => [block.number, block]));
}
