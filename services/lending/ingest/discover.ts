import type { Hex, RawLog } from "../../shared/evm/port.ts";
import {
  type CreationScan,
  planScans,
  runScans,
  type ScanContext,
} from "../../shared/index/evm/discovery.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import { discoveries, type EntityRow } from "../store/collections.ts";
import type { EntityRegistry } from "./entities/entity-registry.ts";
import {
  affectedInProtocol,
  type DeployedSource,
  type ProtocolRegistry,
} from "./entities/protocol-registry.ts";
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

interface ProtocolScan extends CreationScan {
  readonly deployed: DeployedSource;
}

/** The scans of all protocols, each from where its last run ended. */
async function listScans(
  store: Store,
  { chainId, protocols, toBlock }: { chainId: number; protocols: ProtocolRegistry; toBlock: number },
): Promise<ProtocolScan[]> {
  // A request without addresses would match all contracts.
  const scans = protocols.scans().filter(({ scan }) => scan.addresses.length > 0);
  return Promise.all(
    scans.map(async ({ scan, deployed }) => {
      const done = await store.get(discoveries, { chainId, name: scan.name });
      return { ...scan, deployed, scannedTo: done?.blockNumber, toBlock };
    }),
  );
}

/** Discovers the entities that past logs create, in one pass over the chain, and stores them without a state. */
export async function discoverEntities(store: Store, options: DiscoverOptions): Promise<void> {
  const { source, protocols, toBlock, registry, version, report, guard } = options;
  const { chainId } = source;
  const scans = await listScans(store, { chainId, protocols, toBlock });
  report({
    stage: "plan",
    scans: planScans(scans),
    // The scans of a first read continue with the growing chain.
    scansToHead: true,
    entities: registry.size,
  });
  let discovered: EntityRow[] = [];
  let progress = new Map<string, number>();
  let writtenMs = performance.now();
  await runScans(options, scans, async ({ range, logs, scans: covering, isLast }) => {
    let events = 0;
    for (const log of logs) {
      for (const { deployed } of covering.filter((scan) => isOfScan(log, scan))) {
        for (const { kind, id } of affectedInProtocol(log, deployed, registry)) {
          if (registry.has(kind, id)) continue;
          const row = unreadEntityRow({ chainId, kind, id, version, foundBlock: log.blockNumber });
          registry.put(row);
          discovered.push(row);
          events++;
        }
      }
    }
    for (const { name } of covering) progress.set(name, range.toBlock);
    if (isLast || performance.now() - writtenMs > WRITE_AFTER_MS) {
      const scanned = [...progress].map(([name, blockNumber]) => ({ chainId, name, blockNumber }));
      await writeDiscovered(store, { entities: discovered, scanned, guard });
      discovered = [];
      progress = new Map();
      writtenMs = performance.now();
    }
    return events;
  });
}

function isOfScan({ address, topics }: RawLog, scan: CreationScan): boolean {
  return scan.addresses.includes(address) && scan.topics.includes(topics[0] as Hex);
}

/** The row of an entity before its first reading. */
export function unreadEntityRow(
  identity: Pick<EntityRow, "chainId" | "kind" | "id" | "version" | "foundBlock">,
): EntityRow {
  return { ...identity, block: null, blockHash: null, time: null, state: null, failures: 0 };
}
