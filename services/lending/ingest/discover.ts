import { scanLogs } from "../../shared/evm/logs/scan.ts";
import type { EvmSource } from "../../shared/evm/port.ts";
import type { PlannedScan, ProgressReport } from "../../shared/ingest-status/progress.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { DeployedProtocol } from "../deployments.ts";
import type { DiscoveryScan } from "../protocols/protocol.ts";
import { discoveries, type UnitRow } from "../store/collections.ts";
import { hearOne, type ProtocolTable } from "./protocol-table.ts";
import type { UnitBook } from "./unit-book.ts";
import { writeFound } from "./write.ts";

/** Units are created rarely: most providers serve this many blocks of one contract, and the scan adapts from here. */
const INITIAL_RANGE = 10_000;
const CONCURRENCY = 4;
/** Most ranges have no such log at all: so many of an answer's blocks are checked against their bloom. */
const VERIFY_BLOCKS = 20;
/** What is not written yet when the process dies is found again. */
const WRITE_AFTER_MS = 5_000;

export interface DiscoverOptions {
  readonly source: EvmSource;
  readonly protocols: ProtocolTable;
  /** Takes in what is found. */
  readonly book: UnitBook;
  /** Of the checkpoint: what is found has no state yet that anybody would read. */
  readonly version: number;
  /** Inclusive. */
  readonly toBlock: number;
  readonly signal: AbortSignal;
  readonly report: ProgressReport;
  readonly guard: Guard;
}

/** What discoverUnits has to read, and how much of it is done. */
export function planScans(
  store: Store,
  { chainId, protocols, toBlock }: { chainId: number; protocols: ProtocolTable; toBlock: number },
): Promise<PlannedScan[]> {
  const scans = protocols.scans().filter(({ scan }) => scan.addresses.length > 0);
  return Promise.all(
    scans.map(async ({ scan: { name, fromBlock } }) => {
      const done = await store.get(discoveries, { chainId, name });
      return { name, from: fromBlock, at: Math.max(done?.blockNumber ?? -1, fromBlock - 1), to: toBlock };
    }),
  );
}

/**
 * Makes known the units that past logs name, each scan from where it was interrupted. They are stored without a state:
 * reading them is another matter.
 */
export async function discoverUnits(store: Store, of: DiscoverOptions): Promise<void> {
  const { chainId } = of.source;
  of.report({
    stage: "plan",
    scans: await planScans(store, { chainId, protocols: of.protocols, toBlock: of.toBlock }),
    // The scans of a first read go on as far as the chain has grown meanwhile.
    scansToHead: true,
    entities: of.book.size,
  });
  for (const { scan, of: deployed } of of.protocols.scans()) {
    const done = await store.get(discoveries, { chainId, name: scan.name });
    const fromBlock = Math.max(scan.fromBlock, (done?.blockNumber ?? -1) + 1);
    // A request that names no contracts would be one for those of all.
    if (fromBlock > of.toBlock || scan.addresses.length === 0) continue;
    await runScan(store, { ...of, scan, deployed, fromBlock });
  }
}

async function runScan(
  store: Store,
  of: DiscoverOptions & { scan: DiscoveryScan; deployed: DeployedProtocol; fromBlock: number },
): Promise<void> {
  const { source, scan, deployed, book, fromBlock, toBlock, signal, guard } = of;
  const { chainId } = source;
  const { addresses, topics } = scan;
  const ranges = scanLogs(source, {
    fromBlock,
    toBlock,
    filter: { topics, addresses },
    initialRange: INITIAL_RANGE,
    concurrency: CONCURRENCY,
    verifyBlocks: VERIFY_BLOCKS,
    signal,
  });
  let found: UnitRow[] = [];
  let writtenMs = performance.now();
  for await (const { range, logs } of ranges) {
    let events = 0;
    for (const log of logs) {
      for (const { kind, id } of hearOne(log, deployed, book)) {
        if (book.has(kind, id)) continue;
        const row = unreadRow({ chainId, kind, id, version: of.version, foundBlock: log.blockNumber });
        book.put(row);
        found.push(row);
        events++;
      }
    }
    if (range.toBlock === toBlock || performance.now() - writtenMs > WRITE_AFTER_MS) {
      const progress = { chainId, name: scan.name, blockNumber: range.toBlock };
      await writeFound(store, { units: found, progress, guard });
      found = [];
      writtenMs = performance.now();
    }
    const step = { from: fromBlock, at: range.toBlock, to: toBlock, events };
    of.report({ stage: "discovery", scan: scan.name, ...step });
  }
}

/** A unit that is known of, and no more. */
export function unreadRow(of: Pick<UnitRow, "chainId" | "kind" | "id" | "version" | "foundBlock">): UnitRow {
  return { ...of, block: null, blockHash: null, time: null, state: null, failures: 0 };
}
