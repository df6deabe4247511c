import type { CreationScan } from "../../../shared/index/evm/discovery.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { Factory } from "../../deployments.ts";
import { protocolOf } from "../../protocols/index.ts";
import { readScannedTo } from "../../store/queries.ts";

/** A factory's pools, or the gauges that a voter creates for the pools of some factories. */
export interface PoolScan extends CreationScan {
  readonly finds: "pools" | "gauges";
  readonly factories: readonly Factory[];
  /** What is stored as its progress once all up to a block is read. */
  progressAt(block: number): number;
}

export interface DiscoveryRange {
  readonly chainId: number;
  readonly factories: readonly Factory[];
  /** The block before the first indexed one. */
  readonly toBlock: number;
  /** The last indexed block; undefined or below `toBlock` where nothing is indexed yet. */
  readonly indexedTo?: number | undefined;
}

/**
 * One scan a factory and a voter, each from where its last run ended. Creations in indexed blocks come with the events
 * of those blocks, but not those of a factory that was added to the deployments later: once blocks are indexed, the
 * first discovery is over, so a factory that has not reached `toBlock` is such a one, and is scanned up to the last
 * indexed block. Until then its stored progress stays below `toBlock`, so that a kill leaves it recognizable.
 */
export async function listPoolScans(store: Store, range: DiscoveryRange): Promise<PoolScan[]> {
  const { chainId, factories } = range;
  const ofFactories = await Promise.all(
    factories.map(async (factory) => {
      const { address, fromBlock, kind } = factory;
      const scannedTo = await readScannedTo(store, { chainId, factory: address });
      return {
        ...{ name: address, addresses: [address], topics: [protocolOf(kind).created.topic] },
        ...{ finds: "pools" as const, factories: [factory], fromBlock, scannedTo },
      };
    }),
  );
  const ofVoters = await Promise.all(
    [...factoriesByVoter(factories)].map(async ([voter, theirs]) => {
      // Stored as a factory's: both are contracts whose events are read from their beginning.
      const own = await readScannedTo(store, { chainId, factory: voter });
      const fromBlock = Math.min(...theirs.map((factory) => factory.fromBlock));
      const behind = ofFactories.filter(({ factories: [factory] }) => theirs.includes(factory as Factory));
      // A gauge counts only for a known pool: a voter is read again where one of its factories is.
      const reached = behind.map((scan) => scan.scannedTo ?? scan.fromBlock - 1);
      return {
        ...{ name: voter, addresses: [voter], finds: "gauges" as const, factories: theirs, fromBlock },
        ...{ topics: theirs.flatMap(({ kind }) => protocolOf(kind).gauges?.created.topic ?? []) },
        scannedTo: own === undefined ? undefined : Math.min(own, ...reached),
      };
    }),
  );
  return [...ofFactories, ...ofVoters].map((scan) => ({ ...scan, ...limitsOf(scan, range) }));
}

function limitsOf(
  { scannedTo = Number.NEGATIVE_INFINITY }: { readonly scannedTo: number | undefined },
  { toBlock, indexedTo = toBlock }: DiscoveryRange,
): Pick<PoolScan, "toBlock" | "progressAt"> {
  const isLate = indexedTo > toBlock && scannedTo < toBlock;
  if (!isLate) return { toBlock, progressAt: (block) => block };
  return {
    toBlock: indexedTo,
    progressAt: (block) => (block >= indexedTo ? toBlock : Math.min(block, toBlock - 1)),
  };
}

function factoriesByVoter(factories: readonly Factory[]): Map<`0x${string}`, Factory[]> {
  const byVoter = new Map<`0x${string}`, Factory[]>();
  for (const factory of factories) {
    const { rewards, kind } = factory;
    if (rewards === undefined || protocolOf(kind).gauges === undefined) continue;
    const list = byVoter.get(rewards.voter);
    if (list === undefined) byVoter.set(rewards.voter, [factory]);
    else list.push(factory);
  }
  return byVoter;
}
