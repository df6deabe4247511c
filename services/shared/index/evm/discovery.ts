import { scanLogs } from "../../evm/logs/scan.ts";
import type { EvmSource, LogFilter, LogRange, RawLog } from "../../evm/port.ts";
import type { PlannedScan, ProgressReport } from "../../ingest-status/progress.ts";

/** Creations are rare: most providers serve this many blocks of one contract, and the scan adapts from here. */
const INITIAL_RANGE = 10_000;
const CONCURRENCY = 4;
/** Most ranges have no such log at all: so many blocks of a response are checked against their bloom. */
const VERIFY_BLOCKS = 20;

/** Reads what some contracts created before the first indexed block: it is known when its own events come. */
export interface CreationScan {
  /** Of its row in `discoveries`, and in progress reports. */
  readonly name: string;
  readonly fromBlock: number;
}

export interface ScanRange {
  /** The last block that an earlier run has scanned; undefined at first. */
  readonly scannedTo: number | undefined;
  /** Inclusive. */
  readonly toBlock: number;
}

export interface ScanContext {
  readonly source: EvmSource;
  readonly signal: AbortSignal;
  readonly report: ProgressReport;
}

/** What is left to scan, for the progress. */
export function planScan(
  { name, fromBlock }: CreationScan,
  { scannedTo = -1, toBlock }: ScanRange,
): PlannedScan {
  return { name, from: fromBlock, at: Math.max(scannedTo, fromBlock - 1), to: toBlock };
}

/** Scans on from where the last run ended. `onLogs` stores what a range of blocks has, and returns how many finds those are. */
export async function runScan(
  context: ScanContext,
  scan: CreationScan & ScanRange & { filter: LogFilter },
  onLogs: (found: { logs: readonly RawLog[]; range: LogRange }) => Promise<number>,
): Promise<void> {
  const { source, signal, report } = context;
  const { name, filter, toBlock } = scan;
  const fromBlock = Math.max(scan.fromBlock, (scan.scannedTo ?? -1) + 1);
  if (fromBlock > toBlock) return;
  const ranges = scanLogs(source, {
    fromBlock,
    toBlock,
    filter,
    initialRange: INITIAL_RANGE,
    concurrency: CONCURRENCY,
    verifyBlocks: VERIFY_BLOCKS,
    signal,
  });
  for await (const { range, logs } of ranges) {
    const events = await onLogs({ logs, range });
    report({ stage: "discovery", scan: name, from: fromBlock, at: range.toBlock, to: toBlock, events });
  }
}

/** Scans that went further than a block, back to it: what they found above may be gone. */
export function rewindScans<R extends { blockNumber: number }>(scans: readonly R[], toBlock: number): R[] {
  return scans
    .filter(({ blockNumber }) => blockNumber > toBlock)
    .map((row) => ({ ...row, blockNumber: toBlock }));
}
