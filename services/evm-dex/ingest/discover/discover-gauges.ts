import { scanLogs } from "../../../shared/evm/logs/scan.ts";
import type { EvmSource } from "../../../shared/evm/port.ts";
import type { PlannedScan, ProgressReport } from "../../../shared/ingest-status/progress.ts";
import type { Guard } from "../../../shared/storage/lease.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import type { Factory } from "../../deployments.ts";
import { logDecoderOf, protocolOf } from "../../protocols/index.ts";
import { discoveries } from "../../store/collections.ts";
import { getPools } from "../../store/queries.ts";
import { type GaugeRow, gauges } from "../../store/v2-collections.ts";

const INITIAL_RANGE = 10_000;
const CONCURRENCY = 4;
const VERIFY_BLOCKS = 20;

/** What discoverGauges has to scan, and how much of it is done. */
export function planGauges(
  store: Store,
  { chainId, factories, toBlock }: { chainId: number; factories: readonly Factory[]; toBlock: number },
): Promise<PlannedScan[]> {
  return Promise.all(
    [...factoriesByVoter(factories)].map(async ([voter, ofVoter]) => {
      const done = await store.get(discoveries, { chainId, factory: voter });
      const from = Math.min(...ofVoter.map((factory) => factory.fromBlock));
      return { name: voter, from, at: Math.max(done?.blockNumber ?? -1, from - 1), to: toBlock };
    }),
  );
}

/**
 * Finds the gauges that the factories' voters created before the first indexed block, which maps gauge events to
 * pools. Pools must have been discovered before. Resumes where it was interrupted.
 */
export async function discoverGauges(
  store: Store,
  at: {
    source: EvmSource;
    factories: readonly Factory[];
    toBlock: number;
    signal: AbortSignal;
    report: ProgressReport;
    guard: Guard;
  },
): Promise<void> {
  const { source, toBlock, signal, report } = at;
  const { chainId } = source;
  for (const [voter, factories] of factoriesByVoter(at.factories)) {
    // Stored like a factory's: both are contracts whose events are read from the beginning.
    const done = await store.get(discoveries, { chainId, factory: voter });
    const earliest = Math.min(...factories.map((factory) => factory.fromBlock));
    const fromBlock = Math.max(earliest, (done?.blockNumber ?? -1) + 1);
    if (fromBlock > toBlock) continue;
    const topics = factories.flatMap(({ kind }) => protocolOf(kind).gauges?.created.topic ?? []);
    const scan = scanLogs(source, {
      fromBlock,
      toBlock,
      filter: { topics, addresses: [voter] },
      initialRange: INITIAL_RANGE,
      concurrency: CONCURRENCY,
      verifyBlocks: VERIFY_BLOCKS,
      signal,
    });
    for await (const { range, logs } of scan) {
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
        ...at.guard(),
        put(gauges, known),
        put(discoveries, [{ chainId, factory: voter, blockNumber: range.toBlock }]),
      ]);
      const step = { from: fromBlock, at: range.toBlock, to: toBlock, events: known.length };
      report({ stage: "discovery", scan: voter, ...step });
    }
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
