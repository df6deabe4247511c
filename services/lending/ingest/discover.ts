import { scanLogs } from "../../shared/evm/logs/scan.ts";
import type { EvmSource } from "../../shared/evm/port.ts";
import type { PlannedScan, ProgressReport } from "../../shared/ingest-status/progress.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { DeployedProtocol } from "../deployments.ts";
import type { DiscoveryScan } from "../protocols/protocol.ts";
import { discoveries, type EntityRow } from "../store/collections.ts";
import type { EntityRegistry } from "./entities/entity-registry.ts";
import { affectedInProtocol, type ProtocolRegistry } from "./entities/protocol-registry.ts";
import { writeDiscovered } from "./pass/write.ts";

/** Entities are created rarely: most providers serve this many blocks of one contract, and the scan adapts from here. */
const INITIAL_RANGE = 10_000;
const CONCURRENCY = 4;
/** Most ranges have no such log: this many blocks of a response are checked against their bloom. */
const VERIFY_BLOCKS = 20;
/** Entities that are not written when the process is killed are discovered again. */
const WRITE_AFTER_MS = 5_000;

export interface DiscoverOptions {
  readonly source: EvmSource;
  readonly protocols: ProtocolRegistry;
  /** Receives the discovered entities. */
  readonly registry: EntityRegistry;
  /** The checkpoint's version: a discovered entity has no state yet that readers would need. */
  readonly version: number;
  /** Inclusive. */
  readonly toBlock: number;
  readonly signal: AbortSignal;
  readonly report: ProgressReport;
  readonly guard: Guard;
}

/** The scans of discoverEntities and their progress. */
export function planScans(
  store: Store,
  { chainId, protocols, toBlock }: { chainId: number; protocols: ProtocolRegistry; toBlock: number },
): Promise<PlannedScan[]> {
  const scans = protocols.scans().filter(({ scan }) => scan.addresses.length > 0);
  return Promise.all(
    scans.map(async ({ scan: { name, fromBlock } }) => {
      const done = await store.get(discoveries, { chainId, name });
      return { name, from: fromBlock, at: Math.max(done?.blockNumber ?? -1, fromBlock - 1), to: toBlock };
    }),
  );
}

/** Discovers the entities that past logs create, resuming each scan, and stores them without a state. */
export async function discoverEntities(store: Store, options: DiscoverOptions): Promise<void> {
  const { source, protocols, toBlock, registry, report } = options;
  const { chainId } = source;
  report({
    stage: "plan",
    scans: await planScans(store, { chainId, protocols, toBlock }),
    // The scans of a first read continue with the growing chain.
    scansToHead: true,
    entities: registry.size,
  });
  for (const { scan, deployed } of protocols.scans()) {
    const done = await store.get(discoveries, { chainId, name: scan.name });
    const fromBlock = Math.max(scan.fromBlock, (done?.blockNumber ?? -1) + 1);
    // A request without addresses would match all contracts.
    if (fromBlock > toBlock || scan.addresses.length === 0) continue;
    await runScan(store, { ...options, scan, deployed, fromBlock });
  }
}

async function runScan(
  store: Store,
  options: DiscoverOptions & { scan: DiscoveryScan; deployed: DeployedProtocol; fromBlock: number },
): Promise<void> {
  const { source, scan, deployed, registry, version, fromBlock, toBlock, signal, guard, report } = options;
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
  let discovered: EntityRow[] = [];
  let writtenMs = performance.now();
  for await (const { range, logs } of ranges) {
    let events = 0;
    for (const log of logs) {
      for (const { kind, id } of affectedInProtocol(log, deployed, registry)) {
        if (registry.has(kind, id)) continue;
        const row = unreadEntityRow({ chainId, kind, id, version, foundBlock: log.blockNumber });
        registry.put(row);
        discovered.push(row);
        events++;
      }
    }
    if (range.toBlock === toBlock || performance.now() - writtenMs > WRITE_AFTER_MS) {
      const progress = { chainId, name: scan.name, blockNumber: range.toBlock };
      await writeDiscovered(store, { entities: discovered, progress, guard });
      discovered = [];
      writtenMs = performance.now();
    }
    const step = { from: fromBlock, at: range.toBlock, to: toBlock, events };
    report({ stage: "discovery", scan: scan.name, ...step });
  }
}

/** The row of an entity before its first reading. */
export function unreadEntityRow(
  identity: Pick<EntityRow, "chainId" | "kind" | "id" | "version" | "foundBlock">,
): EntityRow {
  return { ...identity, block: null, blockHash: null, time: null, state: null, failures: 0 };
}
