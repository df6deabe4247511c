import { planScan, runScan, type ScanContext } from "../../shared/index/evm/discovery.ts";
import type { PlannedScan } from "../../shared/ingest-status/progress.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { DeployedProtocol } from "../deployments.ts";
import type { DiscoveryScan } from "../protocols/protocol.ts";
import { discoveries, type UnitRow } from "../store/collections.ts";
import { hearOne, type ProtocolTable } from "./protocol-table.ts";
import type { UnitBook } from "./unit-book.ts";
import { writeFound } from "./write.ts";

/** What is not written yet when the process dies is found again. */
const WRITE_AFTER_MS = 5_000;

export interface DiscoverOptions extends ScanContext {
  readonly protocols: ProtocolTable;
  /** Takes in what is found. */
  readonly book: UnitBook;
  /** Of the checkpoint: what is found has no state yet that anybody would read. */
  readonly version: number;
  /** Inclusive. */
  readonly toBlock: number;
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
      return planScan({ name, fromBlock }, { scannedTo: done?.blockNumber, toBlock });
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
    // A request that names no contracts would be one for those of all.
    if (scan.addresses.length > 0) await discoverBy(store, { ...of, scan, deployed });
  }
}

async function discoverBy(
  store: Store,
  of: DiscoverOptions & { scan: DiscoveryScan; deployed: DeployedProtocol },
): Promise<void> {
  const { source, scan, deployed, book, toBlock, guard } = of;
  const { chainId } = source;
  const { name, fromBlock, addresses, topics } = scan;
  const done = await store.get(discoveries, { chainId, name });
  const creations = { name, fromBlock, scannedTo: done?.blockNumber, toBlock, filter: { topics, addresses } };
  let found: UnitRow[] = [];
  let writtenMs = performance.now();
  await runScan(of, creations, async ({ range, logs }) => {
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
      const progress = { chainId, name, blockNumber: range.toBlock };
      await writeFound(store, { units: found, progress, guard });
      found = [];
      writtenMs = performance.now();
    }
    return events;
  });
}

/** A unit that is known of, and no more. */
export function unreadRow(of: Pick<UnitRow, "chainId" | "kind" | "id" | "version" | "foundBlock">): UnitRow {
  return { ...of, block: null, blockHash: null, time: null, state: null, failures: 0 };
}
