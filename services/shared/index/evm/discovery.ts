import { scanLogs } from "../../evm/logs/scan.ts";
import { splitByAddress } from "../../evm/logs/split-by-address.ts";
import type { EvmSource, Hex, LogRange, RawLog } from "../../evm/port.ts";
import type { PlannedScan, ProgressReport } from "../../ingest-status/progress.ts";

/** Creations are rare: most providers serve this many blocks of some contracts, and the scan adapts from here. */
const INITIAL_RANGE = 10_000;
const CONCURRENCY = 4;
/** Most ranges have no such log at all: so many blocks of a response are checked against their bloom. */
const VERIFY_BLOCKS = 20;
/** And no more of all blocks than this, so that a provider with short ranges is not asked for every header. */
const VERIFY_SHARE = 0.01;
/** But for the first of a scan: a short chain is checked as a whole. */
const VERIFY_ALLOWANCE = 500;
/**
 * Blooms that would suspect more than a quarter of the blocks without such a log are not believed: each suspicion costs
 * the receipts of a block. What a node withheld is still found by the pool's own events.
 */
const MAX_FALSE_RATE = 0.25;

/** Reads what some contracts created before the first indexed block: it is known when its own events come. */
export interface CreationScan {
  /** Of its row in `discoveries`. */
  readonly name: string;
  readonly fromBlock: number;
  /** Not empty: a request without addresses would match all contracts. */
  readonly addresses: readonly Hex[];
  readonly topics: readonly Hex[];
  /** The last block that an earlier run has scanned; undefined at first. */
  readonly scannedTo: number | undefined;
  /** Inclusive. */
  readonly toBlock: number;
}

export interface ScanContext {
  readonly source: EvmSource;
  readonly signal: AbortSignal;
  readonly report: ProgressReport;
  /** Contracts that one eth_getLogs may name; default all. */
  readonly maxAddresses?: number | undefined;
}

/** What a range of blocks has for the scans that cover it. */
export interface FoundLogs<S> {
  /** In order; each is of one of the scans, by its address and its topic. */
  readonly logs: readonly RawLog[];
  readonly range: LogRange;
  readonly scans: readonly S[];
  /** Whether no range follows. */
  readonly isLast: boolean;
}

/** Of the one scan that all of them are read by. */
const PROGRESS_NAME = "creations";

/** What is left to scan, for the progress: one bar, since one pass over the chain reads all scans. Empty without any. */
export function planScans(scans: readonly CreationScan[]): PlannedScan[] {
  if (scans.length === 0) return [];
  const from = Math.min(...scans.map(({ fromBlock }) => fromBlock));
  const to = Math.max(...scans.map(({ toBlock }) => toBlock));
  const next = Math.min(...scans.filter((scan) => firstOf(scan) <= scan.toBlock).map(firstOf), to + 1);
  return [{ name: PROGRESS_NAME, from, at: Math.max(next, from) - 1, to }];
}

/**
 * Reads all scans in one pass over the chain, each from where its last run ended: an eth_getLogs names the contracts of
 * every scan that covers its range, so that fifteen factories cost what one does. `onLogs` stores what a range has, with
 * how far its scans have come, and returns how many finds those are.
 */
export async function runScans<S extends CreationScan>(
  context: ScanContext,
  scans: readonly S[],
  onLogs: (found: FoundLogs<S>) => Promise<number>,
): Promise<void> {
  const { source, signal, report, maxAddresses = Number.POSITIVE_INFINITY } = context;
  const [plan] = planScans(scans);
  const segments = cutIntoSegments(scans);
  const end = segments.at(-1)?.toBlock;
  let initialRange = INITIAL_RANGE;
  for (const { fromBlock, toBlock, scans: covering } of segments) {
    const wanted = topicsByAddress(covering);
    const filter = {
      topics: unique(covering.flatMap(({ topics }) => topics)),
      addresses: [...wanted.keys()],
    };
    const reader = wanted.size > maxAddresses ? splitByAddress(source, maxAddresses) : source;
    const ranges = scanLogs(reader, {
      ...{ fromBlock, toBlock, filter, initialRange, signal },
      concurrency: CONCURRENCY,
      verifyBlocks: VERIFY_BLOCKS,
      verifyShare: VERIFY_SHARE,
      verifyAllowance: VERIFY_ALLOWANCE,
      maxFalseRate: MAX_FALSE_RATE,
    });
    for await (const { range, logs } of ranges) {
      const ours = logs.filter((log) => wanted.get(log.address)?.has(log.topics[0] as Hex) === true);
      const isLast = range.toBlock === end;
      const events = await onLogs({ logs: ours, range, scans: covering, isLast });
      // What the provider serves is known: the next segment need not learn it again.
      if (range.toBlock < toBlock) initialRange = range.toBlock - range.fromBlock + 1;
      const { from, to } = plan as PlannedScan;
      report({ stage: "discovery", scan: PROGRESS_NAME, from, at: range.toBlock, to, events });
    }
  }
}

interface Segment<S> extends LogRange {
  readonly scans: readonly S[];
}

/** Ranges in order, each with the scans that cover all of it: no block is read twice, none is left out. */
export function cutIntoSegments<S extends CreationScan>(scans: readonly S[]): Segment<S>[] {
  const open = scans.filter((scan) => firstOf(scan) <= scan.toBlock);
  const edges = unique(open.flatMap((scan) => [firstOf(scan), scan.toBlock + 1])).sort((a, b) => a - b);
  return edges.slice(0, -1).flatMap((fromBlock, i) => {
    const toBlock = (edges[i + 1] as number) - 1;
    const covering = open.filter((scan) => firstOf(scan) <= fromBlock && scan.toBlock >= toBlock);
    return covering.length === 0 ? [] : [{ fromBlock, toBlock, scans: covering }];
  });
}

function firstOf({ fromBlock, scannedTo = -1 }: CreationScan): number {
  return Math.max(fromBlock, scannedTo + 1);
}

function topicsByAddress(scans: readonly CreationScan[]): Map<Hex, Set<Hex>> {
  const wanted = new Map<Hex, Set<Hex>>();
  for (const { addresses, topics } of scans)
    for (const address of addresses)
      wanted.set(address, new Set([...(wanted.get(address) ?? []), ...topics]));
  return wanted;
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}

/** Scans that went further than a block, back to it: what they found above may be gone. */
export function rewindScans<R extends { blockNumber: number }>(scans: readonly R[], toBlock: number): R[] {
  return scans
    .filter(({ blockNumber }) => blockNumber > toBlock)
    .map((row) => ({ ...row, blockNumber: toBlock }));
}
