import { setMaxListeners } from "node:events";
import { createPortalClient, type PortalOptions } from "../../portal/client.ts";
import { PortalFailure, PortalFork } from "../../portal/failures.ts";
import { systemClock } from "../../rpc-client/endpoint/clock.ts";
import type { SourceLog } from "../../rpc-client/endpoint/endpoint.ts";
import { createRangeSize } from "../../rpc-client/ranges/range-size.ts";
import { readRanges } from "../../rpc-client/ranges/read-ranges.ts";
import { createFolderClient, isFolderUrl } from "../archive/folder-client.ts";
import type { BlockWithLogs, EvmSource, Hex, HistoryPart, LogFilter, LogRange } from "../port.ts";
import type { PortalBlock } from "./block-line.ts";
import { createMayContain } from "./checks.ts";
import { HeldLogs } from "./held-logs.ts";
import { PieceTooLarge, readPiece } from "./read-piece.ts";

export interface PortalHistoryOptions extends PortalOptions {
  /** Streams at once; default 3. */
  readonly streams?: number;
  /**
   * Logs that a stream shall bring at most before they are checked; default 8,000, which are some 10 MB, while two
   * requests a second can bring 16,000 logs a second.
   */
  readonly targetLogs?: number;
  /** One block of so many is compared with its receipts; default 5,000. */
  readonly receiptEvery?: number;
  /** How long a portal that failed is not asked; default 300,000. */
  readonly asideMs?: number;
  /** How long the last final block counts as such; default 30,000. */
  readonly finalForMs?: number;
}

export interface PortalConfig {
  /** The dataset's base URL, or a folder of recorded blocks (file:). */
  readonly url: string;
  readonly log?: SourceLog | undefined;
  readonly options?: PortalHistoryOptions | undefined;
}

/** A piece that a busier part of the chain makes so many times larger than its target is halved and read again. */
const MOST_TARGETS = 4;
/**
 * What a consumer decodes should die young, so parts are small; but each is a batch, which has costs of its own
 * (docs/decisions/0133-logs-cross-threads-as-bytes.md).
 */
const PART_LOGS = 1_250;
const PART_BLOCKS = 500;
/** Whole blocks in the first piece, and in the largest: a header with its bloom is more than a kilobyte. */
const WHOLE = { initial: 64, max: 4_096 };
/** Of a filter by contracts only blocks with logs come. */
const SPARSE = { initial: 50_000, max: 1_000_000 };
const SAMPLED_HEADERS = 8;
/** Each of the first pieces is compared with receipts: who lies always is found before anything is used. */
const FIRST_PIECES = 8;

/**
 * The same source with `history` from an SQD Portal, up to the last block that both call final. What the portal tells is
 * checked against the source; whatever fails sets it aside for some minutes, named in the log. Does no I/O before the
 * first request. Throws TypeError for a malformed URL.
 */
export function withPortal(source: EvmSource, config: PortalConfig): EvmSource {
  const { log = () => {}, options = {} } = config;
  const clock = options.clock ?? systemClock;
  const { streams = 3, targetLogs = 8_000, asideMs = 300_000 } = options;
  const { receiptEvery = 5_000, finalForMs = 30_000 } = options;
  const client = isFolderUrl(config.url)
    ? createFolderClient(config.url)
    : createPortalClient(config.url, options);
  const closing = new AbortController();
  const context = {
    client,
    judge: source,
    mayContain: createMayContain(),
    random: clock.random,
    isSampled: (blocks: number) => pieces++ < FIRST_PIECES || clock.random() * receiptEvery < blocks,
    sampledHeaders: SAMPLED_HEADERS,
    mostLogs: MOST_TARGETS * targetLogs,
  };
  const createSize = (limits: { initial: number; max: number }) =>
    createRangeSize({ ...limits, targetLogs, successesToProbe: 64 });
  const sizes = { whole: createSize(WHOLE), sparse: createSize(SPARSE) };
  let asideUntil = Number.NEGATIVE_INFINITY;
  /** Since the start, and since it was last set aside. */
  let pieces = 0;
  let used: { from: number; to: number } | undefined;
  let bounds: { first: number; last: number; until: number } | undefined;

  function setAside(reason: string): void {
    // Streams that end together have one reason.
    if (clock.now() < asideUntil) return;
    asideUntil = clock.now() + asideMs;
    pieces = 0;
    log("the portal is set aside: reading goes on by JSON-RPC", {
      chainId: source.chainId,
      host: client.host,
      reason,
      seconds: Math.round(asideMs / 1_000),
      // A sample may show late what was untrue before.
      ...(used && { readFrom: used.from, readTo: used.to }),
    });
  }

  /** The first block that the portal has, and the last that both call final. */
  async function findBounds(wanted: LogRange, signal: AbortSignal): Promise<{ first: number; last: number }> {
    if (bounds !== undefined && (wanted.toBlock <= bounds.last || clock.now() < bounds.until)) return bounds;
    const first = bounds?.first ?? (await client.metadata(signal)).startBlock;
    const portalFinal = await client.finalizedHead(signal);
    const { number, hash, timestamp } = await source.head();
    const final = await source.finalBlock({ number, hash, time: timestamp });
    const last = Math.min(portalFinal?.number ?? -1, final?.number ?? -1);
    bounds = { first, last, until: clock.now() + finalForMs };
    return bounds;
  }

  async function* readParts(
    range: LogRange,
    { filter, signal }: { filter: LogFilter; signal: AbortSignal },
  ): AsyncGenerator<HistoryPart> {
    const size = filter.addresses === undefined ? sizes.whole : sizes.sparse;
    // As many as the streams bring at once: more would wait for a slower consumer.
    const held = new HeldLogs(streams * targetLogs);
    const pieces = readRanges({
      from: range.fromBlock,
      to: range.toBlock,
      size: size.current,
      concurrency: streams,
      maxBuffered: streams + 1,
      signal,
      async read(fromBlock, toBlock) {
        held.begin(fromBlock);
        const onLogs = (logs: number) => held.add(fromBlock, logs, signal);
        const blocks = await readPiece(context, { fromBlock, toBlock }, { filter, onLogs, signal });
        size.succeed(toBlock - fromBlock + 1, countLogs(blocks));
        return blocks;
      },
      async recover(error, { from, to }) {
        if (!(error instanceof PieceTooLarge)) return false;
        size.halve(to - from + 1);
        return true;
      },
    });
    let parent: Hex | undefined;
    for await (const { from, to, value: blocks } of pieces) {
      const [first] = blocks;
      if (parent !== undefined && first?.number === from && first.parentHash !== parent)
        throw new PortalFailure("untrue", `block ${from} follows on ${first.parentHash}, not on ${parent}`);
      parent = blocks.at(-1)?.hash;
      used = { from: Math.min(from, used?.from ?? from), to: Math.max(to, used?.to ?? to) };
      held.use(from);
      yield* splitPiece({ fromBlock: from, toBlock: to }, blocks);
      held.drop(from);
    }
  }

  async function* history(
    range: LogRange,
    filter: LogFilter,
    given: AbortSignal,
  ): AsyncGenerator<HistoryPart> {
    if (clock.now() < asideUntil) return;
    // Streams of pieces ahead end with the consumer.
    const stop = new AbortController();
    const signal = AbortSignal.any([given, closing.signal, stop.signal]);
    // Every request in flight adds a listener; Node warns of a leak above ten.
    setMaxListeners(0, signal);
    try {
      const { first, last } = await findBounds(range, signal);
      const toBlock = Math.min(range.toBlock, last);
      if (range.fromBlock < first || range.fromBlock > toBlock) return;
      yield* readParts({ fromBlock: range.fromBlock, toBlock }, { filter, signal });
    } catch (error) {
      given.throwIfAborted();
      if (!(error instanceof PortalFailure || error instanceof PortalFork)) throw error;
      setAside(error.message);
    } finally {
      stop.abort();
    }
  }

  return {
    ...source,
    history,
    distrustHistory: setAside,
    async close() {
      closing.abort();
      await source.close();
    },
  };
}

/** Parts of some logs each, whose blocks are taken from the list; every part ends with a block, the last one with the range. */
function* splitPiece(range: LogRange, blocks: PortalBlock[]): Generator<HistoryPart> {
  let { fromBlock } = range;
  let part: BlockWithLogs[] = [];
  let logs = 0;
  for (let block = blocks.shift(); block !== undefined; block = blocks.shift()) {
    part.push(block);
    logs += block.logs.length;
    const isFull = logs >= PART_LOGS || part.length >= PART_BLOCKS;
    if (!isFull && block.number < range.toBlock) continue;
    yield { range: { fromBlock, toBlock: block.number }, blocks: part };
    fromBlock = block.number + 1;
    part = [];
    logs = 0;
  }
}

function countLogs(blocks: readonly BlockWithLogs[]): number {
  return blocks.reduce((sum, { logs }) => sum + logs.length, 0);
}
