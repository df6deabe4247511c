import { planScan, runScan, type ScanContext } from "../../shared/index/evm/discovery.ts";
import type { PlannedScan } from "../../shared/ingest-status/progress.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { DeployedProtocol } from "../deployments.ts";
import type { DiscoveryScan } from "../protocols/protocol.ts";
import { discoveries, type EntityRow } from "../store/collections.ts";
import type { EntityRegistry } from "./entities/entity-registry.ts";
import { affectedInProtocol, type ProtocolRegistry } from "./entities/protocol-registry.ts";
import { writeDiscovered } from "./pass/write.ts";

/** Entities that are not written when the process is killed are discovered again. */
const WRITE_AFTER_MS = 5_000;

export interface DiscoverOptions extends ScanContext {
  readonly protocols: ProtocolRegistry;
  /** Receives the discovered entities. */
  readonly registry: EntityRegistry;
  /** The checkpoint's version: a discovered entity has no state yet that readers would need. */
  readonly version: number;
  /** Inclusive. */
  readonly toBlock: number;
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
      return planScan({ name, fromBlock }, { scannedTo: done?.blockNumber, toBlock });
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
    // A request without addresses would match all contracts.
    if (scan.addresses.length > 0) await discoverByScan(store, { ...options, scan, deployed });
  }
}

async function discoverByScan(
  store: Store,
  options: DiscoverOptions & { scan: DiscoveryScan; deployed: DeployedProtocol },
): Promise<void> {
  const { source, scan, deployed, registry, version, toBlock, guard } = options;
  const { chainId } = source;
  const { name, fromBlock, addresses, topics } = scan;
  const done = await store.get(discoveries, { chainId, name });
  const creations = { name, fromBlock, scannedTo: done?.blockNumber, toBlock, filter: { topics, addresses } };
  let discovered: EntityRow[] = [];
  let writtenMs = performance.now();
  await runScan(options, creations, async ({ range, logs }) => {
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
      const progress = { chainId, name, blockNumber: range.toBlock };
      await writeDiscovered(store, { entities: discovered, progress, guard });
      discovered = [];
      writtenMs = performance.now();
    }
    return events;
  });
}

/** The row of an entity before its first reading. */
export function unreadEntityRow(
  identity: Pick<EntityRow, "chainId" | "kind" | "id" | "version" | "foundBlock">,
): EntityRow {
  return { ...identity, block: null, blockHash: null, time: null, state: null, failures: 0 };
}
