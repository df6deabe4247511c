import type { EvmSource, RawLog } from "../../../shared/evm/port.ts";
import { planScans, runScans, type ScanContext } from "../../../shared/index/evm/discovery.ts";
import type { PlannedScan } from "../../../shared/ingest-status/progress.ts";
import type { Guard } from "../../../shared/storage/lease.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import type { Factory } from "../../deployments.ts";
import { logDecoderOf, protocolOf } from "../../protocols/index.ts";
import { matchesDecoder } from "../../protocols/protocol.ts";
import { discoveries, poolListings, pools, tokens } from "../../store/collections.ts";
import { getPools } from "../../store/queries.ts";
import { type GaugeRow, gauges } from "../../store/v2-collections.ts";
import { toListings } from "../../views/pool-listing.ts";
import type { CreatedPool } from "../fetch/block-batch.ts";
import { type DiscoveryRange, listPoolScans, type PoolScan } from "./creation-scans.ts";
import { readPoolRows } from "./pool-rows.ts";
import { TokenReader } from "./token-reader.ts";

/**
 * Found pools are written in groups: in a list of half a million, every write of a few pools touches other pages in
 * each of twelve indexes. 20,000 at once take a third of the time of 5,000. A restart finds again what was not
 * written.
 */
const WRITE_POOLS = 20_000;
const WRITE_AFTER_MS = 30_000;

/** What discoverPools has to scan, and how much of it is done. */
export async function planPools(store: Store, range: DiscoveryRange): Promise<PlannedScan[]> {
  return planScans(await listPoolScans(store, range));
}

/**
 * Finds the pools that factories created before the first indexed block, and the gauges that voters created for them,
 * so that every pool is known before its events: one pass over the chain for all factories. Resumes where it was
 * interrupted; later pools come with the events of the indexed blocks.
 */
export async function discoverPools(
  store: Store,
  options: ScanContext &
    Omit<DiscoveryRange, "chainId"> & {
      readonly guard: Guard;
      /** Default WRITE_POOLS; set by tests. */
      readonly writePools?: number;
    },
): Promise<void> {
  const { source, guard, writePools = WRITE_POOLS } = options;
  const { chainId } = source;
  const scans = await listPoolScans(store, { ...options, chainId });
  const reader = { tokenReader: new TokenReader(store, source), source };
  let found = new FoundPools();
  const write = async (): Promise<void> => {
    const { created } = found;
    const rows =
      created.length === 0
        ? { pools: [], tokens: [] }
        : await readPoolRows(reader, { chainId, created, block: (await source.head()).number });
    const progress = [...found.progress].map(([factory, blockNumber]) => ({ chainId, factory, blockNumber }));
    await store.write([
      ...guard(),
      put(tokens, rows.tokens),
      put(pools, rows.pools),
      put(poolListings, toListings(rows.pools)),
      put(gauges, found.gauges),
      put(discoveries, progress),
    ]);
    found = new FoundPools();
  };
  // Contracts younger than the first indexed block have nothing to scan: known as done, they are not taken as added later.
  for (const { name, fromBlock, scannedTo, toBlock, progressAt } of scans)
    if (fromBlock > toBlock && scannedTo === undefined) found.progress.set(name, progressAt(toBlock));
  if (found.progress.size > 0) await write();
  await runScans(options, scans, async ({ range, logs, scans: covering, isLast }) => {
    const created = await findCreated(source, { logs, scans: covering });
    for (const pool of created) found.add(pool);
    const made = await selectKnownGauges(store, {
      rows: findGauges(logs, { scans: covering, chainId }),
      found,
    });
    found.gauges.push(...made);
    for (const { name, progressAt } of covering) found.progress.set(name, progressAt(range.toBlock));
    const isDue = found.created.length >= writePools || performance.now() - found.sinceMs > WRITE_AFTER_MS;
    if (isDue || isLast) await write();
    return created.length + made.length;
  });
}

/** What is found, and not written yet. */
class FoundPools {
  readonly created: CreatedPool[] = [];
  readonly gauges: GaugeRow[] = [];
  /** By factory or voter: what will be stored as scanned. */
  readonly progress = new Map<string, number>();
  readonly sinceMs = performance.now();
  readonly #kinds = new Map<string, string>();

  add(pool: CreatedPool): void {
    this.created.push(pool);
    this.#kinds.set(pool.pool, pool.factory.kind);
  }

  kindOf(pool: string): string | undefined {
    return this.#kinds.get(pool);
  }
}

async function findCreated(
  source: EvmSource,
  { logs, scans }: { logs: readonly RawLog[]; scans: readonly PoolScan[] },
): Promise<CreatedPool[]> {
  const byAddress = new Map(
    scans
      .filter(({ finds }) => finds === "pools")
      .map(({ name, factories }) => [name, factories[0] as Factory]),
  );
  const creations = logs.flatMap((log) => {
    const factory = byAddress.get(log.address);
    const decoder = factory && protocolOf(factory.kind).created;
    if (decoder === undefined || decoder.topic !== log.topics[0] || !matchesDecoder(log, decoder)) return [];
    return [{ log, event: decoder.decode(log), factory: factory as Factory }];
  });
  const times = await timesOf(
    source,
    creations.map(({ log }) => log),
  );
  return creations.map(({ log, event, factory }) => ({
    ...{ ...event, factory, block: log.blockNumber },
    time: times.get(log.blockNumber) as number,
  }));
}

/** Gauges of any pool, with the kinds of pools that count. */
function findGauges(
  logs: readonly RawLog[],
  { scans, chainId }: { scans: readonly PoolScan[]; chainId: number },
): { gauge: GaugeRow; kinds: ReadonlySet<string> }[] {
  const byAddress = new Map(scans.filter(({ finds }) => finds === "gauges").map((scan) => [scan.name, scan]));
  return logs.flatMap((log) => {
    const kinds = new Set(byAddress.get(log.address)?.factories.map(({ kind }) => kind));
    return [...kinds].flatMap((kind) => {
      const made = logDecoderOf(protocolOf(kind)).gaugeCreated(log);
      if (made === undefined) return [];
      const { pool: poolAddress, event } = made;
      const place = { voter: log.address, createdBlock: log.blockNumber };
      return [{ gauge: { chainId, gauge: event.gauge, poolAddress, ...place }, kinds }];
    });
  });
}

/** Drops gauges of pools of other factories, for which a voter creates gauges too. */
async function selectKnownGauges(
  store: Store,
  { rows, found }: { rows: readonly { gauge: GaugeRow; kinds: ReadonlySet<string> }[]; found: FoundPools },
): Promise<GaugeRow[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const addresses = rows
    .map(({ gauge }) => gauge.poolAddress)
    .filter((address) => found.kindOf(address) === undefined);
  const stored = await getPools(store, { chainId: first.gauge.chainId, addresses });
  const protocols = new Map(stored.map(({ poolAddress, protocol }) => [poolAddress, protocol]));
  return rows.flatMap(({ gauge, kinds }) => {
    const protocol = found.kindOf(gauge.poolAddress) ?? protocols.get(gauge.poolAddress);
    return protocol !== undefined && kinds.has(protocol) ? [gauge] : [];
  });
}

/** From the logs where the node sends timestamps, else from the headers. */
async function timesOf(source: EvmSource, logs: readonly RawLog[]): Promise<Map<number, number>> {
  const times = new Map<number, number>();
  const unknown = new Set<number>();
  for (const log of logs) {
    if (log.blockTimestamp === undefined) unknown.add(log.blockNumber);
    else times.set(log.blockNumber, log.blockTimestamp);
  }
  const headers = await source.headers([...unknown]);
  for (const header of headers) {
    if (header !== null) times.set(header.number, header.timestamp);
  }
  const missing = [...unknown].find((number) => !times.has(number));
  if (missing !== undefined)
    throw new Error(`Block ${missing} of chain ${source.chainId} has logs, but no header.`);
  return times;
}
