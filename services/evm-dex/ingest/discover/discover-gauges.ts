import { planScan, runScan, type ScanContext } from "../../../shared/index/evm/discovery.ts";
import type { PlannedScan } from "../../../shared/ingest-status/progress.ts";
import type { Guard } from "../../../shared/storage/lease.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import type { Factory } from "../../deployments.ts";
import { logDecoderOf, protocolOf } from "../../protocols/index.ts";
import { discoveries } from "../../store/collections.ts";
import { getPools, readScannedTo } from "../../store/queries.ts";
import { type GaugeRow, gauges } from "../../store/v2-collections.ts";

/** What discoverGauges has to scan, and how much of it is done. */
export function planGauges(
  store: Store,
  { chainId, factories, toBlock }: { chainId: number; factories: readonly Factory[]; toBlock: number },
): Promise<PlannedScan[]> {
  return Promise.all(
    [...factoriesByVoter(factories)].map(async ([voter, ofVoter]) => {
      const scannedTo = await readScannedTo(store, { chainId, factory: voter });
      const fromBlock = Math.min(...ofVoter.map((factory) => factory.fromBlock));
      return planScan({ name: voter, fromBlock }, { scannedTo, toBlock });
    }),
  );
}

/**
 * Finds the gauges that the factories' voters created before the first indexed block, which maps gauge events to
 * pools. Pools must have been discovered before. Resumes where it was interrupted.
 */
export async function discoverGauges(
  store: Store,
  options: ScanContext & {
    factories: readonly Factory[];
    toBlock: number;
    guard: Guard;
  },
): Promise<void> {
  const { source, toBlock } = options;
  const { chainId } = source;
  for (const [voter, factories] of factoriesByVoter(options.factories)) {
    const topics = factories.flatMap(({ kind }) => protocolOf(kind).gauges?.created.topic ?? []);
    const scan = {
      name: voter,
      fromBlock: Math.min(...factories.map((factory) => factory.fromBlock)),
      // Stored as a factory's: both are contracts whose events are read from their beginning.
      scannedTo: await readScannedTo(store, { chainId, factory: voter }),
      toBlock,
      filter: { topics, addresses: [voter] },
    };
    await runScan(options, scan, async ({ range, logs }) => {
      const rows = logs.flatMap((log): GaugeRow[] =>
        factories.flatMap(({ kind }) => {
          const made = logDecoderOf(protocolOf(kind)).gaugeCreated(log);
          if (made === undefined) return [];
          const { pool: poolAddress, event } = made;
          return [{ chainId, gauge: event.gauge, poolAddress, voter, createdBlock: log.blockNumber }];
        }),
      );
      const known = await selectKnownGauges(store, { chainId, rows, factories });
      await store.write([
        ...options.guard(),
        put(gauges, known),
        put(discoveries, [{ chainId, factory: voter, blockNumber: range.toBlock }]),
      ]);
      return known.length;
    });
  }
}

/** Drops gauges of pools of other factories, for which a voter creates gauges too. */
async function selectKnownGauges(
  store: Store,
  { factories, chainId, rows }: { chainId: number; rows: readonly GaugeRow[]; factories: readonly Factory[] },
): Promise<GaugeRow[]> {
  const kinds = new Set<string>(factories.map(({ kind }) => kind));
  const pools = await getPools(store, {
    chainId,
    addresses: rows.map((row) => row.poolAddress),
  });
  const ours = new Set(pools.filter(({ protocol }) => kinds.has(protocol)).map((pool) => pool.poolAddress));
  return rows.filter((row) => ours.has(row.poolAddress));
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
